// What every parser is given.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bear::parse {

// automatic: the first label seen decides; a label of the other kind is then an error.
enum class Labels { automatic, number, name };

// What the same feature twice in one row means: values add up, or an error.
enum class Duplicates { sum, refuse };

struct Options {
  std::uint64_t seed = 0;  // of the names' hash
  bool names = true;       // keep the names of hashed features
  Labels labels = Labels::automatic;
  std::size_t max_line_bytes = std::size_t{64} << 20;
  std::size_t max_name_bytes = std::size_t{64} << 10;
  std::size_t max_features = 10'000'000;  // entries of one row, before equal ones are added up
};

}  // namespace bear::parse

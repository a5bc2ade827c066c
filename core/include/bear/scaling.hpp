// Columns of numbers brought to mean 0 and size 1, row by row. A value that is not there is 0, as
// everywhere, so that what is linear in the values as they are stays linear in what comes of them;
// but where 0 is no value that a column has, it is missing, and stands at the mean.
#pragma once

#include <vector>

#include "bear/batch.hpp"

namespace bear {

// A key, a mean, a size and a name for each, and whether what is not there is missing (1) or 0 (0);
// keys strictly ascending, names as those of a batch.
struct Columns {
  Keys keys;
  std::span<const double> means, sizes;
  std::span<const std::uint8_t> missing;
  std::span<const std::uint8_t> name_data;
  std::span<const std::uint64_t> name_offsets;

  std::span<const std::uint8_t> name(std::size_t column) const {
    const auto start = name_offsets[column], stop = name_offsets[column + 1];
    return name_data.subspan(compat::to_size(start), compat::to_size(stop - start));
  }
};

struct ScaledRows {
  std::vector<std::int64_t> indptr;
  std::vector<Key> keys;
  std::vector<float> values;
  std::vector<std::uint8_t> name_data;
  std::vector<std::uint64_t> name_offsets;  // empty without names
};

// Values of columns further from 0 than `most` are brought there: one wild value would undo what a
// whole stream has taught. Throws std::invalid_argument unless rows and columns are well formed.
ScaledRows scale_rows(const BatchView& batch, const Columns& columns, double most);

}  // namespace bear

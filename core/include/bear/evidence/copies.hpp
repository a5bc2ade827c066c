// How many rows are copies of earlier ones, from those with the smallest hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bear::evidence {

// Rows whose hash is among the smallest are counted from the first one on, so that the share of
// copies among them is that of the stream, up to chance.
class Copies {
 public:
  static constexpr std::size_t kKept = 256;

  void add(std::uint64_t hash, std::uint64_t times = 1);

  std::span<const std::uint64_t> hashes() const { return hashes_; }
  std::span<const std::uint64_t> counts() const { return counts_; }
  void restore(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> counts);

 private:
  std::vector<std::uint64_t> hashes_, counts_;  // by rising hash
};

}  // namespace bear::evidence

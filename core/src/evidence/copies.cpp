#include "bear/evidence/copies.hpp"

#include <algorithm>
#include <stdexcept>

namespace bear::evidence {

void Copies::add(std::uint64_t hash, std::uint64_t times) {
  const bool full = hashes_.size() == kKept;
  if (full && hash > hashes_.back()) return;
  const auto at = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
  const auto place = at - hashes_.begin();
  if (at != hashes_.end() && *at == hash) {
    counts_[static_cast<std::size_t>(place)] += times;
    return;
  }
  if (full) {
    hashes_.pop_back();
    counts_.pop_back();
  }
  hashes_.insert(hashes_.begin() + place, hash);
  counts_.insert(counts_.begin() + place, times);
}

void Copies::restore(std::span<const std::uint64_t> hashes, std::span<const std::uint64_t> counts) {
  const bool rising = std::adjacent_find(hashes.begin(), hashes.end(),
                                         [](auto a, auto b) { return a >= b; }) == hashes.end();
  if (hashes.size() > kKept || counts.size() != hashes.size() || !rising) {
    throw std::invalid_argument("copies: hashes must rise and have a count each");
  }
  hashes_.assign(hashes.begin(), hashes.end());
  counts_.assign(counts.begin(), counts.end());
}

}  // namespace bear::evidence

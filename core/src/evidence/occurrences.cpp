#include "bear/evidence/occurrences.hpp"

#include <bit>

#include "bear/hash.hpp"

namespace bear::evidence {

void Occurrences::start(const BatchView& batch, std::span<const std::uint64_t> hashes,
                        std::size_t heaps, std::size_t k) {
  k_ = k;
  numbers_.assign(heaps * k, 0);
  ends_.assign(1, 0);
  found_.clear();
  hashes_.resize(batch.n_rows());
  const std::size_t first = batch.first_entry();
  std::size_t e = 0;
  for (std::size_t row = 0; row < batch.n_rows(); ++row) {
    const std::size_t start = e, stop = static_cast<std::size_t>(batch.indptr[row + 1]) - first;
    std::uint64_t sum = 0;
    for (; e < stop; ++e) {
      sum += hashes[e] ^ std::bit_cast<std::uint32_t>(batch.values[first + e]) * kGolden;
    }
    hashes_[row] = start == stop ? 0 : mix64(sum ^ std::bit_cast<std::uint64_t>(batch.labels[row]));
  }
}

void Occurrences::add(std::size_t heap, std::int32_t slot, std::size_t row, float value) {
  if (!(value < 0.0F || value > 0.0F)) return;
  const auto at = static_cast<std::uint32_t>(slot);
  std::uint32_t& number = numbers_[heap * k_ + at];
  if (number == 0) {
    number = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back(0);
  }
  ++ends_[number];
  found_.push_back({static_cast<std::uint32_t>(heap), at, static_cast<std::uint32_t>(row), value});
}

void Occurrences::finish() {
  for (std::size_t number = 1; number < ends_.size(); ++number) ends_[number] += ends_[number - 1];
  list_.resize(found_.size());
  for (const Occurrence& one : found_) {
    list_[ends_[numbers_[one.heap * k_ + one.slot] - 1]++] = one;
  }
}

}  // namespace bear::evidence

#include "bear/evidence/occurrences.hpp"

#include <bit>

namespace bear::evidence {

void Occurrences::find(const ActiveSet& active, const Places& places) {
  const BatchView& batch = active.batch();
  const std::size_t first = batch.first_entry(), rows = batch.n_rows();
  numbers_.assign(active.size(), 0);
  std::uint32_t n = 0;
  for (const std::uint32_t i : places.chosen) {
    std::uint32_t& number = numbers_[places.column_of(i)];
    if (number == 0) number = ++n;
  }
  found_.clear();
  ends_.assign(n + 1, 0);
  hashes_.resize(rows);
  const auto columns = active.columns();
  const std::uint64_t* const of_keys = active.hashes().data();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto start = static_cast<std::size_t>(batch.indptr[row]) - first;
    const auto stop = static_cast<std::size_t>(batch.indptr[row + 1]) - first;
    std::uint64_t sum = 0;
    for (std::size_t e = start; e < stop; ++e) {
      const std::uint32_t column = columns[e], number = numbers_[column];
      const float value = batch.values[first + e];
      sum += of_keys[column] ^ std::bit_cast<std::uint32_t>(value) * kGolden;
      if (number == 0 || !(value < 0.0F || value > 0.0F)) continue;
      found_.push_back({number - 1, static_cast<std::uint32_t>(row), value});
      ++ends_[number];
    }
    hashes_[row] = start == stop ? 0 : mix64(sum ^ std::bit_cast<std::uint64_t>(batch.labels[row]));
  }
  for (std::uint32_t c = 0; c < n; ++c) ends_[c + 1] += ends_[c];
  sorted_.resize(found_.size());
  for (const Found& one : found_) sorted_[ends_[one.column]++] = one;  // now where each ends
  list_.clear();
  for (const std::uint32_t i : places.chosen) {
    const std::uint32_t column = numbers_[places.column_of(i)] - 1;
    const std::uint32_t start = column == 0 ? 0 : ends_[column - 1];
    const auto heap = static_cast<std::uint32_t>(places.group_of(i));
    const auto slot = static_cast<std::uint32_t>(places.members[i]);
    for (std::uint32_t at = start; at < ends_[column]; ++at) {
      list_.push_back({heap, slot, sorted_[at].row, sorted_[at].value});
    }
  }
}

}  // namespace bear::evidence

// Where the selected features stand in a minibatch, and what its rows contain.
#pragma once

#include "bear/batch.hpp"
#include "bear/evidence/ledger.hpp"

namespace bear::evidence {

class Occurrences {
 public:
  // A minibatch with the hashes of the keys of its entries, and the slots of the heaps.
  void start(const BatchView& batch, std::span<const std::uint64_t> hashes, std::size_t heaps,
             std::size_t k);
  // In the order of rows, and of heaps for an entry; one of value 0 is none.
  void add(std::size_t heap, std::int32_t slot, std::size_t row, float value);
  void finish();

  // By heap and slot, then by row.
  std::span<const Occurrence> list() const { return list_; }
  // Of the contents of each row, its label included; 0 for a row without entries.
  std::span<const std::uint64_t> hashes() const { return hashes_; }

 private:
  std::size_t k_ = 0;
  std::vector<Occurrence> found_, list_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> numbers_;  // of the slots met, from 1; 0 else
  std::vector<std::uint32_t> ends_;
};

}  // namespace bear::evidence

// Where the selected features stand in a minibatch, and what its rows contain.
#pragma once

#include "bear/active_set.hpp"
#include "bear/evidence/ledger.hpp"
#include "bear/storage.hpp"

namespace bear::evidence {

class Occurrences {
 public:
  // Of the active set of a minibatch whose selected features have been found.
  void find(const ActiveSet& active, const Places& places);

  // By heap and slot, then by row; entries of value 0 are none.
  std::span<const Occurrence> list() const { return list_; }
  // Of the contents of each row, its label included; 0 for a row without entries.
  std::span<const std::uint64_t> hashes() const { return hashes_; }

 private:
  struct Found {
    std::uint32_t column, row;
    float value;
  };

  std::vector<Occurrence> list_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> numbers_;  // of the columns that are selected, from 1; 0 else
  std::vector<std::uint32_t> ends_;
  std::vector<Found> found_, sorted_;
};

}  // namespace bear::evidence

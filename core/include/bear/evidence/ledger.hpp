// Evidence about the selected features, from rows not used to select them.
//
// Each minibatch is first drawn with what was selected before it, then learned; only then do
// features enter and leave, and tests start. Drawn after learning, or left before drawing, a
// feature could dodge the minibatch that speaks against it, and nothing would hold.
#pragma once

#include <span>

#include "bear/evidence/copies.hpp"
#include "bear/evidence/order_check.hpp"
#include "bear/evidence/record.hpp"
#include "bear/types.hpp"

namespace bear {
class Selection;
}

namespace bear::evidence {

// The rows of one minibatch. All but labels may be empty: weight 1, one stratum, no places.
struct Rows {
  ConstReals labels, weights;
  std::span<const std::uint64_t> strata;  // rows are only compared within their stratum
  std::span<const std::uint64_t> places;  // where each stands in the data
  std::span<const std::uint64_t> hashes;  // of the contents of each

  std::size_t size() const { return labels.size(); }
};

// A selected feature in a row, by the heap and slot where it is selected.
struct Occurrence {
  std::uint32_t heap, slot, row;
  float value;
};

class Ledger {
 public:
  enum class Score { labels, ranks };

  // heaps of k features; with several heaps each is of one class. classes: of a shared heap.
  Ledger(std::size_t heaps, std::size_t k, std::size_t classes, Score score, std::uint64_t seed);

  // Before a minibatch is learned: the tests of the features that were selected take its gain.
  // Occurrences come by heap and slot, then by row; those of value 0 left out.
  void draw(const Rows& rows, std::span<const Occurrence> occurrences);

  // After it was learned: features enter and leave, tests start.
  void follow(const Selection& selection);

  // After a first pass over the data its rows are no news: nothing is drawn until they are again.
  void freeze(bool frozen) { frozen_ = frozen; }
  bool frozen() const { return frozen_; }

  // One of several parts that go on from the same state, each with rows of its own, to be added up:
  // tests only take their gains, and stay when their feature leaves. Rows are numbered by part.
  void share(std::uint64_t part);

  const std::vector<std::vector<Record>>& records() const { return records_; }
  std::vector<std::vector<Record>>& records() { return records_; }
  // Of features that left while the ledger was shared.
  std::vector<std::vector<Record>>& parked() { return parked_; }
  const std::vector<std::vector<Record>>& parked() const { return parked_; }
  Bank& bank() { return bank_; }
  const Bank& bank() const { return bank_; }
  OrderCheck& order() { return order_; }
  const OrderCheck& order() const { return order_; }
  Copies& copies() { return copies_; }
  const Copies& copies() const { return copies_; }

  struct Count {
    std::uint64_t rows = 0;    // of the run so far
    std::uint64_t origin = 0;  // 32 bits that tell its rows from those of other runs
    std::uint64_t drawn = 0;   // rows with a weight, that were drawn
    std::uint64_t small = 0;   // of these, in strata of one or two
    std::uint64_t later = 0;   // rows that came while it was frozen
  };
  Count& count() { return count_; }
  const Count& count() const { return count_; }

  // Slots of all heaps, as a stake counts them.
  std::size_t slots() const { return records_.size() * k_; }
  // Whether a record's sums let its test start.
  static bool may_start(const Record& record);

 private:
  struct Drawn {
    std::uint64_t key;
    std::uint32_t heap, slot;
  };

  void list_rows(const Rows& rows);
  void rank_rows(const Rows& rows);
  void count_labels();
  void observe(Record& record, const Rows& rows, std::span<const Occurrence> occurrences);
  void score_presence(Record& record);
  std::uint64_t row_number(std::size_t i) const;
  bool in_every_row(std::span<const Occurrence> occurrences) const;
  void leave(std::size_t heap, Record& record);
  void start_tests();

  std::size_t k_, classes_;
  Score score_;
  std::uint64_t seed_;
  bool frozen_ = false;
  bool shared_ = false;
  std::vector<std::vector<Record>> records_, parked_;
  Bank bank_;
  OrderCheck order_;
  Copies copies_;
  Count count_;

  // Scratch of one minibatch.
  std::vector<std::uint32_t> stratum_;            // of each row; kNone without weight
  std::vector<std::uint32_t> sizes_;              // rows of each stratum
  std::vector<std::uint32_t> positive_;           // [stratum][class]
  std::vector<std::uint32_t> of_class_;           // of each row
  std::vector<double> ranks_;                     // of each row in its stratum
  std::vector<std::uint32_t> present_, touched_;  // rows with the feature, of each stratum
  std::vector<double> score_sums_;
  std::vector<std::uint64_t> values_, row_hashes_;
  std::vector<double> drawn_labels_;
  std::vector<std::uint8_t> ones_;
  std::vector<std::uint32_t> order_of_, kept_;
  std::size_t drawn_rows_ = 0;
  ConstReals labels_;
  std::vector<Drawn> drawn_;
};

}  // namespace bear::evidence

// The kept features: indexed heaps of the k keys with the largest weights, and their names.
#pragma once

#include <string>

#include "bear/key_map.hpp"
#include "bear/measures.hpp"
#include "bear/storage.hpp"

namespace bear {

// The k keys that are worth most, least at hand. A key is worth its norm, the size of its weights
// times the size of its values where that is above 1 (for a weight of 0.1 per euro of a price moves
// more than one of 2 for a word), times what each unit of it is worth to whoever asks. A key keeps
// its slot while it stays. Of two that are worth the same the larger key counts as less, so ties
// never depend on order.
//
// The heap is lazy: a slot stands in it by a bound that its value never falls below, and a value
// that grows leaves the heap alone. Only the least is brought up to date, when it is asked for.
class TopK {
 public:
  // Weights are kept at the given precision, so that saving one loses nothing: int8 is a byte for
  // each, in multiples of a power of two that those of a key have in common.
  TopK(std::size_t k, std::size_t width, Precision precision, std::uint64_t seed = 0,
       Size size = Size::norm);

  std::size_t k() const { return k_; }
  std::size_t width() const { return width_; }
  std::size_t size() const { return order_.size(); }
  bool full() const { return size() == k_; }

  std::int32_t find(Key key) const { return slots_.find(key); }
  std::int32_t find(Key key, std::uint64_t hash) const { return slots_.find(key, hash); }
  // Whether the key with this hash may be here; see KeyMap.
  bool may_hold(std::uint64_t hash) const { return slots_.may_hold(hash); }
  // The least, by what a unit of a key's norm is worth: 1 or more, and from one time to the next it
  // may grow, but never fall.
  template <class Worth>
  std::int32_t least(Worth worth_of) {
    while (true) {
      const std::int32_t slot = order_.front();
      worths_[index(slot)] = worth_of(key(slot));
      if (value(slot) == bounds_[index(slot)]) return slot;
      set_bound(slot);
      sift_down(0);
    }
  }
  // By the norms alone.
  std::int32_t least() {
    return least([](Key) { return 1.0; });
  }
  // What it was worth when it was last asked about, with its norm of now.
  double value(std::int32_t slot) const { return norm(slot) * worths_[index(slot)]; }
  double norm(std::int32_t slot) const { return norms_[index(slot)]; }
  Key key(std::int32_t slot) const { return keys_[index(slot)]; }

  ConstReals weights(std::int32_t slot) const {
    return ConstReals(weights_).subspan(index(slot) * width_, width_);
  }
  // Size of the values that the key came with, at least 1; kept as a float. Over batches the
  // geometric mean: a word that once came a thousand times is not one of large values.
  double magnitude(std::int32_t slot) const { return magnitudes_[index(slot)]; }
  const std::string& name(std::int32_t slot) const { return names_[index(slot)]; }
  // A second name that came with the same key, or nothing.
  const std::string& alias(std::int32_t slot) const { return aliases_[index(slot)]; }
  void set_alias(std::int32_t slot, std::string_view name) { aliases_[index(slot)] = name; }

  // weights = keep * weights + change
  void update(std::int32_t slot, double keep, ConstReals change);

  // The magnitude learns from the mean square of a batch.
  void meet(std::int32_t slot, double square);

  // A new key in a free slot; the heap must not be full.
  std::int32_t insert(Key key, ConstReals weights, std::string_view name, double magnitude = 1.0);

  // The least as it was found last, and taking it out: its slot is free afterwards.
  std::int32_t front() const { return order_.front(); }
  void remove_front();

  void scale(double c);
  void clear();

  // What draws for the rounding of bytes begin from.
  void draw_from(std::uint64_t salt) { salt_ = salt; }

  // Slots by falling norm, ties by rising key.
  std::vector<std::int32_t> ranked() const;

 private:
  static std::size_t index(std::int32_t slot) { return static_cast<std::size_t>(slot); }
  bool less(std::int32_t a, std::int32_t b) const;
  void set_bound(std::int32_t slot) { bounds_[index(slot)] = value(slot); }
  double measured(std::int32_t slot) const;
  void measure(std::int32_t slot);
  void grow();
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);
  void put(std::size_t at, std::int32_t slot);
  void narrow(std::int32_t slot);

  std::size_t k_, width_;
  Precision precision_;
  Size size_;
  std::uint64_t salt_ = 0;
  std::vector<Key> keys_;
  std::vector<double> weights_;
  std::vector<double> norms_, worths_, bounds_;
  std::vector<float> magnitudes_;
  std::vector<std::string> names_, aliases_;
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> order_;     // heap of slots
  std::vector<std::size_t> positions_;  // of slots in order_
  KeyMap slots_;
};

// One TopK shared by the classes and ordered by the size of their weights, or one per class, or
// none.
class Selection {
 public:
  // per_class: one heap of k for each class instead of one for all. k = 0: nothing is selected.
  // The seed is that of the active sets it is asked about.
  Selection(std::size_t k, std::size_t classes, bool per_class, Precision precision,
            std::uint64_t seed = 0, Size size = Size::norm);

  std::size_t groups() const { return tops_.size(); }
  TopK& top(std::size_t group) { return tops_[group]; }
  const TopK& top(std::size_t group) const { return tops_[group]; }
  std::size_t size() const;  // selected keys, over all groups
  std::size_t first_class(std::size_t group) const { return group * width_; }

  // Slots of the active keys, into places.members and places.chosen.
  void find(const ActiveSet& active, Places& places) const;

  // Zero for the weights that are not selected.
  void mask(const Places& places, Reals weights) const;

  // Clears of a step what cells are too coarse for; the next offer sees to it.
  void hold_back(const Places& places, Reals step, const Storage& storage,
                 const Measures& measures);

  // Offers the active keys with their new weights; candidates are visited by falling |z|, so that
  // of keys that share their cells the one that moved most is taken.
  // Leaves zeros in the weights of the selected.
  void offer(const ActiveSet& active, Places& places, Reals weights, ConstReals z, Storage& storage,
             const Measures& measures = {});

  void scale(double c);
  void draw_from(std::uint64_t salt);

  // Keys that came with two different names.
  std::size_t name_collisions() const { return name_collisions_; }
  void set_name_collisions(std::size_t n) { name_collisions_ = n; }

 private:
  struct Candidate {
    double moved;
    std::size_t column;
  };

  void refresh(std::size_t group, const ActiveSet& active, const Places& places, ConstReals weights,
               bool exact);
  void meet(const Places& places, ConstReals damping);
  void collect(std::size_t group, std::size_t n, ConstReals weights, ConstReals z,
               const Measures& measures);
  void sort_candidates(const ActiveSet& active);
  void consider(std::size_t group, const Candidate& candidate, const ActiveSet& active,
                Places& places, Storage& storage, const Measures& measures);
  void draw_held(const ActiveSet& active, const Places& places, ConstReals z, Storage& storage,
                 const Measures& measures);
  void take_in(std::size_t group, std::size_t column, double magnitude, ConstReals taken,
               const ActiveSet& active, Storage& storage, const Measures& measures);
  // What a newcomer of a group must be worth more than, into bar_.
  void find_bar(std::size_t group, const Storage& storage, const Measures& measures);
  void note_name(TopK& top, std::int32_t slot, std::string_view name);

  std::size_t classes_, width_;
  Size size_;
  std::vector<TopK> tops_;
  std::vector<Candidate> candidates_, spare_;
  std::vector<std::uint32_t> larger_;  // columns of the candidates
  std::vector<double> estimate_, started_;
  std::vector<std::uint32_t> held_;
  double bar_ = 0.0;
  std::size_t name_collisions_ = 0;
};

}  // namespace bear

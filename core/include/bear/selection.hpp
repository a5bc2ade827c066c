// The kept features: indexed heaps of the k keys with the largest weights, and their names.
#pragma once

#include <string>

#include "bear/key_map.hpp"
#include "bear/storage.hpp"

namespace bear {

// The k keys that are worth most, least at hand: by the size of their weights, times what a unit of
// it is worth to whoever keeps them. A key keeps its slot while it stays. Of two that are worth the
// same the larger key counts as less, so ties never depend on order.
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
  std::int32_t least() {
    while (true) {
      const std::int32_t slot = order_.front();
      if (value(slot) == bounds_[index(slot)]) return slot;
      set_bound(slot);
      sift_down(0);
    }
  }
  double value(std::int32_t slot) const { return norm(slot) * worths_[index(slot)]; }
  double norm(std::int32_t slot) const { return norms_[index(slot)]; }
  Key key(std::int32_t slot) const { return keys_[index(slot)]; }

  ConstReals weights(std::int32_t slot) const {
    return ConstReals(weights_).subspan(index(slot) * width_, width_);
  }
  // What a unit of the norm is worth, and a byte for whoever counts something of the key.
  double worth(std::int32_t slot) const { return worths_[index(slot)]; }
  void set_worth(std::int32_t slot, double worth) {
    worths_[index(slot)] = worth;
    measure(slot);
  }
  std::uint8_t level(std::int32_t slot) const { return levels_[index(slot)]; }
  void set_level(std::int32_t slot, std::uint8_t level) { levels_[index(slot)] = level; }
  const std::string& name(std::int32_t slot) const { return names_[index(slot)]; }
  // A second name that came with the same key, or nothing.
  const std::string& alias(std::int32_t slot) const { return aliases_[index(slot)]; }
  void set_alias(std::int32_t slot, std::string_view name) { aliases_[index(slot)] = name; }

  // weights = keep * weights + change
  void update(std::int32_t slot, double keep, ConstReals change);

  // A new key in a free slot; the heap must not be full.
  std::int32_t insert(Key key, ConstReals weights, std::string_view name);

  // The least by its bound, and taking it out: its slot is free afterwards.
  std::int32_t front() const { return order_.front(); }
  void remove_front();

  void scale(double c);
  void clear();

  // What draws for the rounding of bytes begin from.
  void draw_from(std::uint64_t salt) { salt_ = salt; }

  // Slots by falling value, ties by rising key.
  std::vector<std::int32_t> ranked() const;

 private:
  static std::size_t index(std::int32_t slot) { return static_cast<std::size_t>(slot); }
  bool less(std::int32_t a, std::int32_t b) const;
  void set_bound(std::int32_t slot) { bounds_[index(slot)] = value(slot); }
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
  std::vector<std::uint8_t> levels_;
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

  // Offers the active keys with their new weights; candidates are visited by falling |z|, so that
  // of keys that share their cells the one that moved most is taken.
  // Leaves zeros in the weights of the selected.
  void offer(const ActiveSet& active, Places& places, Reals weights, ConstReals z,
             Storage& storage);

  // What a newcomer of a group must be worth more than.
  double bar(std::size_t group);

  // A key enters with these weights, which leave its cells; where there is no room the least of the
  // selected goes back to its own. Returns the slot.
  std::int32_t take_in(std::size_t group, Key key, ConstReals weights, std::string_view name,
                       Storage& storage);

  // Two names on one key share one weight: both are kept, and the case is counted.
  void note_name(std::size_t group, std::int32_t slot, std::string_view name);

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
  void collect(std::size_t group, std::size_t n, ConstReals weights, ConstReals z);
  void sort_candidates(const ActiveSet& active);
  void consider(std::size_t group, const Candidate& candidate, const ActiveSet& active,
                const Places& places, Storage& storage);

  std::size_t classes_, width_;
  Size size_;
  std::vector<TopK> tops_;
  std::vector<Candidate> candidates_, spare_;
  std::vector<std::uint32_t> larger_;  // columns of the candidates
  std::vector<double> estimate_;
  double bar_ = 0.0;
  std::size_t name_collisions_ = 0;
};

}  // namespace bear

// Open-addressing map from keys to small distinct integers, with deletion.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "bear/hash.hpp"
#include "bear/types.hpp"

namespace bear {

class KeyMap {
 public:
  static constexpr std::int32_t kAbsent = -1;

  // The seed must be that of the hashes given to find().
  explicit KeyMap(std::size_t capacity = 0, std::uint64_t seed = 0) : hash_(seed) {
    rebuild(capacity);
  }

  std::size_t size() const { return size_; }

  std::int32_t find(Key key) const { return find(key, hash_(key)); }

  // The same, the key's hash being known.
  std::int32_t find(Key key, std::uint64_t hash) const {
    // One test for "another key", because whether a place is empty cannot be foreseen.
    std::size_t i = hash & mask_;
    std::int32_t value = values_[i];
    while (((key_of(value) ^ key) & (0 - std::uint64_t{value != kAbsent})) != 0) {
      i = next(i);
      value = values_[i];
    }
    return value;
  }

  // Whether the key with this hash may be here: true for all that are, and for one in fifty that
  // are not. Of many keys most can be told to be absent without a branch, where looking for each
  // would take one that cannot be foreseen.
  bool may_hold(std::uint64_t hash) const {
    const std::uint64_t bit = hash >> filter_shift_;
    return (filter_[compat::to_size(bit / 64)] >> (bit % 64) & 1) != 0;
  }

  // The key must be absent, and no other key may have the value.
  void insert(Key key, std::int32_t value) {
    if (kSpread * (size_ + 1) > values_.size()) rebuild(2 * (size_ + 1));
    if (keys_.size() < static_cast<std::size_t>(value) + 2) {
      keys_.resize(static_cast<std::size_t>(value) + 2);
    }
    keys_[static_cast<std::size_t>(value) + 1] = key;
    place(value);
    mark(hash_(key));
    ++size_;
  }

  // The key must be present. Later entries of the chain move back, so no tombstones pile up.
  void erase(Key key) {
    std::size_t hole = home(key);
    while (values_[hole] == kAbsent || key_at(hole) != key) hole = next(hole);
    for (std::size_t i = next(hole); values_[i] != kAbsent; i = next(i)) {
      if (((i - home(key_at(i))) & mask_) >= ((i - hole) & mask_)) {
        values_[hole] = values_[i];
        hole = i;
      }
    }
    values_[hole] = kAbsent;
    --size_;
    // The mark stays, for another key may need it, until so many have gone that all are made anew.
    if (++gone_ > values_.size() / kSpread) mark_all();
  }

  // Room for so many keys, so that none of them makes the map grow.
  void reserve(std::size_t capacity) {
    if (kSpread * capacity > values_.size()) rebuild(capacity);
  }

  void clear() {
    std::fill(values_.begin(), values_.end(), kAbsent);
    size_ = 0;
    mark_all();
  }

 private:
  static constexpr std::size_t kSpread = 4;  // places per key: nearly all misses end at once
  static constexpr std::size_t kMarks = 16;  // bits of the filter per place

  std::size_t home(Key key) const { return hash_(key) & mask_; }
  std::size_t next(std::size_t i) const { return (i + 1) & mask_; }
  Key key_of(std::int32_t value) const { return keys_[static_cast<std::size_t>(value + 1)]; }
  Key key_at(std::size_t i) const { return key_of(values_[i]); }

  void place(std::int32_t value) {
    std::size_t i = home(keys_[static_cast<std::size_t>(value) + 1]);
    while (values_[i] != kAbsent) i = next(i);
    values_[i] = value;
  }

  void rebuild(std::size_t capacity) {
    const std::vector<std::int32_t> old = std::move(values_);
    const std::size_t places = std::bit_ceil(std::max<std::size_t>(kSpread * capacity, 16));
    values_.assign(places, kAbsent);
    mask_ = places - 1;
    for (const std::int32_t value : old) {
      if (value != kAbsent) place(value);
    }
    filter_.resize(places * kMarks / 64);
    filter_shift_ = 65 - static_cast<int>(std::bit_width(places * kMarks));
    mark_all();
  }

  void mark(std::uint64_t hash) {
    const std::uint64_t bit = hash >> filter_shift_;
    filter_[compat::to_size(bit / 64)] |= std::uint64_t{1} << (bit % 64);
  }

  void mark_all() {
    std::fill(filter_.begin(), filter_.end(), 0);
    for (const std::int32_t value : values_) {
      if (value != kAbsent) mark(hash_(key_of(value)));
    }
    gone_ = 0;
  }

  KeyHash hash_;
  std::vector<std::int32_t> values_;
  std::vector<Key> keys_ = {0};  // by value, after one that stands for none: all keys lie close
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> filter_;  // a bit for the high bits of each key's hash
  int filter_shift_ = 0;
  std::size_t gone_ = 0;  // keys erased since the filter was made
};

}  // namespace bear

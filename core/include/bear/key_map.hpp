// Open-addressing map from keys to small integers, with deletion; iteration order is never used.
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

  explicit KeyMap(std::size_t capacity = 0) { rebuild(capacity); }

  std::size_t size() const { return size_; }

  std::int32_t find(Key key) const {
    for (std::size_t i = home(key);; i = next(i)) {
      if (values_[i] == kAbsent || keys_[i] == key) return values_[i];
    }
  }

  // The key must be absent.
  void insert(Key key, std::int32_t value) {
    if (kSpread * (size_ + 1) > values_.size()) rebuild(2 * (size_ + 1));
    place(key, value);
    ++size_;
  }

  // The key must be present. Later entries of the chain move back, so no tombstones pile up.
  void erase(Key key) {
    std::size_t hole = home(key);
    while (keys_[hole] != key || values_[hole] == kAbsent) hole = next(hole);
    for (std::size_t i = next(hole); values_[i] != kAbsent; i = next(i)) {
      if (((i - home(keys_[i])) & mask_) >= ((i - hole) & mask_)) {
        keys_[hole] = keys_[i];
        values_[hole] = values_[i];
        hole = i;
      }
    }
    values_[hole] = kAbsent;
    --size_;
  }

  // Room for so many keys, so that none of them makes the map grow.
  void reserve(std::size_t capacity) {
    if (kSpread * capacity > values_.size()) rebuild(capacity);
  }

  void clear() {
    std::fill(values_.begin(), values_.end(), kAbsent);
    size_ = 0;
  }

 private:
  static constexpr std::size_t kSpread = 4;  // places per key: nearly all misses end at once

  std::size_t home(Key key) const { return mix64(key) & mask_; }
  std::size_t next(std::size_t i) const { return (i + 1) & mask_; }

  void place(Key key, std::int32_t value) {
    std::size_t i = home(key);
    while (values_[i] != kAbsent) i = next(i);
    keys_[i] = key;
    values_[i] = value;
  }

  void rebuild(std::size_t capacity) {
    const std::vector<Key> old_keys = std::move(keys_);
    const std::vector<std::int32_t> old_values = std::move(values_);
    const std::size_t places = std::bit_ceil(std::max<std::size_t>(kSpread * capacity, 16));
    keys_.assign(places, 0);
    values_.assign(places, kAbsent);
    mask_ = places - 1;
    for (std::size_t i = 0; i < old_values.size(); ++i) {
      if (old_values[i] != kAbsent) place(old_keys[i], old_values[i]);
    }
  }

  // Apart, because a miss reads only the value: a quarter of the memory that a search walks over.
  std::vector<Key> keys_;
  std::vector<std::int32_t> values_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace bear

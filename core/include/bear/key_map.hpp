// Open-addressing map from keys to small integers, with deletion; iteration order is never used.
#pragma once

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
    for (std::size_t i = home(key);; i = (i + 1) & mask_) {
      if (slots_[i].value == kAbsent || slots_[i].key == key) return slots_[i].value;
    }
  }

  // The key must be absent.
  void insert(Key key, std::int32_t value) {
    if (2 * (size_ + 1) > slots_.size()) rebuild(2 * (size_ + 1));
    place(key, value);
    ++size_;
  }

  // The key must be present. Later entries of the chain move back, so no tombstones pile up.
  void erase(Key key) {
    std::size_t hole = home(key);
    while (slots_[hole].key != key || slots_[hole].value == kAbsent) hole = (hole + 1) & mask_;
    for (std::size_t i = (hole + 1) & mask_; slots_[i].value != kAbsent; i = (i + 1) & mask_) {
      if (((i - home(slots_[i].key)) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].value = kAbsent;
    --size_;
  }

  void clear() {
    for (auto& slot : slots_) slot.value = kAbsent;
    size_ = 0;
  }

 private:
  struct Slot {
    Key key = 0;
    std::int32_t value = kAbsent;
  };

  std::size_t home(Key key) const { return mix64(key) & mask_; }

  void place(Key key, std::int32_t value) {
    std::size_t i = home(key);
    while (slots_[i].value != kAbsent) i = (i + 1) & mask_;
    slots_[i] = {key, value};
  }

  void rebuild(std::size_t capacity) {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::bit_ceil(std::max<std::size_t>(2 * capacity, 16)), Slot{});
    mask_ = slots_.size() - 1;
    for (const auto& slot : old) {
      if (slot.value != kAbsent) place(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace bear

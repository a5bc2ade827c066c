// Sorting a few dozen to a few thousand items by key, faster than by comparison alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bear {

inline constexpr std::size_t sort_buckets = 256;
// Beyond, buckets hold too many for what follows.
inline constexpr std::size_t most_for_buckets = 16 * sort_buckets;

// For items that are few or nearly in order.
template <class T, class Before>
void insertion_sort(T* first, T* last, Before before) {
  for (T* at = first + 1; at < last; ++at) {
    if (!before(*at, at[-1])) continue;
    const T item = *at;
    T* to = at;
    for (; to != first && before(item, to[-1]); --to) *to = to[-1];
    *to = item;
  }
}

// Writes the items in the order of `before`, which must be that of key(item) first, to `sorted`.
// One pass distributes them by the highest of the `key_bits` bits that a key has; keys that are
// hashes or k-mers spread evenly, so about one comes to a bucket, and what is left is nearly in
// order. Where many come to one bucket they are sorted by comparison, so that poor keys cost time
// only.
template <class T, class KeyOf, class Before>
void bucket_sort(std::span<const T> items, T* sorted, int key_bits, KeyOf key, Before before) {
  const std::size_t n = items.size();
  const std::size_t buckets = std::min(std::bit_ceil(2 * n), sort_buckets);
  const int shift = std::max(key_bits + 1 - static_cast<int>(std::bit_width(buckets)), 0);
  const auto bucket = [&](const T& item) { return (key(item) >> shift) & (buckets - 1); };
  std::uint16_t starts[sort_buckets + 1];
  std::memset(starts, 0, (buckets + 1) * sizeof starts[0]);
  for (const T& item : items) ++starts[bucket(item) + 1];
  std::uint16_t fullest = 0, before_it = 0;
  for (std::size_t b = 1; b <= buckets; ++b) {
    fullest = std::max(fullest, starts[b]);
    before_it = static_cast<std::uint16_t>(before_it + starts[b]);
    starts[b] = before_it;
  }
  for (const T& item : items) sorted[starts[bucket(item)]++] = item;  // starts become ends
  if (fullest <= 8) {
    insertion_sort(sorted, sorted + n, before);
    return;
  }
  for (std::size_t b = 0; b < buckets; ++b) {
    std::sort(sorted + (b == 0 ? 0 : starts[b - 1]), sorted + starts[b], before);
  }
}

}  // namespace bear

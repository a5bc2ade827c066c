// Sorting a few dozen to a few thousand items by key, faster than by comparison alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bear {

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

namespace detail {

inline constexpr std::size_t few_buckets = 256, most_buckets = std::size_t{1} << 16;

// starts: one more than buckets, all 0.
template <class T, class Count, class Bucket, class Before>
void distribute(std::span<const T> items, T* sorted, std::span<Count> starts, Bucket bucket,
                Before before) {
  for (const T& item : items) ++starts[bucket(item) + 1];
  Count fullest = 0, so_far = 0;
  for (Count& start : starts) {
    fullest = std::max(fullest, start);
    so_far = static_cast<Count>(so_far + start);
    start = so_far;
  }
  for (const T& item : items) sorted[starts[bucket(item)]++] = item;  // starts become ends
  constexpr Count few = 8;
  if (fullest <= few) return insertion_sort(sorted, sorted + items.size(), before);
  T* from = sorted;
  for (const Count end : starts.first(starts.size() - 1)) {
    T* const to = sorted + end;
    if (static_cast<Count>(to - from) > few) {
      std::sort(from, to, before);
    } else {
      insertion_sort(from, to, before);
    }
    from = to;
  }
}

}  // namespace detail

// Writes the items in the order of `before`, which must be that of key(item) first, to `sorted`.
// One pass distributes them by the highest of the `key_bits` bits that a key has; keys that are
// hashes or k-mers spread evenly, so about one comes to a bucket, and what is left is nearly in
// order. Where many come to one bucket they are sorted by comparison, so that poor keys cost time
// only.
template <class T, class KeyOf, class Before>
void bucket_sort(std::span<const T> items, T* sorted, int key_bits, KeyOf key, Before before) {
  using namespace detail;
  const std::size_t n = items.size();
  // Up to 4,096 items have few buckets, which need no memory of their own.
  const std::size_t most = n <= 16 * few_buckets ? few_buckets : most_buckets;
  const std::size_t buckets = std::min(std::bit_ceil(2 * n), most);
  const int shift = std::max(key_bits + 1 - static_cast<int>(std::bit_width(buckets)), 0);
  const auto bucket = [&](const T& item) { return (key(item) >> shift) & (buckets - 1); };
  if (most == few_buckets) {
    std::uint16_t starts[few_buckets + 1];
    std::memset(starts, 0, (buckets + 1) * sizeof starts[0]);
    distribute(items, sorted, std::span(starts, buckets + 1), bucket, before);
  } else {
    std::vector<std::size_t> starts(buckets + 1);
    distribute(items, sorted, std::span(starts), bucket, before);
  }
}

}  // namespace bear

// Sorting a few dozen to a few thousand items by key, faster than by comparison alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bear/compat.hpp"

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
template <class T, class Count, class Bucket, class ItemAt, class Before>
void distribute(std::size_t n, T* sorted, std::span<Count> starts, Bucket bucket, ItemAt item,
                Before before) {
  for (std::size_t i = 0; i < n; ++i) ++starts[compat::to_size(bucket(i)) + 1];
  Count fullest = 0, so_far = 0;
  for (Count& start : starts) {
    fullest = std::max(fullest, start);
    so_far = static_cast<Count>(so_far + start);
    start = so_far;
  }
  for (std::size_t i = 0; i < n; ++i)
    sorted[starts[compat::to_size(bucket(i))]++] = item(i);  // starts become ends
  constexpr Count few = 8;
  if (fullest <= few) return insertion_sort(sorted, sorted + n, before);
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

// Writes item(0) to item(n - 1) in the order of `before`, which must be that of key(i) first, to
// `sorted`. One pass distributes them by the highest of the `key_bits` bits that a key has; keys
// that are hashes or k-mers spread evenly, so about one comes to a bucket, and what is left is
// nearly in order. Where many come to one bucket they are sorted by comparison, so that poor keys
// cost time only.
template <class T, class KeyAt, class ItemAt, class Before>
void bucket_sort(std::size_t n, T* sorted, int key_bits, KeyAt key, ItemAt item, Before before) {
  using namespace detail;
  if (n <= 12) {
    for (std::size_t i = 0; i < n; ++i) sorted[i] = item(i);
    return insertion_sort(sorted, sorted + n, before);
  }
  // Up to 4,096 items have few buckets, which need no memory of their own.
  const std::size_t most = n <= 16 * few_buckets ? few_buckets : most_buckets;
  const std::size_t buckets = std::min(std::bit_ceil(2 * n), most);
  const int shift = std::max(key_bits + 1 - static_cast<int>(std::bit_width(buckets)), 0);
  const auto bucket = [&](std::size_t i) { return (key(i) >> shift) & (buckets - 1); };
  if (most == few_buckets) {
    std::uint16_t starts[few_buckets + 1];
    std::memset(starts, 0, (buckets + 1) * sizeof starts[0]);
    distribute(n, sorted, std::span(starts, buckets + 1), bucket, item, before);
  } else {
    std::vector<std::size_t> starts(buckets + 1);
    distribute(n, sorted, std::span(starts), bucket, item, before);
  }
}

// The same for items that are in memory.
template <class T, class KeyOf, class Before>
void bucket_sort(std::span<const T> items, T* sorted, int key_bits, KeyOf key, Before before) {
  bucket_sort<T>(
      items.size(), sorted, key_bits, [&](std::size_t i) { return key(items[i]); },
      [&](std::size_t i) { return items[i]; }, before);
}

}  // namespace bear

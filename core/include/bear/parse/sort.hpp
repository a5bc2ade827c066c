// Sorting a few dozen to a few thousand items by key, faster than by comparison alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "bear/parse/buffer.hpp"

namespace bear::parse {

inline constexpr std::size_t sort_buckets = 256;

// Sorts items by `before`, which must order them by key(item) first. One pass distributes them by
// the eight bits of the key from `shift` on, the highest a key has. Keys that are hashes or k-mers
// spread evenly, so about one comes to a bucket; each bucket is then sorted by comparison, so that
// poor keys cost time only. `spare` is room to work in.
template <class T, class KeyOf, class Before>
void bucket_sort(Buffer<T>& items, Buffer<T>& spare, int shift, KeyOf key, Before before) {
  const std::size_t n = items.size();
  std::uint32_t starts[sort_buckets + 1] = {};
  for (const T& item : items) ++starts[((key(item) >> shift) & 255) + 1];
  for (std::size_t b = 1; b <= sort_buckets; ++b) starts[b] += starts[b - 1];
  spare.clear();
  T* sorted = spare.extend(n);
  std::uint32_t next[sort_buckets];
  std::copy_n(starts, sort_buckets, next);
  for (const T& item : items) sorted[next[(key(item) >> shift) & 255]++] = item;
  for (std::size_t b = 0; b < sort_buckets; ++b) {
    T *first = sorted + starts[b], *last = sorted + starts[b + 1];
    if (last - first == 2) {
      if (before(first[1], first[0])) std::swap(first[0], first[1]);
    } else if (last - first > 2) {
      std::sort(first, last, before);
    }
  }
  std::swap(items, spare);
}

}  // namespace bear::parse

// Row hashes of a sketch: MurmurHash3's finaliser over the key, the seed and the row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bear/compat.hpp"
#include "bear/key.hpp"

namespace bear {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// One hash per key and batch; every row of a sketch derives its own from it.
class KeyHash {
 public:
  explicit KeyHash(std::uint64_t seed) : salt_(mix64(seed + kGolden)) {}
  std::uint64_t operator()(Key key) const { return mix64(key ^ salt_); }

 private:
  std::uint64_t salt_;
};

// Row 0 is the key's hash itself, so that a sketch of depth one mixes once.
constexpr std::uint64_t row_hash(std::uint64_t key_hash, std::size_t row) {
  return row == 0 ? key_hash : mix64(key_hash + row * kGolden);
}

// Bucket from bits 1..63 (multiply and keep the high part: any width, no modulo bias that matters)
// and sign from bit 0: taken from one parity, all keys of a bucket would share their sign and
// collisions would never cancel.
constexpr std::uint64_t bucket_of(std::uint64_t hash, std::uint64_t width) {
  return compat::multiply_high_63(hash >> 1, width);
}

constexpr bool negative(std::uint64_t hash) { return (hash & 1) != 0; }

// A draw from [0, 1) of random bits.
constexpr double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace bear

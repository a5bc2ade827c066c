// 64-bit feature keys. A name becomes a key by a keyed hash (SipHash-1-3); integer ids and packed
// k-mers are keys as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "bear/compat.hpp"

namespace bear {

using Key = std::uint64_t;

namespace detail {

// Of one name, or of several side by side: Word is a number or a vector of them.
template <class Word>
struct SipState {
  Word v0, v1, v2, v3;

  BEAR_INLINE static Word rotate_left(const Word& x, int bits) {
    return (x << bits) | (x >> (64 - bits));
  }

  BEAR_INLINE void round() {
    v0 += v1;
    v1 = rotate_left(v1, 13) ^ v0;
    v0 = rotate_left(v0, 32);
    v2 += v3;
    v3 = rotate_left(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate_left(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate_left(v1, 17) ^ v2;
    v2 = rotate_left(v2, 32);
  }

  BEAR_INLINE void absorb(const Word& word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }

  // last: what is left of the bytes, and how many there were above it.
  BEAR_INLINE Word finish(const Word& last) {
    absorb(last);
    v2 ^= 0xff;
    round();
    round();
    round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace detail

// Finaliser of MurmurHash3: every input bit changes every output bit with probability near 1/2.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

// Key of a feature name under a seed: SipHash-1-3 of its bytes, so that nobody who does not know
// the seed can make two names meet on purpose.
class NameHash {
 public:
  explicit NameHash(std::uint64_t seed)
      : k0_(mix64(seed ^ 0x6265617273656564ULL)), k1_(mix64(seed + 0x9e3779b97f4a7c15ULL)) {}

  Key operator()(std::string_view name) const {
    detail::SipState<std::uint64_t> state = fresh();
    const char* at = name.data();
    std::size_t left = name.size();
    for (; left >= 8; left -= 8, at += 8) state.absorb(load<std::uint64_t>(at));
    return state.finish(word(at, left) | (static_cast<std::uint64_t>(name.size()) << 56));
  }

  // keys[i] = that of the bytes ends[i] to ends[i + 1] of a text, after which eight more must be
  // readable. Four names at a time where the processor can: half the time of one after the other.
  void operator()(const char* text, const std::uint32_t* ends, std::size_t n, Key* keys) const;

  // Eight bytes as a number.
  static std::uint64_t eight(const char* at) { return load<std::uint64_t>(at); }

 private:
  detail::SipState<std::uint64_t> fresh() const {
    return {k0_ ^ 0x736f6d6570736575ULL, k1_ ^ 0x646f72616e646f6dULL, k0_ ^ 0x6c7967656e657261ULL,
            k1_ ^ 0x7465646279746573ULL};
  }

  // The last seven bytes or fewer as a number, the first byte lowest whatever the machine, so that
  // a model file means the same everywhere. Loads that overlap spare a copy of unknown length.
  static std::uint64_t word(const char* at, std::size_t bytes) {
    if (bytes >= 4) {
      const std::uint64_t low = load<std::uint32_t>(at);
      const std::uint64_t high = load<std::uint32_t>(at + bytes - 4);
      return low | high << (8 * (bytes - 4));
    }
    if (bytes == 0) return 0;
    const auto byte = [at](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    };
    return byte(0) | byte(bytes / 2) | byte(bytes - 1);
  }

  template <class T>
  static T load(const char* at) {
    unsigned char b[sizeof(T)];
    std::memcpy(b, at, sizeof b);
    T value = 0;
    for (std::size_t i = sizeof b; i-- > 0;) value = static_cast<T>(value << 8 | b[i]);
    return value;
  }

  std::uint64_t k0_, k1_;
};

}  // namespace bear

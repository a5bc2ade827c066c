// 64-bit feature keys. A name becomes a key by a keyed hash (SipHash-1-3); integer ids and packed
// k-mers are keys as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace bear {

using Key = std::uint64_t;

namespace detail {

constexpr std::uint64_t rotate_left(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
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

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
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
    detail::SipState state = fresh();
    const char* at = name.data();
    std::size_t left = name.size();
    for (; left >= 8; left -= 8, at += 8) state.absorb(load<std::uint64_t>(at));
    return finish(state, word(at, left), name.size());
  }

  // The beginning that many names share, hashed once.
  class Beginning {
   private:
    friend class NameHash;
    detail::SipState state;
    std::uint64_t tail;  // bytes not absorbed yet
    int tail_bits;       // of these
    std::size_t size;
  };

  Beginning begin(std::string_view text) const {
    Beginning out;
    out.state = fresh();
    out.size = text.size();
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, at += 8) out.state.absorb(load<std::uint64_t>(at));
    out.tail = word(at, left);
    out.tail_bits = static_cast<int>(8 * left);
    return out;
  }

  // Key of a beginning followed by these n bytes, after which eight more must be readable: words
  // are then joined in registers, and their ends need no branches.
  Key join(const Beginning& beginning, const char* at, std::size_t n) const {
    detail::SipState state = beginning.state;
    std::uint64_t tail = beginning.tail;
    const int bits = beginning.tail_bits;
    // Twice, because a shift by all 64 bits is none.
    const auto rest = [bits](std::uint64_t x) { return x >> (63 - bits) >> 1; };
    std::size_t left = n;
    for (; left >= 8; left -= 8, at += 8) {
      const std::uint64_t x = load<std::uint64_t>(at);
      state.absorb(tail | x << bits);
      tail = rest(x);
    }
    const std::uint64_t x = load<std::uint64_t>(at) & ((std::uint64_t{1} << (8 * left)) - 1);
    tail |= x << bits;
    if (static_cast<int>(8 * left) + bits >= 64) {
      state.absorb(tail);
      tail = rest(x);
    }
    return finish(state, tail, beginning.size + n);
  }

 private:
  detail::SipState fresh() const {
    return {k0_ ^ 0x736f6d6570736575ULL, k1_ ^ 0x646f72616e646f6dULL, k0_ ^ 0x6c7967656e657261ULL,
            k1_ ^ 0x7465646279746573ULL};
  }

  static Key finish(detail::SipState state, std::uint64_t tail, std::size_t size) {
    state.absorb(tail | (static_cast<std::uint64_t>(size) << 56));
    state.v2 ^= 0xff;
    state.round();
    state.round();
    state.round();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
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

#include "bear/compat.hpp"

#if BEAR_AVX2
// All calls that pass vectors are inlined, so how others would pass them does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#include <algorithm>

#include "bear/key.hpp"

namespace bear {

namespace {

#if BEAR_AVX2

// Half as wide, without AVX2, this would be slower than one name after the other.
constexpr std::size_t kLanes = 4;
using Words [[gnu::vector_size(kLanes * sizeof(std::uint64_t))]] = std::uint64_t;
using State = detail::SipState<std::uint64_t>;
using States = detail::SipState<Words>;

// Lanes whose name has ended keep their state.
BEAR_INLINE void absorb_some(States& all, const Words& words, const Words& from) {
  States next = all;
  next.absorb(words);
  const auto goes_on = from != 0;
  all.v0 = goes_on ? next.v0 : all.v0;
  all.v1 = goes_on ? next.v1 : all.v1;
  all.v2 = goes_on ? next.v2 : all.v2;
  all.v3 = goes_on ? next.v3 : all.v3;
}

BEAR_INLINE void hash_four(const State& fresh, const char* text, const std::uint32_t* ends,
                           Key* keys) {
  const char* at[kLanes];
  Words left{}, last{};
  std::uint64_t longest = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    at[i] = text + ends[i];
    const std::uint64_t size = ends[i + 1] - ends[i];
    last[i] = size << 56;
    left[i] = size;
    longest = std::max(longest, size);
  }
  States all{Words{} + fresh.v0, Words{} + fresh.v1, Words{} + fresh.v2, Words{} + fresh.v3};
  Words words{};
  for (; longest >= 8; longest -= 8) {
    Words some{};
    for (std::size_t i = 0; i < kLanes; ++i) {
      words[i] = NameHash::eight(at[i]);
      const std::uint64_t goes_on = left[i] >= 8;
      some[i] = goes_on;
      at[i] += 8 * goes_on;
      left[i] -= 8 * goes_on;
    }
    absorb_some(all, words, some);
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t mask = (std::uint64_t{1} << (8 * left[i])) - 1;
    words[i] = NameHash::eight(at[i]) & mask;
  }
  const Words found = all.finish(words | last);
  for (std::size_t i = 0; i < kLanes; ++i) keys[i] = found[i];
}

[[gnu::target("avx2")]] void hash_fours(const State& fresh, const char* text,
                                        const std::uint32_t* ends, std::size_t n, Key* keys) {
  for (std::size_t i = 0; i < n; i += kLanes) hash_four(fresh, text, ends + i, keys + i);
}

const bool wide = __builtin_cpu_supports("avx2") != 0;

#endif

}  // namespace

void NameHash::operator()(const char* text, const std::uint32_t* ends, std::size_t n,
                          Key* keys) const {
  std::size_t i = 0;
#if BEAR_AVX2
  if (wide) hash_fours(fresh(), text, ends, i = n / kLanes * kLanes, keys);
#endif
  for (; i < n; ++i) keys[i] = (*this)({text + ends[i], ends[i + 1] - ends[i]});
}

}  // namespace bear

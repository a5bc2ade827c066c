// Where the separators of a line are, found sixteen bytes at a time: a loop over tokens then knows
// where each ends before it reads it, so the processor works on several at once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "bear/parse/buffer.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bear::parse {

class Marks {
 public:
  // Of a longer line there may be more than is worth the memory.
  static constexpr std::size_t max_line_bytes = std::size_t{1} << 18;

  // Finds every blank and control byte, every colon, and every byte that is `other`; the end of the
  // line counts as one more.
  void find(std::string_view line, char other) {
    const std::size_t n = line.size();
    places_.clear();
    std::uint32_t* to = places_.extend(n + step + 1);
    std::uint32_t* const first = to;
    std::size_t at = 0;
    for (; n - at >= 64; at += 64) to = write(line.data() + at, other, at, to);
    char rest[64];
    std::memset(rest, 'x', sizeof rest);
    if (n > at) std::memcpy(rest, line.data() + at, n - at);
    to = write(rest, other, at, to);
    *to++ = static_cast<std::uint32_t>(n);
    places_.truncate(static_cast<std::size_t>(to - first));
  }

  const std::uint32_t* begin() const { return places_.begin(); }
  const std::uint32_t* end() const { return places_.end(); }

 private:
  // So many are written at once, as if there were no fewer: how many there are cannot be foreseen.
  static constexpr int step = 12;

  static std::uint32_t* write(const char* bytes, char other, std::size_t at, std::uint32_t* to) {
    std::uint64_t found = 0;
    for (int i = 0; i < 4; ++i) found |= std::uint64_t{in_sixteen(bytes + 16 * i, other)} << 16 * i;
    const int n = count(found);
    for (int done = 0; done < n; done += step) {
      for (int i = 0; i < step; ++i) {
        to[done + i] =
            static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(std::countr_zero(found));
        found &= found - 1;
      }
    }
    return to + n;
  }

  // std::popcount is a call where the processor may lack the instruction.
  static int count(std::uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555ULL;
    x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
    return static_cast<int>((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL) >>
                            56);
  }

  // One bit for each of sixteen bytes.
  static std::uint32_t in_sixteen(const char* bytes, char other) {
#ifdef __SSE2__
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    const __m128i blank = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x);
    const __m128i sign = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(':')),
                                      _mm_cmpeq_epi8(x, _mm_set1_epi8(other)));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(blank, sign)));
#else
    std::uint32_t found = 0;
    for (int i = 0; i < 16; ++i) {
      const char c = bytes[i];
      const bool marked = static_cast<unsigned char>(c) <= ' ' || c == ':' || c == other;
      found |= std::uint32_t{marked} << i;
    }
    return found;
#endif
  }

  Buffer<std::uint32_t> places_;
};

}  // namespace bear::parse

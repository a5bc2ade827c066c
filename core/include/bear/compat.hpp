// What compilers differ in. Each has a fallback in standard C++ with the same results; BEAR_PLAIN
// (CMake: -DBEAR_PLAIN=ON) chooses all of them, so that the tests can run on them anywhere.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(BEAR_PLAIN)
#define BEAR_GNU 0
#elif defined(__GNUC__)  // Clang too
#define BEAR_GNU 1
#else
#define BEAR_GNU 0
#endif

#if BEAR_GNU
#define BEAR_INLINE [[gnu::always_inline]] inline
#define BEAR_NOINLINE [[gnu::noinline]]
#else
#define BEAR_INLINE inline
#define BEAR_NOINLINE
#endif

// std::from_chars for double: libc++ has it from LLVM 20 on, Apple's from macOS 26 on.
#if defined(BEAR_PLAIN) || defined(__APPLE__) || !defined(__cpp_lib_to_chars)
#define BEAR_FROM_CHARS 0
#else
#define BEAR_FROM_CHARS 1
#endif

// Four names are hashed at a time, in one vector, where the processor has AVX2.
#if BEAR_GNU && defined(__x86_64__) && defined(__ELF__)
#define BEAR_AVX2 1
#else
#define BEAR_AVX2 0
#endif

namespace bear::compat {

// A number of 64 bits that is an index into memory; on 32-bit systems larger ones cannot be.
constexpr std::size_t to_size(std::uint64_t number) { return static_cast<std::size_t>(number); }

// Bits 63 to 126 of a * b.
constexpr std::uint64_t multiply_high_63(std::uint64_t a, std::uint64_t b) {
#if BEAR_GNU && defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 63);
#else
  const std::uint64_t a0 = a & 0xffffffffU, a1 = a >> 32, b0 = b & 0xffffffffU, b1 = b >> 32;
  const std::uint64_t low = a0 * b0;
  const std::uint64_t middle = a1 * b0 + (low >> 32);
  const std::uint64_t other = a0 * b1 + (middle & 0xffffffffU);
  const std::uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
  return high << 1 | (other >> 31 & 1);
#endif
}

// Whether a * b does not fit; else it is in `product`.
constexpr bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& product) {
#if BEAR_GNU
  return __builtin_mul_overflow(a, b, &product);
#else
  product = a * b;
  return a != 0 && product / a != b;
#endif
}

// Says that memory will soon be read.
inline void prefetch([[maybe_unused]] const void* at) {
#if BEAR_GNU
  __builtin_prefetch(at);
#endif
}

// Two doubles that are added and multiplied at once.
#if BEAR_GNU
using Two [[gnu::vector_size(2 * sizeof(double))]] = double;
#else
struct Two {
  double values[2];

  double operator[](std::size_t i) const { return values[i]; }
  Two operator*(double x) const { return {{values[0] * x, values[1] * x}}; }
  Two& operator+=(const Two& other) {
    values[0] += other.values[0];
    values[1] += other.values[1];
    return *this;
  }
};
#endif

}  // namespace bear::compat

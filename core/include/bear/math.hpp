// exp, log and log1p that give the same bits on every machine. The C library's differ between
// systems, and on one system between processors with and without fused multiply-add, which would
// make another model of the same data.
//
// At most one unit in the last place (1 ulp) from the true value for every double. Only additions,
// multiplications, divisions and integer operations, each rounded as IEEE 754 says, in a fixed
// order and without tables or branches: a loop over an array is compiled to vector instructions.
// Use nothing else for what is saved or predicted: no pow, no cbrt; sqrt is exact by IEEE 754.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>

// Wider intermediate results (x87) would round twice; fused ones are off in CMakeLists.txt.
static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559);

namespace bear::math {

// The logarithm of 2, as every compiler reads it: log(2.0) may be folded with another last bit.
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

namespace detail {

// ln 2 in two parts. The first has 20 zero bits at its end: times an exponent it is exact.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

// Adding this rounds a double below 2^51 in magnitude to an integer, which is then found in the
// low bits: the conversion that processors without AVX-512 lack for vectors.
constexpr double kToInteger = 0x1.8p52;
constexpr std::uint64_t kToIntegerBits = std::bit_cast<std::uint64_t>(kToInteger);

constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentBias = 1023;

// A mantissa m in [sqrt(1/2), sqrt(2)), and the exponent to which 2 is raised, of a normal number.
struct Parts {
  double mantissa, exponent;
};

inline Parts split(double x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;  // bits of sqrt(1/2)
  constexpr std::uint64_t kOne = kExponentBias << kMantissaBits;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
  const std::uint64_t moved = std::bit_cast<std::uint64_t>(x) + (kOne - kRootHalf);
  const double mantissa = std::bit_cast<double>((moved & kMantissa) + kRootHalf);
  const std::uint64_t exponent = kToIntegerBits - kExponentBias + (moved >> kMantissaBits);
  return {mantissa, std::bit_cast<double>(exponent) - kToInteger};
}

// log(1 + f) + exponent ln 2 + small, for 1 + f in [sqrt(1/2), sqrt(2)): with s = f / (2 + f) it is
// 2 s + 2/3 s^3 + 2/5 s^5 + ..., whose terms from s^3 on are a polynomial (the coefficients are
// those of Sun's fdlibm, within 2^-58.45).
inline double log_of_parts(double f, double exponent, double small) {
  const double s = f / (2.0 + f);
  const double z = s * s, w = z * z;
  const double even =
      w * (0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3));
  const double odd =
      z * (0x1.5555555555593p-1 +
           w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3)));
  const double half_square = 0.5 * f * f;
  const double rest = s * (half_square + (even + odd)) + (exponent * kLn2Low + small);
  return exponent * kLn2High - ((half_square - rest) - f);
}

}  // namespace detail

inline double exp(double x) {
  using namespace detail;
  constexpr double kLowest = -746.0, kHighest = 710.0;  // 0 and infinity from there on
  double bounded = x < kLowest ? kLowest : x;           // NaN stays NaN
  bounded = bounded > kHighest ? kHighest : bounded;
  // x = n ln 2 + r + tail with |r| <= ln 2 / 2
  const double shifted = bounded * 0x1.71547652b82fep0 + kToInteger;
  const double n = shifted - kToInteger;
  const double high = bounded - n * kLn2High, low = n * kLn2Low;
  const double r = high - low;
  const double tail = (high - r) - low;
  // exp(r) = 1 + r + r^2 p(r), with the rounding error of 1 + r added again; within 2^-64.
  const double r2 = r * r, r4 = r2 * r2;
  const double p01 = 0.5 + r * 0x1.5555555555555p-3;
  const double p23 = 0x1.5555555555503p-5 + r * 0x1.111111110ec5dp-7;
  const double p45 = 0x1.6c16c16c3048cp-10 + r * 0x1.a01a01b37e37fp-13;
  const double p67 = 0x1.a01a01368f8a2p-16 + r * 0x1.71ddf020cdedcp-19;
  const double p89 = 0x1.27e5b44634161p-22 + r * 0x1.af6be7e49d961p-26;
  const double upper = (p45 + r2 * p67) + r4 * (p89 + r2 * 0x1.1e3d2d1a6d39ap-29);
  const double p = (p01 + r2 * p23) + r4 * upper;
  const double sum = 1.0 + r;
  const double rest = (1.0 - sum) + r;
  const double value = sum + (rest + (tail + r2 * p));
  // Times 2^n in two factors, because of results below the normal numbers.
  const std::uint64_t power =
      std::bit_cast<std::uint64_t>(shifted) - (kToIntegerBits - 2 * kExponentBias);
  const std::uint64_t half = power >> 1;
  return value * std::bit_cast<double>(half << kMantissaBits) *
         std::bit_cast<double>((power - half) << kMantissaBits);
}

inline double log(double x) {
  using namespace detail;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kScale = 0x1p54;
  const bool subnormal = x < std::numeric_limits<double>::min();
  const Parts parts = split(subnormal ? x * kScale : x);
  const double exponent = subnormal ? parts.exponent - 54.0 : parts.exponent;
  double value = log_of_parts(parts.mantissa - 1.0, exponent, 0.0);
  value = x < kInfinity ? value : x;  // NaN too
  value = x > 0.0 ? value : (x == 0.0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN());
  return value;
}

// log(1 + x), also where 1 + x is rounded.
inline double log1p(double x) {
  using namespace detail;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double u = 1.0 + x;
  const Parts parts = split(u);
  // What the rounding of 1 + x lost, over 1 + x. Without an exponent x itself is the fraction.
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const bool direct = parts.exponent == 0.0;
  const double f = direct ? x : parts.mantissa - 1.0;
  double value = log_of_parts(f, parts.exponent, direct ? 0.0 : lost / u);
  value = x < kInfinity ? value : x;
  value = x > -1.0 ? value : (x == -1.0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN());
  return value;
}

}  // namespace bear::math

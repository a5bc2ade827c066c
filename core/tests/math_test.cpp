#include "bear/math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "helpers.hpp"

using namespace bear;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kMost = std::numeric_limits<double>::max();

// Whether the C library has a wider type to compare with.
constexpr bool kWide = std::numeric_limits<long double>::digits > 53;

using Function = double (*)(double);

// FNV-1a of the bits of a function's values at many arguments.
std::uint64_t digest(Function function, const std::vector<double>& arguments) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const double x : arguments) {
    const double value = function(x);
    const auto bits = std::isnan(value) ? 0 : std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8)
      hash = (hash ^ (bits >> shift & 0xff)) * 0x100000001b3;
  }
  return hash;
}

// Every exponent and sign, and numbers in [-40, 40], where most arguments are.
std::vector<double> arguments() {
  test::Random random(1);
  std::vector<double> found;
  for (int i = 0; i < 100000; ++i) {
    found.push_back(std::bit_cast<double>(random.next()));
    found.push_back(80.0 * random.uniform() - 40.0);
  }
  return found;
}

// Largest difference to the long double of the C library, in ulps of that; tests/test_math.py
// compares with exact values.
double worst(Function ours, long double (*theirs)(long double), double lowest, double highest) {
  test::Random random(2);
  double found = 0.0;
  for (int i = 0; i < 200000; ++i) {
    const double x = lowest + (highest - lowest) * random.uniform();
    const auto exact = theirs(static_cast<long double>(x));
    const double near = static_cast<double>(exact);
    const auto ulp =
        static_cast<long double>(std::nextafter(std::abs(near), kInfinity) - std::abs(near));
    found = std::max(
        found, static_cast<double>(std::abs(static_cast<long double>(ours(x)) - exact) / ulp));
  }
  return found;
}

}  // namespace

TEST_CASE("exp, log and log1p have these bits on every machine") {
  const std::vector<double> at = arguments();
  CHECK(digest(math::exp, at) == 14810497200217568156ULL);
  CHECK(digest(math::log, at) == 2583255537217945629ULL);
  CHECK(digest(math::log1p, at) == 3626719232738120526ULL);
}

TEST_CASE("exp, log and log1p are within one ulp" * doctest::skip(!kWide)) {
  CHECK(worst(math::exp, std::exp, -700.0, 700.0) < 1.0);
  CHECK(worst(math::exp, std::exp, -1.0, 1.0) < 1.0);
  CHECK(worst(math::log, std::log, 0x1p-1000, 3.0) < 1.0);
  CHECK(worst(math::log, std::log, 0.0, 1e300) < 1.0);
  CHECK(worst(math::log1p, std::log1p, -0.999, 1.0) < 1.0);
  CHECK(worst(math::log1p, std::log1p, -1e-9, 1e-9) < 1.0);
  CHECK(worst(math::log1p, std::log1p, 0.0, 1e20) < 1.0);
}

TEST_CASE("exp, log and log1p at the ends of their range") {
  CHECK(math::exp(0.0) == 1.0);
  CHECK(math::exp(-kInfinity) == 0.0);
  CHECK(math::exp(-kMost) == 0.0);
  CHECK(math::exp(kInfinity) == kInfinity);
  CHECK(math::exp(kMost) == kInfinity);
  CHECK(math::exp(709.782712893384) < kInfinity);
  CHECK(math::exp(709.782712893385) == kInfinity);
  CHECK(math::exp(-745.1332191019411) == kLeast);
  CHECK(math::exp(-745.1332191019412) == 0.0);
  CHECK(math::exp(kLeast) == 1.0);
  CHECK(std::isnan(math::exp(NAN)));

  CHECK(math::log(1.0) == 0.0);
  CHECK(math::log(2.0) == math::kLn2);
  CHECK(math::log(0.0) == -kInfinity);
  CHECK(math::log(-0.0) == -kInfinity);
  CHECK(math::log(kInfinity) == kInfinity);
  CHECK(math::log(kLeast) == -1074.0 * math::kLn2);
  CHECK(std::isnan(math::log(-kLeast)));
  CHECK(std::isnan(math::log(-kInfinity)));
  CHECK(std::isnan(math::log(NAN)));

  CHECK(math::log1p(0.0) == 0.0);
  CHECK(math::log1p(kLeast) == kLeast);
  CHECK(math::log1p(-kLeast) == -kLeast);
  CHECK(math::log1p(1.0) == math::kLn2);
  CHECK(math::log1p(-1.0) == -kInfinity);
  CHECK(math::log1p(kInfinity) == kInfinity);
  CHECK(std::isnan(math::log1p(-1.0000000000000002)));
  CHECK(std::isnan(math::log1p(-kInfinity)));
  CHECK(std::isnan(math::log1p(NAN)));
}

TEST_CASE("a product and a sum are rounded one by one") {
  const volatile double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30, c = -1.0;
  CHECK(a * b + c == 0.0);  // a fused operation gives -2^-60
}

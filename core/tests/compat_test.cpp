#include "bear/compat.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "bear/parse/decimal.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

// By 16 bits at a time, as on paper.
std::uint64_t multiplied(std::uint64_t a, std::uint64_t b) {
  std::uint64_t parts[9] = {};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t product = (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);
      parts[i + j] += product & 0xffff;
      parts[i + j + 1] += product >> 16;
    }
  }
  for (int i = 0; i < 8; ++i) {
    parts[i + 1] += parts[i] >> 16;
    parts[i] &= 0xffff;
  }
  std::uint64_t high = 0;
  for (int i = 7; i >= 4; --i) high = high << 16 | parts[i];
  return high << 1 | parts[3] >> 15;
}

double exact(const std::string& text) {
  return parse::exact_decimal(text.data(), text.data() + text.size());
}

void check_as_strtod(const std::string& text) {
  CAPTURE(text);
  CHECK(exact(text) == std::strtod(text.c_str(), nullptr));
}

}  // namespace

TEST_CASE("bits 63 to 126 of a product are those of long multiplication") {
  test::Random random(1);
  constexpr auto kAll = ~std::uint64_t{0};
  for (const std::uint64_t a : {std::uint64_t{0}, std::uint64_t{1}, kAll >> 1, kAll}) {
    for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{1}, kAll >> 1, kAll}) {
      CHECK(compat::multiply_high_63(a, b) == multiplied(a, b));
    }
  }
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t a = random.next() >> random.below(64), b = random.next();
    CHECK(compat::multiply_high_63(a, b) == multiplied(a, b));
  }
}

TEST_CASE("a product that does not fit is detected") {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  std::size_t product = 1;
  CHECK_FALSE(compat::multiply_overflows(0, kMost, product));
  CHECK(product == 0);
  CHECK_FALSE(compat::multiply_overflows(kMost, 1, product));
  CHECK(product == kMost);
  CHECK_FALSE(compat::multiply_overflows(kMost / 2, 2, product));
  CHECK(product == kMost - 1);
  CHECK(compat::multiply_overflows(kMost / 2 + 1, 2, product));
  CHECK(compat::multiply_overflows(kMost, kMost, product));
}

TEST_CASE("two doubles at once are the same as one by one") {
  compat::Two sum{1.0, 2.0};
  sum += compat::Two{0.1, -3.0} * 7.0;
  CHECK(sum[0] == 1.0 + 0.1 * 7.0);
  CHECK(sum[1] == 2.0 + -3.0 * 7.0);
}

TEST_CASE("an exact decimal is the nearest double") {
  for (const char* text : {"0",
                           "0e9",
                           "0.000",
                           "1",
                           "0.1",
                           "123456789012345678901234567890",
                           "1e23",
                           "8.5e-300",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "4.9e-324",
                           "2.4703282292062328e-324",
                           "2.4703282292062327e-324",
                           "1e-400",
                           "1e-99999999",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "1e309",
                           "1e99999999",
                           "9007199254740993",
                           "9007199254740992.999",
                           "9007199254740993.0000000000000000000001",
                           "9007199254740995",
                           ".5",
                           "5.",
                           "1e-323",
                           "7.4e-324",
                           "7.5e-324",
                           "0e-5000"}) {
    check_as_strtod(text);
  }
}

TEST_CASE("an exact decimal of the middle between two doubles rounds to even, and of more up") {
  // 2^-1075, all 752 digits of it: half of the least double.
  char middle[1200];
  const int size = std::snprintf(middle, sizeof middle, "%.1074f", 0x1p-1074);
  REQUIRE(size > 1000);
  // Half of it: digit by digit, with a 5 at the end.
  std::string half;
  int left = 0;
  for (const char c : std::string(middle)) {
    if (c == '.') {
      half += c;
      continue;
    }
    const int digit = 10 * left + (c - '0');
    half += static_cast<char>('0' + digit / 2);
    left = digit % 2;
  }
  half += '5';
  CHECK(exact(half) == 0.0);
  CHECK(exact(half + "0000") == 0.0);
  CHECK(exact(half + "0001") == 0x1p-1074);
  CHECK(exact(half + std::string(2000, '0') + "1") == 0x1p-1074);
  check_as_strtod(std::string(1000, '1'));
  check_as_strtod("0." + std::string(1000, '9'));
  check_as_strtod(std::string(400, '0') + "1" + std::string(300, '0') + ".5");
}

TEST_CASE("exact decimals of random doubles are these doubles") {
  test::Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const double value = std::abs(std::bit_cast<double>(random.next()));
    if (!std::isfinite(value)) continue;
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    CAPTURE(text);
    if (std::string(text).find('.') == std::string::npos) continue;  // another locale
    CHECK(exact(text) == value);
    std::snprintf(text, sizeof text, "%.15g", value);
    check_as_strtod(text);
  }
}

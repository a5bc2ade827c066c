#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "bear/parse/number.hpp"

using namespace bear::parse;

namespace {

double number(const std::string& text) {
  double out = NAN;
  return read_number(text, out) ? out : NAN;
}

}  // namespace

TEST_CASE("numbers are the nearest doubles") {
  const std::string mantissas[] = {"0",
                                   "1",
                                   "7.",
                                   ".5",
                                   "3.14",
                                   "0.039656971",
                                   "12345678",
                                   "1234567890.12345678",
                                   "00012.5",
                                   "9007199254740993",
                                   "123456789012345678901234567890",
                                   "0.000000000000000000000000000001234567",
                                   "3.9656971",
                                   "99999999.99999999",
                                   "8.5"};
  const std::string exponents[] = {"",    "e0",   "e5",    "E-5",  "e+22", "e-22",
                                   "e23", "e-23", "e-300", "e270", "e007"};
  for (const std::string& m : mantissas)
    for (const std::string& e : exponents)
      for (const char* sign : {"", "-", "+"}) {
        const std::string text = sign + m + e;
        CAPTURE(text);
        CHECK(number(text) == std::strtod(text.c_str(), nullptr));
      }
}

TEST_CASE("digits are read the same whatever follows them") {
  for (std::size_t digits = 1; digits <= 18; ++digits) {
    const std::string text = std::string("123456789123456789").substr(0, digits);
    for (const std::string tail : {"", " ", ":", "\n", " 1:2 3:4 5:6", "abcdefghij", "/////////",
                                   "\xb0\xb1\xb2\xb3\xb4\xb5\xb6\xb7"}) {
      const std::string line = text + tail;
      std::uint64_t out = 0;
      bool fits = false;
      CAPTURE(line);
      CHECK(read_integer(line.data(), line.data() + line.size(), out, fits) ==
            line.data() + digits);
      CHECK(out == std::strtoull(text.c_str(), nullptr, 10));
      CHECK(fits);
    }
  }
}

TEST_CASE("what is not a number is refused") {
  for (const char* text : {"", "-", "+", ".", "e5", "1e", "1e+", "1,5", "0x1F", "nan", "inf",
                           "1.5abc", "--1", "1 ", " 1", "1.2.3", "1e5.0", "infinity"}) {
    CAPTURE(text);
    double out;
    CHECK_FALSE(read_number(std::string_view(text), out));
  }
}

TEST_CASE("too large becomes infinite and too small becomes zero") {
  CHECK(number("1e400") == INFINITY);
  CHECK(number("-1e400") == -INFINITY);
  CHECK(number("1e99999999999999999999") == INFINITY);
  CHECK(number("1e-400") == 0);
  CHECK(number("1e-99999999999999999999") == 0);
  CHECK(number("0e99999999") == 0);
  CHECK(number("0." + std::string(400, '0') + "1e5") == 0);
  CHECK(number(std::string(400, '9')) == INFINITY);
  CHECK(number("0." + std::string(400, '0') + "1e401") == 1);
  CHECK(number("1" + std::string(400, '0') + "e-400") == 1);
}

TEST_CASE("integers never wrap") {
  const auto integer = [](const std::string& text, std::uint64_t& out) {
    bool fits = false;
    return read_integer(text.data(), text.data() + text.size(), out, fits) != nullptr && fits;
  };
  std::uint64_t out = 0;
  CHECK(integer("18446744073709551615", out));
  CHECK(out == 18446744073709551615ULL);
  CHECK(integer("000000000000018446744073709551615", out));
  CHECK(out == 18446744073709551615ULL);
  for (const char* text : {"18446744073709551616", "18446744073709551617", "19999999999999999999",
                           "20000000000000000000", "99999999999999999999", "36893488147419103233",
                           "184467440737095516150"})
    CHECK_FALSE(integer(text, out));
  CHECK(integer("10000000000000000000", out));
  CHECK(out == 10000000000000000000ULL);
  CHECK_FALSE(integer("", out));
  CHECK_FALSE(integer("-1", out));
}

TEST_CASE("words for what is not finite are known in any case") {
  for (const char* word : {"nan", "NaN", "INF", "Infinity"}) CHECK(is_non_finite_word(word));
  for (const char* word : {"", "na", "nano", "infinite", "infinityy"})
    CHECK_FALSE(is_non_finite_word(word));
}

TEST_CASE("a short number is read as any number is, or left to it") {
  const auto read = [](std::string text, double& out) {
    const std::size_t n = text.size();
    text.resize(n + short_number_bytes, ' ');
    return read_short_number(text.data(), n, out);
  };
  double value = 0;
  for (const char* text : {"0", "7", "12345678", "0.1", "0.128801", "9.9999999", "3.0"}) {
    double slow = 0;
    REQUIRE(read_number(std::string_view(text), slow));
    REQUIRE(read(text, value));
    CHECK(value == slow);
  }
  for (const char* text : {"", "-1", "+1", ".5", "5.", "1e3", "1.5e3", "123456789", "12.5", "x",
                           "0.12345678", "0.1x", "a.5", "0x1F", "1/2", "1:2", "0..1"}) {
    CHECK_FALSE(read(text, value));
  }
}

TEST_CASE("every text of up to three bytes: short numbers agree with long ones") {
  const std::string bytes = "09.:/ +-eE";
  std::string text;
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        text = {a, b, c};
        for (std::size_t n = 1; n <= 3; ++n) {
          double fast = 0, slow = 0;
          const std::string padded = text.substr(0, n) + std::string(short_number_bytes, '\n');
          if (!read_short_number(padded.data(), n, fast)) continue;
          CHECK(read_number(std::string_view(padded).substr(0, n), slow));
          CHECK(fast == slow);
        }
      }
    }
  }
}

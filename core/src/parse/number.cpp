#include "bear/parse/number.hpp"

#include <charconv>
#include <limits>
#include <system_error>

#include "bear/compat.hpp"
#include "bear/parse/decimal.hpp"

namespace bear::parse {

namespace {

#if BEAR_FROM_CHARS

// Whether a number outside the range of doubles is too large rather than too small: the power of
// ten of its first non-zero digit tells, and is far from 0 in either case.
bool is_large(const char* at, const char* end) {
  std::ptrdiff_t power = 0;
  bool point = false, found = false;
  for (; at != end && (*at | 0x20) != 'e'; ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    found = found || *at != '0';
    if (found && !point) ++power;
    if (!found && point) --power;
  }
  if (at == end) return power > 0;
  const bool down = *++at == '-';
  if (*at == '-' || *at == '+') ++at;
  // Saturates far above any length a line can have.
  std::int64_t exponent = 0;
  for (; at != end; ++at)
    if (exponent < (std::int64_t{1} << 48)) exponent = exponent * 10 + (*at - '0');
  return power + (down ? -exponent : exponent) > 0;
}

double without_sign(const char* at, const char* end) {
  double value = 0;
  if (std::from_chars(at, end, value).ec == std::errc::result_out_of_range) {
    value = is_large(at, end) ? std::numeric_limits<double>::infinity() : 0;
  }
  return value;
}

#else

double without_sign(const char* at, const char* end) { return exact_decimal(at, end); }

#endif

// Any number the short path does not take: [at, end) is known to have the right form.
double slow_number(const char* at, const char* end) {
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  const double value = without_sign(at, end);
  return negative ? -value : value;
}

}  // namespace

const char* read_number(const char* at, const char* end, double& out) {
  using namespace detail;
  const char* start = at;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  std::uint64_t digits = 0;
  const char* whole = at;
  at = take_digits(at, end, digits);
  std::ptrdiff_t n = at - whole;
  std::ptrdiff_t exponent = 0;
  if (at != end && *at == '.') {
    const char* fraction = ++at;
    at = take_digits(at, end, digits);
    exponent = fraction - at;
    n -= exponent;
  }
  if (n == 0) return nullptr;
  if (at != end && (*at | 0x20) == 'e') {
    const bool down = ++at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    const char* first = at;
    std::uint64_t power = 0;
    at = take_digits(at, end, power);
    if (at == first) return nullptr;
    if (at - first > 6) n = 20;  // the sum below must not wrap; the long path will do it
    exponent += (down ? -1 : 1) * static_cast<std::ptrdiff_t>(power % 1000000);
  }
  // Both factors are exact, so one rounding gives the nearest double (Clinger's fast path).
  if (n <= 19 && digits <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    const double d = static_cast<double>(digits);
    const double value = exponent < 0 ? d / powers_of_ten[-exponent] : d * powers_of_ten[exponent];
    out = negative ? -value : value;
  } else {
    out = slow_number(start, at);
  }
  return at;
}

bool is_non_finite_word(std::string_view text) {
  char lower[8];
  if (text.size() > sizeof lower) return false;
  for (std::size_t i = 0; i < text.size(); ++i) lower[i] = static_cast<char>(text[i] | 0x20);
  const std::string_view word(lower, text.size());
  return word == "nan" || word == "inf" || word == "infinity";
}

}  // namespace bear::parse

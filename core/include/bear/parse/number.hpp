// Decimal numbers, the same in every locale.
//
//   number = [ "+" | "-" ] ( digits [ "." [ digits ] ] | "." digits ) [ ( "e" | "E" ) [ sign ]
//   digits ]
//
// No hexadecimal, no infinity, no NaN. The result is the nearest double.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bear::parse {

namespace detail {

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t small_powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                                        100000, 1000000, 10000000, 100000000};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Adds the decimal digits at `at` to `number` and returns where they end. Eight bytes are read as
// one word: its leading digits are moved to the top, and three multiplications add them up.
inline const char* take_digits(const char* at, const char* end, std::uint64_t& number) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      word ^= 0x3030303030303030ULL;
      const std::uint64_t others =
          (word | ((word & 0x7f7f7f7f7f7f7f7fULL) + 0x7676767676767676ULL)) & 0x8080808080808080ULL;
      const int n = others == 0 ? 8 : std::countr_zero(others) / 8;
      if (n == 0) return at;
      word <<= 64 - 8 * n;
      word = (word * 10) + (word >> 8);
      word = ((word & 0x000000ff000000ffULL) * 0x000f424000000064ULL +
              ((word >> 16) & 0x000000ff000000ffULL) * 0x0000271000000001ULL) >>
             32;
      number = number * small_powers_of_ten[n] + word;
      at += n;
      if (n < 8) return at;
    }
  }
  for (; at != end && is_digit(*at); ++at)
    number = number * 10 + static_cast<std::uint64_t>(*at - '0');
  return at;
}

// Any number the short path does not take: [at, end) is known to have the right form.
double slow_number(const char* at, const char* end);
const char* read_any_number(const char* at, const char* end, double& out);

}  // namespace detail

// Reads the number at the start of [at, end). Returns where it ends, or nullptr when there is none.
// A number too large for a double becomes an infinity of its sign, one too small becomes 0.
//
// Here only numbers such as 0.128801: one digit, a point and at most seven more, which most values
// are. Both parts of the quotient are exact, so it is the nearest double (Clinger's fast path).
[[gnu::always_inline]] inline const char* read_number(const char* at, const char* end,
                                                      double& out) {
  using namespace detail;
  if (end - at > 10 && at[1] == '.' && is_digit(*at)) [[likely]] {
    std::uint64_t fraction = 0;
    const char* stop = take_digits(at + 2, at + 10, fraction);
    const auto n = static_cast<std::size_t>(stop - at - 2);
    if (n < 8 && (*stop | 0x20) != 'e') [[likely]] {
      fraction += static_cast<std::uint64_t>(*at - '0') * small_powers_of_ten[n];
      out = static_cast<double>(fraction) / powers_of_ten[n];
      return stop;
    }
  }
  return read_any_number(at, end, out);
}

// True when all of `text` is one number.
inline bool read_number(std::string_view text, double& out) {
  return read_number(text.data(), text.data() + text.size(), out) == text.data() + text.size() &&
         !text.empty();
}

// Reads an unsigned integer at the start of [at, end). Returns where it ends, nullptr when there is
// none; `fits` tells whether it is at most 2^64 - 1.
inline const char* read_integer(const char* at, const char* end, std::uint64_t& out, bool& fits) {
  std::uint64_t number = 0;
  const char* stop = detail::take_digits(at, end, number);
  if (stop == at) return nullptr;
  fits = true;
  if (stop - at > 19) {
    while (at != stop && *at == '0') ++at;
    // Twenty digits wrap at most once, and then to less than 10^19.
    fits = stop - at < 20 || (stop - at == 20 && *at == '1' && number >= 10000000000000000000ULL);
  }
  out = number;
  return stop;
}

// "nan", "inf" and "infinity" in any case: words that other programs read as numbers.
bool is_non_finite_word(std::string_view text);

}  // namespace bear::parse

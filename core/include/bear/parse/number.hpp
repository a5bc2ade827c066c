// Decimal numbers, the same in every locale.
//
//   number = [ "+" | "-" ] ( digits [ "." [ digits ] ] | "." digits ) [ ( "e" | "E" ) [ sign ]
//   digits ]
//
// No hexadecimal, no infinity, no NaN. The result is the nearest double.
#pragma once

#include <bit>
#include <cstddef>
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

// Marks every byte of the word that is above 9.
inline std::uint64_t no_digits(std::uint64_t word) {
  return (word | ((word & 0x7f7f7f7f7f7f7f7fULL) + 0x7676767676767676ULL)) & 0x8080808080808080ULL;
}

// Eight digits as bytes 0 to 9, the first lowest, added up by three multiplications.
inline std::uint64_t add_up(std::uint64_t word) {
  word = (word * 10) + (word >> 8);
  return ((word & 0x000000ff000000ffULL) * 0x000f424000000064ULL +
          ((word >> 16) & 0x000000ff000000ffULL) * 0x0000271000000001ULL) >>
         32;
}

// Adds the decimal digits at `at` to `number` and returns where they end. Eight bytes are read as
// one word, and its leading digits are moved to the top.
inline const char* take_digits(const char* at, const char* end, std::uint64_t& number) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      word ^= 0x3030303030303030ULL;
      const std::uint64_t others = no_digits(word);
      const int n = others == 0 ? 8 : std::countr_zero(others) / 8;
      if (n == 0) return at;
      number = number * small_powers_of_ten[n] + add_up(word << (64 - 8 * n));
      at += n;
      if (n < 8) return at;
    }
  }
  for (; at != end && is_digit(*at); ++at)
    number = number * 10 + static_cast<std::uint64_t>(*at - '0');
  return at;
}

}  // namespace detail

// Reads n digits, 1 to 8 of them, where eight bytes can be read. False if one is no digit.
inline bool read_digits(const char* at, std::size_t n, std::uint64_t& out) {
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    word = (word ^ 0x3030303030303030ULL) << (64 - 8 * n);
    out = detail::add_up(word);
    return detail::no_digits(word) == 0;
  }
  out = 0;
  return detail::take_digits(at, at + n, out) == at + n;
}

// Reads the number at the start of [at, end). Returns where it ends, or nullptr when there is none.
// A number too large for a double becomes an infinity of its sign, one too small becomes 0.
const char* read_number(const char* at, const char* end, double& out);

// Reads a number of n bytes such as 0.128801 or 12, of which most values are: one digit, a point
// and at most seven more; or at most eight digits. So many bytes must be readable. Both parts of
// the quotient are exact, so it is the nearest double (Clinger's fast path). False for any other
// text, which may be a number all the same.
inline constexpr std::ptrdiff_t short_number_bytes = 10;
inline bool read_short_number(const char* at, std::size_t n, double& out) {
  using namespace detail;
  std::uint64_t digits = 0;
  if (n - 3 < 7 && at[1] == '.') {
    if (!read_digits(at + 2, n - 2, digits) || !is_digit(*at)) return false;
    digits += static_cast<std::uint64_t>(*at - '0') * small_powers_of_ten[n - 2];
    out = static_cast<double>(digits) / powers_of_ten[n - 2];
    return true;
  }
  if (n - 1 >= 8 || !read_digits(at, n, digits)) return false;
  out = static_cast<double>(digits);
  return true;
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

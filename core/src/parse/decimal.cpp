#include "bear/parse/decimal.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace bear::parse {

namespace {

// Any digits beyond these cannot tell on which side of the middle between two doubles a number is,
// but for being there at all: such a middle has at most 767.
constexpr std::size_t kMostDigits = 800;
// Powers of ten of the first digit between which a number is neither 0 nor infinite.
constexpr std::int64_t kLeastPower = -325, kMostPower = 310;

// A natural number, its lowest 32 bits first.
class Natural {
 public:
  void multiply_add(std::uint32_t factor, std::uint32_t summand) {
    std::uint64_t carry = summand;
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }

  void multiply_by_ten_to(std::size_t power) {
    for (; power >= 9; power -= 9) multiply_add(1000000000U, 0);
    for (; power > 0; --power) multiply_add(10U, 0);
  }

  std::size_t bits() const {
    if (limbs_.empty()) return 0;
    return 32 * limbs_.size() - static_cast<std::size_t>(std::countl_zero(limbs_.back()));
  }

  void shift_left(std::size_t by) {
    limbs_.insert(limbs_.begin(), by / 32, 0U);
    if (by % 32 != 0) multiply_add(std::uint32_t{1} << (by % 32), 0);
  }

  // Negative, zero or positive, as this is smaller than, equal to or larger than the other.
  int compare(const Natural& other) const {
    if (limbs_.size() != other.limbs_.size()) return limbs_.size() < other.limbs_.size() ? -1 : 1;
    for (std::size_t i = limbs_.size(); i-- > 0;) {
      if (limbs_[i] != other.limbs_[i]) return limbs_[i] < other.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

  // The other must not be larger.
  void subtract(const Natural& other) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      const std::uint64_t less = (i < other.limbs_.size() ? other.limbs_[i] : 0U) + borrow;
      borrow = limbs_[i] < less ? 1 : 0;
      limbs_[i] = static_cast<std::uint32_t>(limbs_[i] - less);
    }
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

 private:
  std::vector<std::uint32_t> limbs_;
};

// The number is (digits, as a natural number, and a bit more if `more`) * 10^power.
struct Decimal {
  Natural digits;
  std::int64_t power = 0;
  std::int64_t first = 0;  // power of ten of the first digit
  bool more = false;
  bool zero = true;
};

Decimal read(const char* at, const char* end) {
  Decimal found;
  std::size_t n = 0;
  bool point = false;
  for (; at != end && (*at | 0x20) != 'e'; ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    found.zero = found.zero && *at == '0';
    const bool counts = !found.zero && n < kMostDigits;
    if (counts) {
      found.digits.multiply_add(10, static_cast<std::uint32_t>(*at - '0'));
      ++n;
    } else if (!found.zero) {
      found.more = found.more || *at != '0';
    }
    if (point && (counts || found.zero)) --found.power;
    if (!point && !counts && !found.zero) ++found.power;
  }
  std::int64_t exponent = 0;
  bool down = false;
  if (at != end) {
    down = *++at == '-';
    if (*at == '-' || *at == '+') ++at;
    for (; at != end; ++at) {
      if (exponent < (std::int64_t{1} << 48)) exponent = exponent * 10 + (*at - '0');
    }
  }
  found.power += down ? -exponent : exponent;
  found.first = found.power + static_cast<std::int64_t>(n) - 1;
  return found;
}

// Binary digits of numerator / denominator, one by one, and rounding to the nearest, ties to even.
double nearest(Natural numerator, Natural denominator, bool more) {
  constexpr int kDigits = std::numeric_limits<double>::digits;
  constexpr std::int64_t kLeast = std::numeric_limits<double>::min_exponent - 1;
  constexpr std::int64_t kMost = std::numeric_limits<double>::max_exponent - 1;
  // Both as long as each other, then exponent is that of the first binary digit, or one above it.
  auto exponent =
      static_cast<std::int64_t>(numerator.bits()) - static_cast<std::int64_t>(denominator.bits());
  if (exponent > 0) denominator.shift_left(static_cast<std::size_t>(exponent));
  if (exponent < 0) numerator.shift_left(static_cast<std::size_t>(-exponent));
  if (numerator.compare(denominator) < 0) {
    numerator.shift_left(1);
    --exponent;
  }
  // Fewer digits below the normal numbers; none where only rounding can give the least one.
  const std::int64_t below = std::max<std::int64_t>(kLeast - exponent, 0);
  if (below > kDigits) return 0.0;
  const auto count = static_cast<int>(kDigits - below);
  std::uint64_t mantissa = 0;
  for (int i = 0; i < count; ++i) {
    const bool one = numerator.compare(denominator) >= 0;
    if (one) numerator.subtract(denominator);
    mantissa = mantissa << 1 | (one ? 1U : 0U);
    numerator.shift_left(1);
  }
  const int half = numerator.compare(denominator);
  const bool odd = (mantissa & 1) != 0;
  if (half > 0 || (half == 0 && (more || odd))) ++mantissa;
  // The bits of a double count on from subnormal numbers to normal ones, and from these to
  // infinity.
  constexpr std::uint64_t kHidden = std::uint64_t{1} << (kDigits - 1);
  if (below > 0) return std::bit_cast<double>(mantissa);
  if (exponent > kMost) return std::numeric_limits<double>::infinity();
  const auto biased = static_cast<std::uint64_t>(exponent - kLeast + 1);
  return std::bit_cast<double>((biased << (kDigits - 1)) + (mantissa - kHidden));
}

}  // namespace

double exact_decimal(const char* at, const char* end) {
  Decimal found = read(at, end);
  if (found.zero || found.first < kLeastPower) return 0.0;
  if (found.first > kMostPower) return std::numeric_limits<double>::infinity();
  Natural denominator;
  denominator.multiply_add(0, 1);
  if (found.power >= 0) {
    found.digits.multiply_by_ten_to(static_cast<std::size_t>(found.power));
  } else {
    denominator.multiply_by_ten_to(static_cast<std::size_t>(-found.power));
  }
  return nearest(std::move(found.digits), std::move(denominator), found.more);
}

}  // namespace bear::parse

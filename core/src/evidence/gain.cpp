#include "bear/evidence/gain.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bear/math.hpp"

namespace bear::evidence {

namespace {

constexpr double kLarge = 0x1p+400;
constexpr double kLogLarge = 277.258872223978123767;  // 400 log 2

double real(std::size_t n) { return static_cast<double>(n); }

// A sum of positive terms, each a multiple of the one before, that may leave the range of doubles.
class Series {
 public:
  void add() { sum_ += term_; }
  void multiply(double ratio) {
    term_ *= ratio;
    if (term_ < kLarge) return;
    term_ /= kLarge;
    sum_ /= kLarge;
    log_scale_ += kLogLarge;
  }
  double sum() const { return sum_; }
  double log_scale() const { return log_scale_; }

 private:
  double term_ = 1.0, sum_ = 0.0, log_scale_ = 0.0;
};

// sinh(x) / x for x >= 0; the series is exact to the last bits where powers would cancel.
double sinh_over(double x) {
  constexpr double kSmall = 0.3;
  if (x >= kSmall) return (math::exp(x) - math::exp(-x)) / (2.0 * x);
  const double q = x * x;
  return 1.0 + q / 6.0 * (1.0 + q / 20.0 * (1.0 + q / 42.0 * (1.0 + q / 72.0 * (1.0 + q / 110.0))));
}

// Up to so many rows no sum leaves the range of doubles, and a division is looked up.
constexpr std::size_t kFewRows = 256;

constexpr std::array<double, kFewRows + 2> kInverse = [] {
  std::array<double, kFewRows + 2> inverse{};
  for (std::size_t i = 1; i < inverse.size(); ++i) inverse[i] = 1.0 / static_cast<double>(i);
  return inverse;
}();

double log_mean_of_few(std::size_t b, std::size_t positive, std::size_t n, double bet,
                       std::size_t least, std::size_t most) {
  const double factor = math::exp(bet);
  double tilted = 1.0, plain = 1.0, tilted_sum = 1.0, plain_sum = 1.0;
  for (std::size_t s = least; s < most; ++s) {
    const double ratio =
        real((positive - s) * (n - s)) * (kInverse[s + 1] * kInverse[b + s + 1 - positive - n]);
    tilted *= ratio * factor;
    plain *= ratio;
    tilted_sum += tilted;
    plain_sum += plain;
  }
  return bet * real(least) + math::log(tilted_sum / plain_sum);
}

}  // namespace

double log_mean_of_labels(std::size_t b, std::size_t positive, std::size_t n, double bet) {
  const std::size_t least = n + positive > b ? n + positive - b : 0, most = std::min(n, positive);
  if (least == most) return bet * real(least);
  if (b <= kFewRows) return log_mean_of_few(b, positive, n, bet, least, most);
  Series tilted, plain;
  const double factor = math::exp(bet);
  for (std::size_t s = least;; ++s) {
    tilted.add();
    plain.add();
    if (s == most) break;
    const double ratio = real(positive - s) * real(n - s) /
                         (real(s + 1) * (real(b) - real(positive) - real(n) + real(s + 1)));
    tilted.multiply(ratio * factor);
    plain.multiply(ratio);
  }
  return bet * real(least) + math::log(tilted.sum() / plain.sum()) + tilted.log_scale() -
         plain.log_scale();
}

double log_mean_of_ranks(std::size_t b, std::size_t n, double bet) {
  n = std::min(n, b - n);  // the rows without the feature move the other way, by as much
  if (n == 0 || bet == 0.0) return 0.0;
  // Of a centred sum the mean is even in the bet, and with half the bet on either side no power
  // grows beyond exp(|bet| b / 2).
  const double half = std::abs(bet) / 2.0;
  double product = 1.0, logs = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double above = real(b - i), below = real(i + 1);
    product *= sinh_over(half * above) / sinh_over(half * below);
    if (product < kLarge) continue;
    logs += math::log(product);
    product = 1.0;
  }
  return logs + math::log(product);
}

Gain gain_of_labels(std::size_t b, std::size_t positive, std::size_t n, std::size_t both,
                    double bet) {
  if (n == 0 || n >= b || positive == 0 || positive >= b) return {};
  const double share = real(positive) / real(b);
  Gain gain;
  gain.shift = real(both) - real(n) * share;
  gain.variance = real(n) * share * (1.0 - share) * real(b - n) / real(b - 1);
  if (bet != 0.0) gain.log_gain = bet * real(both) - log_mean_of_labels(b, positive, n, bet);
  return gain;
}

Gain gain_of_ranks(std::size_t b, std::size_t n, double sum, double bet) {
  if (n == 0 || n >= b) return {};
  const double unit = std::sqrt((real(b) * real(b) - 1.0) / 12.0);
  const double centred = sum - real(n) * real(b - 1) / 2.0;
  Gain gain;
  gain.shift = centred / unit;
  gain.variance = real(n) * real(b - n) / real(b - 1);
  if (bet != 0.0) gain.log_gain = bet / unit * centred - log_mean_of_ranks(b, n, bet / unit);
  return gain;
}

}  // namespace bear::evidence

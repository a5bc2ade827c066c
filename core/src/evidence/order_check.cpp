#include "bear/evidence/order_check.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bear/math.hpp"

namespace bear::evidence {

namespace {

constexpr double kShrinkage = 20.0;  // neighbours: one minibatch of the usual size
constexpr double kLargestBet = 1.0;

double real(std::size_t n) { return static_cast<double>(n); }

}  // namespace

// Runs of equal labels have a known distribution when the labels of a minibatch are in random
// order (Wald and Wolfowitz): of b labels with K ones, 2 K (b - K) / b + 1 on the mean.
void OrderCheck::add(std::span<const std::uint8_t> ones) {
  const std::size_t b = ones.size();
  if (b < 2) return;
  const auto count = static_cast<std::size_t>(std::count(ones.begin(), ones.end(), 1));
  numbers_[4] += 1.0;
  if (count == 0 || count == b) {
    numbers_[5] += 1.0;
    return;
  }
  std::size_t equal = 0;
  for (std::size_t i = 1; i < b; ++i) equal += ones[i] == ones[i - 1];
  const double bet = std::clamp(numbers_[1] / (numbers_[2] + kShrinkage), 0.0, kLargestBet);
  if (bet > 0.0) numbers_[0] += bet * real(equal) - log_mean(b, count, bet);
  const double pairs = 2.0 * real(count) * real(b - count);
  const double over = real(equal) - (real(b) - 1.0 - pairs / real(b));
  numbers_[1] += over;
  numbers_[2] += pairs * (pairs - real(b)) / (real(b) * real(b) * (real(b) - 1.0));
  numbers_[3] += real(b - 1);
}

// log of the mean of exp(bet x equal neighbours). Of r runs, half (or one more) are of either
// label, and K labels fall into m runs in C(K - 1, m - 1) ways.
double OrderCheck::log_mean(std::size_t b, std::size_t ones, double bet) {
  while (log_factorials_.size() <= b) {
    log_factorials_.push_back(log_factorials_.back() + math::log(real(log_factorials_.size())));
  }
  const auto log_choose = [&](std::size_t n, std::size_t m) {
    return log_factorials_[n] - log_factorials_[m] - log_factorials_[n - m];
  };
  const std::size_t few = std::min(ones, b - ones), many = b - few;
  const double all = log_choose(b, few);
  double sum = 0.0;
  const auto add = [&](std::size_t runs, double log_ways) {
    sum += math::exp(log_ways - all + bet * real(b - runs));
  };
  for (std::size_t m = 1; m <= few; ++m) {
    const double own = log_choose(few - 1, m - 1);
    add(2 * m, math::log(2.0) + own + log_choose(many - 1, m - 1));
    if (m < many) add(2 * m + 1, own + log_choose(many - 1, m));  // the many begin and end
    if (m < few) add(2 * m + 1, log_choose(few - 1, m) + log_choose(many - 1, m - 1));
  }
  return math::log(sum);
}

void OrderCheck::restore(std::span<const double> numbers) {
  if (numbers.size() != kNumbers) throw std::invalid_argument("order check: wrong size");
  std::copy(numbers.begin(), numbers.end(), numbers_.begin());
}

void mark_ones(std::span<const double> labels, bool numbers, std::vector<std::uint8_t>& ones) {
  ones.assign(labels.size(), 0);
  if (labels.empty()) return;
  const auto binary = [](double label) { return label == 0.0 || label == 1.0; };
  if (!numbers && std::all_of(labels.begin(), labels.end(), binary)) {
    const auto count = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), 1.0));
    const double most = 2 * count > labels.size() ? 1.0 : 0.0;
    for (std::size_t i = 0; i < labels.size(); ++i) ones[i] = labels[i] == most;
    return;
  }
  std::vector<double> sorted(labels.begin(), labels.end());
  std::sort(sorted.begin(), sorted.end());
  if (numbers) {
    const double middle = sorted[sorted.size() / 2];
    const bool ties = sorted[0] == middle;  // as of counts that are mostly 0
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ones[i] = ties ? labels[i] > middle : labels[i] >= middle;
    }
    return;
  }
  double best = sorted[0];
  std::size_t most = 0;
  for (std::size_t start = 0, i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != sorted[start]) start = i;
    if (i - start + 1 > most) {
      most = i - start + 1;
      best = sorted[start];
    }
  }
  for (std::size_t i = 0; i < labels.size(); ++i) ones[i] = labels[i] == best;
}

}  // namespace bear::evidence

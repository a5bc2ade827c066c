// Whether neighbouring rows share labels more often than chance would have it: then rows are not
// independent, and nothing that the tests say is covered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bear::evidence {

class OrderCheck {
 public:
  // Labels of the rows of one minibatch, in order; ones: those that count as 1.
  void add(std::span<const std::uint8_t> ones);

  // log of the e-value of the whole stream: of random order its mean is 1.
  double log_e() const { return numbers_[0]; }
  // Equal neighbours beyond what is expected, as a share of all neighbours.
  double excess() const { return numbers_[3] > 0.0 ? numbers_[1] / numbers_[3] : 0.0; }
  // Share of the minibatches, of two rows or more, that have one label only.
  double one_label() const { return numbers_[4] > 0.0 ? numbers_[5] / numbers_[4] : 0.0; }

  static constexpr std::size_t kNumbers = 6;
  // log e; equal neighbours minus their mean, and their variance; all neighbours, but for those of
  // minibatches of one label; minibatches, and those of one label.
  std::span<const double> numbers() const { return numbers_; }
  void restore(std::span<const double> numbers);

 private:
  double log_mean(std::size_t b, std::size_t ones, double bet);

  std::array<double, kNumbers> numbers_{};
  std::vector<double> log_factorials_{0.0, 0.0};
};

// 1 for the rows of the most frequent label, of equals the least; for numbers, 1 for the upper
// half.
void mark_ones(std::span<const double> labels, bool numbers, std::vector<std::uint8_t>& ones);

}  // namespace bear::evidence

// What one minibatch says about one feature: the exact mean of exp(bet x score) over all ways to
// place the feature among the rows. docs/explanation/evidence.md has the proof.
#pragma once

#include <cstddef>

namespace bear::evidence {

// log of the mean of exp(bet * s), where s is the number of positive rows among n of b rows, of
// which `positive` are: the hypergeometric distribution. Exactly 0 where s is certain.
double log_mean_of_labels(std::size_t b, std::size_t positive, std::size_t n, double bet);

// The same where s is the sum of n of the ranks 0 .. b - 1, minus its mean: a q-binomial
// coefficient, which has a closed form.
double log_mean_of_ranks(std::size_t b, std::size_t n, double bet);

// What is added to a feature's sums: score minus its mean, the variance of the score, and the log
// of the gain at the given bet.
struct Gain {
  double shift = 0.0, variance = 0.0, log_gain = 0.0;
};

// n of b rows have the feature, `both` of them are among the `positive`.
Gain gain_of_labels(std::size_t b, std::size_t positive, std::size_t n, std::size_t both,
                    double bet);

// n of b rows have the feature, and their ranks add up to `sum`. The unit of shift and bet is the
// standard deviation of a rank.
Gain gain_of_ranks(std::size_t b, std::size_t n, double sum, double bet);

}  // namespace bear::evidence

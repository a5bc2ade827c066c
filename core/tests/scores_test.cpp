#include "bear/scores.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "helpers.hpp"

using namespace bear;

TEST_CASE("bins of scores are in the order of the scores") {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const std::vector<double> rising{-kEndless, -1e300, -5.0,  -1.0, -1e-3, 0.0,
                                   1e-3,      1.0,    1.007, 5.0,  1e300, kEndless};
  for (std::size_t i = 1; i < rising.size(); ++i) {
    CHECK(score_bin(rising[i - 1]) <= score_bin(rising[i]));
  }
  CHECK(score_bin(-0.0) == score_bin(0.0));
  CHECK(score_bin(1e300) == score_bin(kEndless));
  CHECK(score_bin(-kEndless) < score_bin(-5.0));
  CHECK(score_bin(kEndless) < kScoreBins);
}

TEST_CASE("sums of two classes") {
  std::vector<double> mass(2 * kScoreBins, 0.0);
  const std::vector<double> numbers{1, 0, 1}, margins{2.0, -1.0, -800.0}, weights{1.0, 0.5, 2.0};
  const BinarySums sums = add_scores(numbers, margins, weights, mass);
  CHECK(sums.weight == 3.5);
  CHECK(sums.right == 1.5);
  CHECK(sums.positive == 3.0);
  CHECK(sums.loss ==
        doctest::Approx(std::log1p(std::exp(-2.0)) + 0.5 * std::log1p(std::exp(-1.0)) + 1600.0));
  CHECK(mass[score_bin(-1.0)] == 0.5);
  CHECK(mass[kScoreBins + score_bin(2.0)] == 1.0);
  CHECK(add_scores(numbers, margins, {}, mass).weight == 3.0);
  CHECK(mass[kScoreBins + score_bin(-800.0)] == 3.0);
}

TEST_CASE("scores, weights and histogram must fit") {
  std::vector<double> mass(2 * kScoreBins, 0.0), few(7, 0.0);
  const std::vector<double> two(2, 0.0), three(3, 0.0);
  CHECK_THROWS_AS(add_scores(two, three, {}, mass), std::invalid_argument);
  CHECK_THROWS_AS(add_scores(two, two, three, mass), std::invalid_argument);
  CHECK_THROWS_AS(add_scores(two, two, {}, few), std::invalid_argument);
}

#include "bear/scores.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "bear/math.hpp"

namespace bear {

std::size_t score_bin(double score) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float narrow = score > kLargest ? kInfinity : -kInfinity;
  if (std::abs(score) <= kLargest) narrow = static_cast<float>(score) + 0.0F;
  const auto bits = std::bit_cast<std::uint32_t>(narrow);
  return ((bits >> 31) != 0 ? ~bits : bits | 0x80000000U) >> 16;
}

BinarySums add_scores(ConstReals numbers, ConstReals margins, ConstReals weights, Reals mass) {
  if (margins.size() != numbers.size() || (!weights.empty() && weights.size() != numbers.size()) ||
      mass.size() != 2 * kScoreBins) {
    throw std::invalid_argument("there must be a margin and a weight for each example");
  }
  BinarySums sums;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double margin = margins[i], weight = weights.empty() ? 1.0 : weights[i];
    const bool positive = numbers[i] > 0.0;
    const double towards = positive ? -margin : margin;
    sums.weight += weight;
    sums.right += positive == (margin > 0.0) ? weight : 0.0;
    sums.loss += weight * (std::max(towards, 0.0) + math::log1p(math::exp(-std::abs(towards))));
    sums.positive += positive ? weight : 0.0;
    mass[score_bin(margin) + (positive ? kScoreBins : 0)] += weight;
  }
  return sums;
}

}  // namespace bear

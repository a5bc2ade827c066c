// How the weights of the active keys are measured against one another where the largest are kept.
#pragma once

#include <cmath>

#include "bear/types.hpp"

namespace bear {

// Occurrences that a cell has ahead of what was counted: the first few say little.
constexpr double kPatience = 2.0;
// Of more, each has few rows in a batch.
constexpr std::size_t kFewClasses = 2;

// What a unit of a weight is worth: a frequent feature does more with it. Of many classes it does
// so for one and says little for the others, and is worth less than that.
inline double worth_of(double met, std::size_t classes) {
  const double root = std::sqrt(std::sqrt(kPatience + met));
  return classes <= kFewClasses ? root : std::sqrt(root);
}

struct Measures {
  // By what the change of each key was multiplied, because its values are above 1: one over their
  // mean square. Empty where no value is.
  ConstReals damping = {};
  // How often each key is to be counted as met. Empty: not this time.
  ConstReals met = {};
  // The weight of a rare key says less, so the square of a candidate's counts by its trust over
  // what is enough. Empty: in full.
  ConstReals trust = {};
  double enough = 1.0;
  // The square of what a unit of each weight is worth, with the keys of this batch. Empty: all the
  // same.
  ConstReals worth = {};
  // Magnitude of values that the larger weights are for.
  double usual = 1.0;
  // What draws for the keys of this batch begin from.
  std::uint64_t salt = 0;

  // Root mean square of a column's values in this batch, where that is above 1.
  double magnitude_of(std::size_t column) const {
    return damping.empty() ? 1.0 : 1.0 / std::sqrt(damping[column]);
  }

  // The size that is worth so much in a column.
  double size_of(std::size_t column, double value) const {
    return worth.empty() ? value : value / std::sqrt(worth[column]);
  }

  // Whether a column that is not selected, of that size, counts more than the least of those.
  bool above(double size, std::size_t column, double smallest) const {
    if (trust.empty()) return size > smallest;
    return size * size * trust[column] > smallest * smallest * enough;
  }
};

}  // namespace bear

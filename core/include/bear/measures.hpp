// How the weights of the active keys are measured against one another where the largest are kept.
#pragma once

#include <cmath>

#include "bear/types.hpp"

namespace bear {

struct Measures {
  // By what the change of each key was multiplied, because its values are above 1: one over their
  // mean square. Empty where no value is.
  ConstReals damping = {};
  // How often each key occurs in the batch. Empty: not known.
  ConstReals often = {};
  // The weight of a rare key says less, so the square of a candidate's counts by its trust over
  // what is enough. Empty: in full.
  ConstReals trust = {};
  double enough = 1.0;
  // Magnitude of values that the larger weights are for.
  double usual = 1.0;
  // What draws for the keys of this batch begin from.
  std::uint64_t salt = 0;

  // Root mean square of a column's values in this batch, where that is above 1.
  double magnitude_of(std::size_t column) const {
    return damping.empty() ? 1.0 : 1.0 / std::sqrt(damping[column]);
  }

  // Whether the weight of a column that is not selected counts more than the smallest of those.
  bool above(double size, std::size_t column, double smallest) const {
    if (trust.empty()) return size > smallest;
    return size * size * trust[column] > smallest * smallest * enough;
  }
};

}  // namespace bear

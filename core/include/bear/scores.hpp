// How good the margins of two classes are, summed up over a stream.
#pragma once

#include "bear/types.hpp"

namespace bear {

struct BinarySums {
  double weight = 0.0;
  double right = 0.0;     // weight of what was predicted right
  double loss = 0.0;      // log-loss
  double positive = 0.0;  // weight of the second class
};

// Bins of a histogram of scores: sign, 8 bits of exponent and 7 of fraction of a float. Neighbours
// differ by less than 1 % whatever the size of the scores, so no range has to be known beforehand.
inline constexpr std::size_t kScoreBins = std::size_t{1} << 16;

// The bin of a score; bins are in the order of the scores, and -0 is 0.
std::size_t score_bin(double score);

// Adds up examples with class numbers 0 and 1; weights may be empty. The histogram `mass` has the
// bins of the first class, then those of the second.
BinarySums add_scores(ConstReals numbers, ConstReals margins, ConstReals weights, Reals mass);

}  // namespace bear

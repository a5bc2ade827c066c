// A factor on all steps that follows the noise. The loss of a batch that is not learned yet, as a
// function of a common factor on all margins, says whether these are too bold (steps fit the noise
// of the labels) or too shy (there is more to learn than steps so far reached). Margins count from
// their mean, for a common offset is no evidence, and a batch counts by its information.
#pragma once

#include "bear/loss.hpp"

namespace bear {

// Along a change of the margins of a batch: the slope of its loss, and how that bends.
struct Bend {
  double slope = 0.0, curvature = 0.0;
};

class Strength {
 public:
  Strength();

  double factor() const;
  const Bend& running() const { return running_; }
  // Variance of a batch's slope by its curvature, from the losses of batches so far; 0: not known.
  double noise(const Loss& loss, const Targets& targets) const;

  // Learns from the loss of a batch along its margins, and from its value.
  void learn(const Loss& loss, const Targets& targets, const Bend& bend, double value);

  static constexpr std::size_t kNumbers = 5;
  std::array<double, kNumbers> numbers() const;
  void restore(std::span<const double> numbers);

 private:
  double logarithm_;
  Bend running_;
  double error_ = 0.0;  // running, the loss
  double heard_ = 0.0;  // batches so far, by their information
};

}  // namespace bear

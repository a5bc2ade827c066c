// How much is known of each weight already. A step that follows the noise is right for a weight
// that was met a few times. One that was met n times is known to about one over its information,
// n times the curvature of the loss times its mean square value, and a step longer than that only
// brings back the noise of the labels that was averaged out before:
//
//   step / (1 + step * information)
//
// moves it as a Gaussian posterior would, whose prior has the step for its variance. So much for
// labels that are drawn; where they follow from the features, as topics do from words, what a batch
// gets wrong is no noise. How much of it is, is told by the loss of examples not learned yet beside
// that of the best constant.
#pragma once

#include <array>

#include "bear/loss.hpp"

namespace bear {

class Evidence {
 public:
  // Information of one occurrence of a value of 1, where these are the means of the labels.
  double of_one(const Loss& loss, ConstReals means) const;

  // The share of the loss of the best constant that the model leaves, from 0 to 1.
  double left() const;

  // Learns from the losses of a batch: of the best constant and of the model, so many batches on.
  void learn(double constant, double model, double batches);

  static constexpr std::size_t kNumbers = 2;
  std::array<double, kNumbers> numbers() const { return {constant_, model_}; }
  void restore(std::span<const double> numbers);

 private:
  double constant_ = 0.0, model_ = 0.0;  // running, the losses
};

}  // namespace bear

// How much further the rare move. A step that suits what every row holds is too short for what one
// row in a thousand does, and often the rare is most of what there is; but where labels are mostly
// noise, so is what the rare say. So the gradient of a weight is divided by a power of how often it
// is touched, and the power follows the examples that are not learned yet: the loss of a batch, as
// a function of a factor on each weight that grows with how often it occurs, says whether the
// weights of the rare are too shy beside the others, or too bold.
#pragma once

#include "bear/direction/strength.hpp"
#include "bear/rough.hpp"

namespace bear {

class Rarity {
 public:
  double power() const { return power_; }

  // Learns from the loss along the margins of tilted weights, and from how it bends along these
  // and all margins together (mixed). What a common factor on all margins would do is taken out.
  // Noise: the variance of a batch's slope by its curvature.
  void learn(const Bend& bend, double mixed, const Bend& common, double noise);

  static constexpr std::size_t kNumbers = 4;
  std::array<double, kNumbers> numbers() const;
  void restore(std::span<const double> numbers);

 private:
  double power_ = 0.2;
  Bend running_;
  double mixed_ = 0.0;
};

// By how much each moves further, given the logarithms (to base 2) of how often they occur and of
// how often they do on average.
inline float pace_of(double power, float often, float usual) {
  return rough_exp2(static_cast<float>(power) * (usual - often));
}

// Weights of columns times how far the logarithm of each is from their mean, which weighs columns
// that occur by the size of their weights.
void tilt(ConstReals weights, std::span<const float> logs, ConstReals often, Reals tilted);

}  // namespace bear

#include "bear/direction/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Chosen on made-up fields and on training rows set aside.
constexpr double kMemory = 0.01;
// Of the share of the loss that is left: squared errors are themselves the noise that is left,
// other losses also shrink as margins grow bold.
constexpr double kNoisePower = 4.0, kTightPower = 2.0;
constexpr double kLeast = 1e-3;  // below this there is nothing to hold back
// With one click in a hundred rows what is known hangs on few of them, and less is known than the
// curvature says.
constexpr double kRarePower = 0.5;

}  // namespace

double Evidence::of_one(const Loss& loss, ConstReals means) const {
  if (means.empty()) return 0.0;
  const double power = loss.bound_is_tight() ? kTightPower : kNoisePower;
  const double noise = std::pow(left(), power);
  if (noise < kLeast) return 0.0;
  const double bend = loss.curvature_at(means);
  return noise * bend * std::pow(bend / loss.curvature_bound(), kRarePower);
}

double Evidence::left() const {
  return constant_ > 0.0 ? std::clamp(model_ / constant_, 0.0, 1.0) : 0.0;
}

void Evidence::learn(double constant, double model, double batches) {
  const double rate = std::max(kMemory, 1.0 / (1.0 + batches));
  constant_ += rate * (constant - constant_);
  model_ += rate * (model - model_);
}

void Evidence::restore(std::span<const double> numbers) {
  constant_ = numbers[0];
  model_ = numbers[1];
}

}  // namespace bear

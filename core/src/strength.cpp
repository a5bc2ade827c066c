#include "bear/direction/strength.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Steps begin small: what noise does early to a short stream is not undone later, while shy steps
// grow to full strength within some 20 batches. Margins may be a little too bold before steps
// shrink: one pass of text is better for it, and clicks are not worse.
constexpr double kFirst = 0.35, kLeast = 0.02;  // full strength is 1
constexpr double kMemory = 0.05;                // of the running slope
constexpr double kRate = 0.05;                  // at which strength follows it
constexpr double kBoldness = 0.1;               // share that is let pass
constexpr double kMostShrink = -1.0, kMostGrowth = 3.0;
// Batches' worth of information after which it follows at half its rate: steps that were too long
// show in the margins until they are averaged out, and a strength that falls all the while falls
// far too low, and then rises too high. With squared errors what is too bold costs more than that.
constexpr double kSettled = 50.0;
// Information about the factor on the margins, in squared standard errors, at which strength
// follows at half its rate: with one click in a hundred rows a few batches say nothing.
constexpr double kInformation = 20.0;

}  // namespace

Strength::Strength() : logarithm_(std::log(kFirst)) {}

double Strength::factor() const { return std::exp(logarithm_); }

double Strength::noise(const Loss& loss, const Targets& targets) const {
  return loss.dispersion(error_) / static_cast<double>(targets.weighed());
}

void Strength::learn(const Loss& loss, const Targets& targets, const Bend& bend, double value) {
  running_.slope += kMemory * (bend.slope - running_.slope);
  running_.curvature += kMemory * (bend.curvature - running_.curvature);
  error_ += kMemory * (value - error_);
  const double variance = noise(loss, targets);
  if (!(running_.curvature > 0.0) || !(variance > 0.0)) return;
  const double growth =
      std::clamp(kBoldness - running_.slope / running_.curvature, kMostShrink, kMostGrowth);
  const double information = running_.curvature / (kMemory * variance);
  const double part = information / (information + kInformation);
  heard_ += part;
  const double settled = loss.bound_is_tight() ? 0.0 : heard_ / kSettled;
  logarithm_ += kRate / (1.0 + settled) * growth * part;
  logarithm_ = std::clamp(logarithm_, std::log(kLeast), 0.0);
}

std::array<double, Strength::kNumbers> Strength::numbers() const {
  return {logarithm_, running_.slope, running_.curvature, error_, heard_};
}

void Strength::restore(std::span<const double> numbers) {
  logarithm_ = std::clamp(numbers[0], std::log(kLeast), 0.0);
  running_ = {numbers[1], numbers[2]};
  error_ = numbers[3];
  heard_ = std::max(numbers[4], 0.0);
}

}  // namespace bear

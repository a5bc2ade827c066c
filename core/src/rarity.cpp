#include "bear/direction/rarity.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Chosen on training rows set aside. It begins low, because where labels are mostly noise little
// will ever tell so, while text raises it within some 50 batches.
constexpr double kMostPower = 0.75;
constexpr double kMemory = 0.05, kRate = 0.05, kMostChange = 1.0;
constexpr double kInformation = 20.0;  // in squared standard errors, at which the rate is half

}  // namespace

void Rarity::learn(const Bend& bend, double mixed, const Bend& common, double noise) {
  running_.slope += kMemory * (bend.slope - running_.slope);
  running_.curvature += kMemory * (bend.curvature - running_.curvature);
  mixed_ += kMemory * (mixed - mixed_);
  if (!(common.curvature > 0.0) || !(noise > 0.0)) return;
  const double along = mixed_ / common.curvature;
  const double slope = running_.slope - along * common.slope;
  const double curvature = running_.curvature - along * mixed_;
  if (!(curvature > 0.0)) return;
  const double change = std::clamp(slope / curvature, -kMostChange, kMostChange);
  const double information = curvature / (kMemory * noise);
  power_ += kRate * change * information / (information + kInformation);
  power_ = std::clamp(power_, 0.0, kMostPower);
}

std::array<double, Rarity::kNumbers> Rarity::numbers() const {
  return {power_, running_.slope, running_.curvature, mixed_};
}

void Rarity::restore(std::span<const double> numbers) {
  power_ = std::clamp(numbers[0], 0.0, kMostPower);
  running_ = {numbers[1], numbers[2]};
  mixed_ = numbers[3];
}

void tilt(ConstReals weights, std::span<const float> logs, ConstReals often, Reals tilted) {
  const std::size_t n = logs.size(), width = n == 0 ? 1 : weights.size() / n;
  const auto mean = [&](const auto& size_of) {
    const double size = sum_of(n, size_of);
    const double sum = sum_of(n, [&](std::size_t i) { return size_of(i) * logs[i]; });
    return size > 0.0 ? sum / size : 0.0;
  };
  if (width == 1) {  // mostly, and then several at a time
    const double usual =
        mean([&](std::size_t i) { return often[i] > 0.0 ? std::abs(weights[i]) : 0.0; });
    for (std::size_t i = 0; i < n; ++i) tilted[i] = (logs[i] - usual) * weights[i];
    return;
  }
  const double usual = mean([&](std::size_t i) {
    double size = 0.0;
    for (const double weight : weights.subspan(i * width, width)) size += std::abs(weight);
    return often[i] > 0.0 ? size : 0.0;
  });
  for (std::size_t i = 0; i < weights.size(); ++i) {
    tilted[i] = (logs[i / width] - usual) * weights[i];
  }
}

}  // namespace bear

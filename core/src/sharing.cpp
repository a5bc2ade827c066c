#include "bear/direction/sharing.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

constexpr double kMemory = 0.05;
// Chosen on training rows set aside. Some of the mean always stays: what rounding does to the cells
// of frequent features would go on for ever if nothing took it back.
constexpr double kPower = 1.5, kMostShare = 0.95;

}  // namespace

double Sharing::share() const {
  if (!(along_mean_ > 0.0 && means_ > 0.0 && along_rest_ > 0.0 && rests_ > 0.0)) return 0.0;
  const double ratio = (along_rest_ / rests_) / (along_mean_ / means_);
  return std::clamp(1.0 - std::pow(ratio, kPower), 0.0, kMostShare);
}

double Sharing::share_of(double label, double rows, std::size_t classes) const {
  const double expected = label * rows;
  return share() * (classes > kFewClasses ? expected / (expected + 1.0) : 1.0);
}

void Sharing::center(const Targets& targets, ConstReals labels, Reals residuals) const {
  const double total = targets.total();
  const std::size_t rows = targets.labels.size(), classes = labels.size();
  if (share() == 0.0 || targets.weighed() < 2) return;
  for (std::size_t c = 0; c < classes; ++c) {
    const double part = share_of(labels[c], static_cast<double>(targets.weighed()), classes);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += residuals[i * classes + c];
    for (std::size_t i = 0; i < rows; ++i) {
      residuals[i * classes + c] -= part * sum * targets.weight(i) / total;
    }
    if (targets.weights.empty()) continue;
    // Of its own mean a heavy row is most, and would lose most of its residual: it is to lose the
    // share that each of equal rows does.
    const double usual = 1.0 - part / static_cast<double>(targets.weighed());
    for (std::size_t i = 0; i < rows; ++i) {
      residuals[i * classes + c] *= usual / (1.0 - part * targets.weight(i) / total);
    }
  }
}

void Sharing::learn(const Targets& targets, std::size_t classes, ConstReals residuals,
                    ConstReals change) {
  if (targets.weighed() < 2) return;
  const double total = targets.total();
  double along_mean = 0.0, means = 0.0, along = 0.0, squares = 0.0;
  for (std::size_t c = 0; c < classes; ++c) {
    double sum = 0.0, moved = 0.0;
    for (std::size_t i = 0; i < targets.labels.size(); ++i) {
      const double share = targets.weight(i) / total, residual = residuals[i * classes + c];
      if (!(share > 0.0)) continue;
      sum += residual;
      moved += share * change[i * classes + c];
      along += residual * change[i * classes + c];
      squares += residual * residual / share;
    }
    along_mean += sum * moved;
    means += sum * sum;
  }
  along_mean_ += kMemory * (along_mean - along_mean_);
  means_ += kMemory * (means - means_);
  along_rest_ += kMemory * (along - along_mean - along_rest_);
  rests_ += kMemory * (squares - means - rests_);
}

std::array<double, Sharing::kNumbers> Sharing::numbers() const {
  return {along_mean_, means_, along_rest_, rests_};
}

void Sharing::restore(std::span<const double> numbers) {
  along_mean_ = numbers[0];
  means_ = numbers[1];
  along_rest_ = numbers[2];
  rests_ = numbers[3];
}

}  // namespace bear

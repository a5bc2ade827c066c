#include "bear/calibration.hpp"

namespace bear {

namespace {

// Information, at the weight of the newest prediction, that says the map is the identity. Without
// it 255 clicks among 26,773 rows (iPinYou) give a slope of .66, with it .85; log-loss of test rows
// +.0003 and 0.
constexpr double kPriorSlope = 30.0, kPriorOffset = 3.0;
constexpr double kLeastSlope = 0.01;  // the map stays monotone

double square(double x) { return x * x; }

}  // namespace

void apply(const Calibration::Map& map, std::size_t classes, Reals margins) {
  const double offset = classes == 1 ? map.offset : 0.0;
  for (double& margin : margins) margin = map.slope * margin + offset;
}

Calibration::Map Calibration::fit() const {
  const double newest = square(static_cast<double>(std::max<std::uint64_t>(state_.examples, 1)));
  const double a = state_.information[0] + kPriorSlope * newest, b = state_.information[1],
               d = state_.information[2] + kPriorOffset * newest;
  const double p = state_.pull[0] + kPriorSlope * newest, q = state_.pull[1];
  const double slope = std::max((p - b / d * q) / (a - b / d * b), kLeastSlope);
  return {slope, (q - b * slope) / d};
}

void Calibration::add(const Loss& loss, ConstReals margins, const Targets& targets) {
  const std::size_t classes = loss.classes();
  const Map map = fit();
  means_.assign(margins.begin(), margins.end());
  apply(map, classes, means_);
  loss.predict(means_);
  for (std::size_t i = 0; i < targets.labels.size(); ++i) {
    const double own = targets.weight(i);
    if (!(own > 0.0)) continue;
    state_.weight += own;
    const auto count = static_cast<double>(++state_.examples);
    const double weight = own / state_.weight * count * square(count);
    if (classes == 1) {
      const double margin = margins[i], mean = means_[i];
      const double bend = weight * mean * (1.0 - mean);
      const double towards = bend * (map.slope * margin + map.offset) +
                             weight * ((targets.labels[i] > 0.5 ? 1.0 : 0.0) - mean);
      state_.information[0] += bend * margin * margin;
      state_.pull[0] += towards * margin;
      if (!has_offset_) continue;
      state_.information[1] += bend * margin;
      state_.information[2] += bend;
      state_.pull[1] += towards;
      continue;
    }
    const double true_margin = margins[i * classes + static_cast<std::size_t>(targets.labels[i])];
    double mean = 0.0, bend = 0.0;  // of the margins less that of the true class
    for (std::size_t c = 0; c < classes; ++c) {
      mean += means_[i * classes + c] * (margins[i * classes + c] - true_margin);
    }
    for (std::size_t c = 0; c < classes; ++c) {
      bend += means_[i * classes + c] * square(margins[i * classes + c] - true_margin - mean);
    }
    state_.information[0] += weight * bend;
    state_.pull[0] += weight * (bend * map.slope - mean);
  }
}

void Calibration::restore(const State& state) {
  const auto& [slope, both, offset] = state.information;
  double sum = state.weight;
  for (const double number : state.information) sum += number;
  for (const double number : state.pull) sum += number;
  // As far as rounding allows, both * both <= slope * offset: else there is no single best map.
  if (!std::isfinite(sum) || state.weight < 0.0 || slope < 0.0 || offset < 0.0 ||
      std::abs(both) > 1.000001 * std::sqrt(slope) * std::sqrt(offset)) {
    throw std::invalid_argument("numbers of a calibration do not fit together");
  }
  state_ = state;
}

}  // namespace bear

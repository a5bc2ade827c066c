#include "bear/direction/staged.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Chosen on text, URLs and DNA; see the page on accuracy per byte.
constexpr double kSelectedPhi = 0.5, kSelectedTau = 30.0;
constexpr double kCellPhi = 1.5, kCellTau = 10.0;

// Steps begin small: what noise does early to a short stream is not undone later, while shy steps
// grow to full strength within some 20 batches. Margins may be a little too bold before steps
// shrink: one pass of text is better for it, and clicks are not worse.
constexpr double kFirstStrength = 0.3, kLeastStrength = 0.02;  // full strength is 1
constexpr double kMemory = 0.05;                               // of the running slope
constexpr double kRate = 0.05;                                 // at which strength follows it
constexpr double kBoldness = 0.2;                              // share that is let pass
constexpr double kMostShrink = -1.0, kMostGrowth = 3.0;

std::size_t width_of(const Places& places, ConstReals weights) {
  return places.members.empty() ? 0 : weights.size() / places.members.size();
}

// Zero for the selected weights.
void clear_selected(const Places& places, Reals weights) {
  const std::size_t width = width_of(places, weights);
  for (const std::uint32_t i : places.chosen) clear_few(weights.data() + i * width, width);
}

// Zero for all weights but the selected.
void keep_selected(const Places& places, Reals weights, std::vector<double>& spare) {
  const std::size_t width = width_of(places, weights);
  spare.resize(places.chosen.size() * width);
  double* kept = spare.data();
  for (const std::uint32_t i : places.chosen) {
    copy_few(weights.data() + i * width, kept, width);
    kept += width;
  }
  std::fill(weights.begin(), weights.end(), 0.0);
  kept = spare.data();
  for (const std::uint32_t i : places.chosen) {
    copy_few(kept, weights.data() + i * width, width);
    kept += width;
  }
}

}  // namespace

Staged::Staged(double scale) : scale_(scale) {
  now_.log_strength = std::log(kFirstStrength);
  next_ = now_;
}

std::vector<double> Staged::numbers() const {
  return {now_.selected_clock, now_.cell_clock, now_.log_strength, now_.slope, now_.curvature};
}

void Staged::restore(std::span<const double> numbers) {
  if (numbers.size() != 5 || !(numbers[0] >= 0.0) || !(numbers[1] >= 0.0)) {
    throw std::invalid_argument("the staged direction needs its clocks and its strength");
  }
  now_ = {numbers[0], numbers[1], std::clamp(numbers[2], std::log(kLeastStrength), 0.0), numbers[3],
          numbers[4]};
}

double Staged::pace(double phi, double clock, double tau) const {
  return scale_ * std::exp(next_.log_strength) * phi / std::sqrt(1.0 + clock / tau);
}

void Staged::direct(const Point& point, Reals z) {
  next_ = now_;
  measure_values(point);
  follow_noise(point);
  split_margins(point);
  std::fill(z.begin(), z.end(), 0.0);
  const double selected = selected_step(point, z);
  for (double& value : z) value *= selected;
  for (std::size_t i = 0; i < margins_.size(); ++i) {
    margins_[i] = point.margins[i] - selected * u_[i];
  }
  cell_step_size_ = cell_step(point);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += cell_step_size_ * g_[i];
}

// A step that suits a value of 40 is 1,600 times too small for one of 1. So steps are taken as if
// the values of a feature were divided by their root mean square where that is above 1; where no
// value is, as in text and clicks, nothing changes.
void Staged::measure_values(const Point& point) {
  if (!point.active.mean_squares(damping_)) return damping_.clear();
  for (double& square : damping_) square = 1.0 / std::max(square, 1.0);
}

void Staged::damp(Reals change) const {
  if (damping_.empty()) return;
  const std::size_t width = change.size() / damping_.size();
  for (std::size_t i = 0; i < change.size(); ++i) change[i] *= damping_[i / width];
}

// A Newton step on the common factor says by which share the margins should grow.
void Staged::follow_noise(const Point& point) {
  u_.assign(point.margins.begin(), point.margins.end());
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] -= point.intercept[i % point.intercept.size()];
  const double slope = dot(point.residual, u_);
  const double curvature = point.loss.curvature_along(point.margins, point.targets, u_);
  next_.slope += kMemory * (slope - next_.slope);
  next_.curvature += kMemory * (curvature - next_.curvature);
  if (!(next_.curvature > 0.0)) return;
  const double growth =
      std::clamp(kBoldness - next_.slope / next_.curvature, kMostShrink, kMostGrowth);
  next_.log_strength =
      std::clamp(next_.log_strength + kRate * growth, std::log(kLeastStrength), 0.0);
}

// Leaves in margins_ the part of the margins that the selected weights and the intercept make.
void Staged::split_margins(const Point& point) {
  rest_.assign(point.weights.begin(), point.weights.end());
  clear_selected(point.places, rest_);
  margins_.resize(point.margins.size());
  point.active.margins(rest_, point.loss.classes(), margins_);
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = point.margins[i] - margins_[i];
  members_ = point.places.chosen.size();
}

// z = gradient of the selected alone; u_ = the change of margins along it. Returns the step.
double Staged::selected_step(const Point& point, Reals z) {
  u_.assign(margins_.size(), 0.0);
  if (members_ == 0) return 0.0;
  residual_.resize(margins_.size());
  point.loss.gradient(margins_, point.targets, residual_);
  point.active.gradient(residual_, point.loss.classes(), z);
  keep_selected(point.places, z, stored_);
  damp(z);
  const double step = pace(kSelectedPhi, now_.selected_clock, kSelectedTau) * line_step(point, z);
  next_.selected_clock += static_cast<double>(members_) / static_cast<double>(point.selected);
  return step;
}

// g_ = gradient of everything that is not selected, at the margins after the selected moved.
double Staged::cell_step(const Point& point) {
  residual_.resize(margins_.size());
  point.loss.gradient(margins_, point.targets, residual_);
  g_.resize(point.weights.size());
  stored_.resize(g_.size());
  point.active.gradient(residual_, point.loss.classes(), g_);
  clear_selected(point.places, g_);
  damp(g_);
  const std::size_t touched = point.storage.reflect(point.places, g_, stored_);
  const double step = pace(kCellPhi, now_.cell_clock, kCellTau) * line_step(point, stored_);
  if (touched > 0) {
    next_.cell_clock +=
        static_cast<double>(touched) / static_cast<double>(std::max(touched, point.storage.used()));
  }
  return step;
}

// The step along a change of weights that the bound on the curvature allows.
double Staged::line_step(const Point& point, ConstReals change) {
  const std::size_t classes = point.loss.classes();
  u_.resize(margins_.size());
  point.active.margins(change, classes, u_);
  double slope = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < u_.size(); ++i) {
    slope += residual_[i] * u_[i];
    squares += point.targets.weight(i / classes) * u_[i] * u_[i];
  }
  const double total = point.targets.total();
  if (!(slope > 0.0) || !(squares > 0.0) || !(total > 0.0)) return 0.0;
  return slope * total / (point.loss.curvature_bound() * squares);
}

std::unique_ptr<Direction> make_staged(double scale) { return std::make_unique<Staged>(scale); }

}  // namespace bear

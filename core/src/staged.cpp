#include "bear/direction/staged.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Chosen on text, URLs and DNA; see the page on accuracy per byte.
constexpr double kSelectedPhi = 0.5, kSelectedTau = 30.0;
constexpr double kCellPhi = 1.5, kCellTau = 10.0;

// Zero for the selected weights, or for all others.
void clear(const Places& places, Reals weights, bool selected) {
  if (places.groups == 0) {
    if (!selected) std::fill(weights.begin(), weights.end(), 0.0);
    return;
  }
  const std::size_t width = places.members.empty() ? 0 : weights.size() / places.members.size();
  for (std::size_t i = 0; i < places.members.size(); ++i) {
    if ((places.members[i] >= 0) == selected) std::fill_n(&weights[i * width], width, 0.0);
  }
}

double decayed(double phi, double clock, double tau) { return phi / std::sqrt(1.0 + clock / tau); }

}  // namespace

void Staged::restore(std::span<const double> numbers) {
  const bool sound = numbers.size() == 2 && numbers[0] >= 0.0 && numbers[1] >= 0.0 &&
                     std::isfinite(numbers[0]) && std::isfinite(numbers[1]);
  if (!sound) throw std::invalid_argument("the staged direction needs its two clocks");
  selected_clock_ = numbers[0];
  cell_clock_ = numbers[1];
}

void Staged::direct(const Point& point, Reals z) {
  std::fill(z.begin(), z.end(), 0.0);
  split_margins(point);
  const double selected = selected_step(point, z);
  for (double& value : z) value *= selected;
  for (std::size_t i = 0; i < margins_.size(); ++i) {
    margins_[i] = point.margins[i] - selected * u_[i];
  }
  const double cells = cell_step(point);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += cells * g_[i];
}

// Leaves in margins_ the part of the margins that the selected weights and the intercept make.
void Staged::split_margins(const Point& point) {
  rest_.assign(point.weights.begin(), point.weights.end());
  clear(point.places, rest_, true);
  margins_.resize(point.margins.size());
  point.active.margins(rest_, point.loss.classes(), margins_);
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = point.margins[i] - margins_[i];
  members_ = static_cast<std::size_t>(std::count_if(point.places.members.begin(),
                                                    point.places.members.end(),
                                                    [](std::int32_t slot) { return slot >= 0; }));
}

// z = gradient of the selected alone; u_ = the change of margins along it. Returns the step.
double Staged::selected_step(const Point& point, Reals z) {
  u_.assign(margins_.size(), 0.0);
  if (members_ == 0) return 0.0;
  residual_.resize(margins_.size());
  point.loss.gradient(margins_, point.targets, residual_);
  point.active.gradient(residual_, point.loss.classes(), z);
  clear(point.places, z, false);
  const double step = decayed(kSelectedPhi, selected_clock_, kSelectedTau) * line_step(point, z);
  selected_clock_ += static_cast<double>(members_) / static_cast<double>(point.selected);
  return step;
}

// g_ = gradient of everything that is not selected, at the margins after the selected moved.
double Staged::cell_step(const Point& point) {
  residual_.resize(margins_.size());
  point.loss.gradient(margins_, point.targets, residual_);
  g_.resize(point.weights.size());
  stored_.resize(g_.size());
  point.active.gradient(residual_, point.loss.classes(), g_);
  clear(point.places, g_, true);
  const std::size_t touched = point.storage.reflect(point.places, g_, stored_);
  const double step = decayed(kCellPhi, cell_clock_, kCellTau) * line_step(point, stored_);
  if (touched > 0) {
    cell_clock_ +=
        static_cast<double>(touched) / static_cast<double>(std::max(touched, point.storage.used()));
  }
  return step;
}

// The step along a change of weights that the bound on the curvature allows, times phi = 1.
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
  return strength_ * slope * total / (point.loss.curvature_bound() * squares);
}

std::unique_ptr<Direction> make_staged(double strength) {
  return std::make_unique<Staged>(strength);
}

}  // namespace bear

#include "bear/direction/pace.hpp"

#include <algorithm>
#include <cmath>

#include "bear/direction/rarity.hpp"
#include "bear/rough.hpp"
#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

// A key of mean frequency must be above the smallest of the selected by the root of this to replace
// it.
constexpr double kMargin = 1.5;
constexpr double kMostPull = 0.5;  // of a weight, in one step
constexpr double kNever = 1e-30;   // less often than anything that occurs

float log_of(double often) { return rough_log2(static_cast<float>(std::max(often, kNever))); }

}  // namespace

void Pace::measure(const Point& point, double power, bool counts) {
  power_ = power;
  measure_values(point);
  measure_occurrences(point);
  cells_.resize(often_.size());
  point.storage.crowd(point.places, often_, cells_);
  crowding_ = std::max(mean_of(cells_) / often_mean_, 1.0);
  const CountingCells* const counting = point.storage.counting();
  if (counting != nullptr) count(point, *counting, counts);
  set_cells();
  set_trust(point, counting != nullptr);
}

// A step that suits a value of 40 is 1,600 times too small for one of 1. So steps are taken as if
// the values of a feature were divided by their root mean square where that is above 1; where no
// value is, as in text and clicks, nothing changes.
void Pace::measure_values(const Point& point) {
  usual_ = 1.0;
  damping_.clear();
  if (!point.active.has_large()) return;
  point.active.mean_squares(damping_);
  double sum = 0.0;
  for (double& square : damping_) {
    square = 1.0 / std::max(square, 1.0);
    sum += square;
  }
  usual_ = std::sqrt(static_cast<double>(damping_.size()) / sum);
}

void Pace::measure_occurrences(const Point& point) {
  point.active.occurrences(point.targets.weights, often_);
  if (!point.targets.weights.empty()) {
    const double row = point.targets.total() / static_cast<double>(point.targets.weighed());
    for (double& times : often_) times = row > 0.0 ? times / row : 0.0;
  }
  often_mean_ = mean_of(often_);
}

// To the keys of this batch come those that were met before. One in four is counted, four times
// over: counters are estimates, and to write them takes longer than to read them.
void Pace::count(const Point& point, const CountingCells& cells, bool counts) {
  met_.resize(often_.size());
  cells.met(point.places.cells, point.places.depth, met_);
  for (std::size_t i = 0; i < met_.size(); ++i) {
    cells_[i] += cells_[i] > 0.0 ? kPatience + met_[i] : 0.0;
  }
  counted_.clear();
  if (!counts) return;
  counted_ = often_;
  for (double& times : counted_) times *= kCountedOnce;
}

// A selected weight moves by its occurrences in the batch, one of a cell by how often all keys of
// the cell occur, and did where that is counted. Where nothing occurs nothing moves, so any finite
// pace will do.
void Pace::set_cells() {
  const std::size_t n = often_.size();
  const float usual = log_of(mean_of(cells_));
  roots_.resize(n);
  logs_.resize(n);
  const std::span pace(cells_), roots(roots_);
  const std::span logs(logs_);
  for (std::size_t i = 0; i < n; ++i) roots[i] = std::sqrt(std::max(pace[i], kNever));
  for (std::size_t i = 0; i < n; ++i) logs[i] = log_of(pace[i]);
  for (std::size_t i = 0; i < n; ++i) pace[i] = pace_of(power_, logs[i], usual);
  for (std::size_t i = 0; i < damping_.size(); ++i) pace[i] *= damping_[i];
}

void Pace::set_trust(const Point& point, bool counting) {
  trust_ = often_;
  if (counting) {
    if (point.loss.classes() > kFewClasses) {
      for (double& root : roots_) root = std::sqrt(root);
    }
    for (std::size_t i = 0; i < trust_.size(); ++i) trust_[i] *= roots_[i];
  }
  worths_ = counting;
  enough_ = kMargin * often_mean_;
}

Measures Pace::measures(std::uint64_t salt) const {
  const ConstReals worth = worths_ ? ConstReals(roots_) : ConstReals();
  return {damping_, counted_, trust_, enough_, worth, usual_, salt};
}

// What a counter says is of all keys of its word: as many as there are used cells, on average.
double Pace::keys_of_counter(const Point& point) const {
  const CountingCells& cells = *point.storage.counting();
  const double full = static_cast<double>(cells.used()) / static_cast<double>(cells.size());
  const double others = std::max(Counter::kBytes / static_cast<double>(point.loss.classes()), 1.0);
  return 1.0 + (others - 1.0) * full;
}

// Where keys of a single batch meet in a cell, what was met there before says little of any of
// them.
void Pace::know(const Point& point, double of_one) {
  known_.clear();
  if (!(of_one > 0.0) || met_.empty()) return;
  const double rows = std::max(static_cast<double>(point.targets.weighed()), 1.0);
  const double one = of_one / (keys_of_counter(point) * crowding_ * crowding_ * rows);
  point.active.mean_squares(known_);
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i] *= one * (met_[i] + often_[i]);
}

// Counters go on from pass to pass, and stand in the middle of this one on average.
void Pace::pull(const Point& point, double share) {
  pull_.clear();
  if (met_.empty() || !(share > 0.0)) return;
  const double passes = (static_cast<double>(point.passes) + 0.5) * keys_of_counter(point);
  pull_.resize(met_.size());
  for (std::size_t i = 0; i < pull_.size(); ++i) {
    pull_[i] = share * std::min(often_[i] * passes / std::max(met_[i], 1.0), 1.0);
  }
}

void Pace::step(ConstReals paces, Length length, ConstReals weights, Reals change) const {
  const std::size_t n = paces.size(), width = change.size() / std::max<std::size_t>(n, 1);
  if (known_.empty()) {
    for (double& value : change) value *= length.own;
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      scale_few(&change[i * width], width, held(length.own, paces[i], i));
    }
  }
  if (pull_.empty() || !(length.usual > 0.0)) return;
  for (std::size_t i = 0; i < n; ++i) {
    const double step = known_.empty() ? length.own : held(length.own, paces[i], i);
    const double part = std::min(pull_[i] * step / length.usual, kMostPull);
    for (std::size_t c = i * width; c < (i + 1) * width; ++c) change[c] += part * weights[c];
  }
}

void Pace::damp_selected(const Places& places, Reals change) {
  alone_.assign(often_.size(), 0.0);
  const std::size_t width = width_of(places, change);
  const float usual = log_of(often_mean_);
  for (const std::uint32_t i : places.chosen) {
    const std::size_t column = places.column_of(i);
    const double pace = pace_of(power_, log_of(often_[column]), usual);
    alone_[column] = damping_.empty() ? pace : damping_[column] * pace;
    scale_few(&change[i * width], width, alone_[column]);
  }
}

void Pace::damp_cells(Reals change) const {
  const std::size_t n = cells_.size(), width = n == 0 ? 1 : change.size() / n;
  if (width == 1) {
    for (std::size_t i = 0; i < n; ++i) change[i] *= cells_[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) scale_few(&change[i * width], width, cells_[i]);
  }
}

void Pace::tilt(const Point& point, ConstReals rest, Reals tilted) {
  const Places& places = point.places;
  const std::size_t n = places.chosen.size(), width = width_of(places, rest);
  bear::tilt(rest, logs_, often_, tilted);
  chosen_.resize(n * width);
  chosen_logs_.resize(n);
  chosen_often_.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t i = places.chosen[c], column = places.column_of(i);
    copy_few(&point.weights[i * width], &chosen_[c * width], width);
    chosen_logs_[c] = logs_[column];
    chosen_often_[c] = often_[column];
  }
  bear::tilt(chosen_, chosen_logs_, chosen_often_, chosen_);
  for (std::size_t c = 0; c < n; ++c) {
    copy_few(&chosen_[c * width], &tilted[places.chosen[c] * width], width);
  }
}

}  // namespace bear

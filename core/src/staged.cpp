#include "bear/direction/staged.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

// Chosen on text, URLs and DNA; see the page on accuracy per byte.
constexpr double kPhi = 1.5, kTau = 30.0;
constexpr double kStepMemory = 0.02;  // of the running step
constexpr double kMostStep = 2.0;  // times what the batch itself allows: beyond, its loss may rise
constexpr double kInterceptPhi = 0.5;
constexpr double kOffsetShare = 0.1;  // of that step, for what the selected differ by
// Of the step of the selected for squared errors: what the batch allows is there its very minimum,
// and beyond it one pass only follows noise.
constexpr double kTightShare = 1.0 / 3.0;

// Steps begin small: what noise does early to a short stream is not undone later, while shy steps
// grow to full strength within some 20 batches. Margins may be a little too bold before steps
// shrink: one pass of text is better for it, and clicks are not worse.
constexpr double kFirstStrength = 0.35, kLeastStrength = 0.02;  // full strength is 1
constexpr double kMemory = 0.05;                                // of the running slope
constexpr double kRate = 0.05;                                  // at which strength follows it
constexpr double kBoldness = 0.1;                               // share that is let pass
// With many classes margins are bold because cells are shared, which smaller steps do not mend.
constexpr double kManyBoldness = 0.5;
constexpr double kMostShrink = -1.0, kMostGrowth = 3.0;
// Information about the factor on the margins, in squared standard errors, at which strength
// follows at half its rate: with one click in a hundred rows a few batches say nothing.
constexpr double kInformation = 20.0;

// A key of mean frequency must be above the smallest of the selected by the root of this to replace
// it.
constexpr double kMargin = 1.5;
constexpr double kNever = 1e-100;     // less often than anything that occurs
constexpr double kCountedOnce = 4.0;  // batches of which one is counted

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

Staged::Staged(double scale, std::vector<double> means) : scale_(scale) {
  now_.log_strength = std::log(kFirstStrength);
  now_.offset.resize(means.size());
  now_.means = std::move(means);
  next_ = now_;
}

std::vector<double> Staged::numbers() const {
  std::vector<double> all{now_.selected_clock, now_.cell_clock, now_.log_strength, now_.slope,
                          now_.curvature,      now_.error,      now_.step,         now_.batches};
  const auto shared = now_.sharing.numbers();
  all.insert(all.end(), shared.begin(), shared.end());
  all.insert(all.end(), now_.offset.begin(), now_.offset.end());
  all.insert(all.end(), now_.means.begin(), now_.means.end());
  return all;
}

void Staged::restore(std::span<const double> numbers) {
  constexpr std::size_t kScalars = 8, kAll = kScalars + Sharing::kNumbers;
  const std::size_t n = now_.means.size();
  if (numbers.size() != kAll + 2 * n || !(numbers[0] >= 0.0) || !(numbers[1] >= 0.0) ||
      !(numbers[6] >= 0.0) || !(numbers[7] >= 0.0)) {
    throw std::invalid_argument("the staged direction needs its clocks, its strength and its step");
  }
  const double strength = std::clamp(numbers[2], std::log(kLeastStrength), 0.0);
  const auto offset = numbers.subspan(kAll, n), means = numbers.subspan(kAll + n);
  now_ = {numbers[0], numbers[1], strength, numbers[3], numbers[4], numbers[5],
          numbers[6], numbers[7], {},       {},         {}};
  now_.offset.assign(offset.begin(), offset.end());
  now_.means.assign(means.begin(), means.end());
  now_.sharing.restore(numbers.subspan(kScalars, Sharing::kNumbers));
}

// own: what the batch allows along the direction of the block; running: what others did; wait: the
// clock of the block by its tau.
double Staged::block_step(double own, double running, double wait) const {
  const double pace =
      importance_ * scale_ * std::exp(next_.log_strength) * kPhi / std::sqrt(1.0 + wait);
  return std::min(pace * std::sqrt(own * running), kMostStep * own);
}

void Staged::direct(const Point& point, Reals z) {
  next_ = now_;
  importance_ = point.importance;
  slope_ = squares_ = 0.0;
  measure_values(point);
  measure_frequencies(point);
  move_intercept(point);
  follow_noise(point);
  split_margins(point);
  std::fill(z.begin(), z.end(), 0.0);
  const double selected = selected_step(point, z);
  for (double& value : z) value *= selected;
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = full_[i] - selected * u_[i];
  const double cells = cell_step(point);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += cells * g_[i];
  step_size_ = block_step(next_.step, next_.step, now_.cell_clock / kTau);
}

// A step that suits a value of 40 is 1,600 times too small for one of 1. So steps are taken as if
// the values of a feature were divided by their root mean square where that is above 1; where no
// value is, as in text and clicks, nothing changes.
void Staged::measure_values(const Point& point) {
  usual_ = 1.0;
  if (!point.active.mean_squares(damping_)) return damping_.clear();
  double sum = 0.0;
  for (double& square : damping_) {
    square = 1.0 / std::max(square, 1.0);
    sum += square;
  }
  usual_ = std::sqrt(static_cast<double>(damping_.size()) / sum);
}

// A step that suits what every row holds is too short for what one row in a thousand does, and the
// rare is most of what there is. So a weight moves by its gradient over the root of how often it
// occurs, by the mean: a selected one in the batch, one of a cell by how often all keys of the cell
// do, and did where that is counted.
void Staged::measure_frequencies(const Point& point) {
  point.active.occurrences(point.targets.weights, often_);
  if (!point.targets.weights.empty()) {
    const double row = point.targets.total() / static_cast<double>(point.targets.weighed());
    for (double& times : often_) times = row > 0.0 ? times / row : 0.0;
  }
  often_mean_ = mean_of(often_);
  cell_pace_.resize(often_.size());
  point.storage.crowd(point.places, often_, cell_pace_);
  const CountingCells* const counting = point.storage.counting();
  if (counting != nullptr) count(point, *counting);
  const double root = std::sqrt(mean_of(cell_pace_));
  roots_.resize(often_.size());
  // Where nothing occurs nothing moves, so any finite pace will do.
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    roots_[i] = std::sqrt(std::max(cell_pace_[i], kNever));
    cell_pace_[i] = root / roots_[i];
  }
  trust_ = often_;
  if (counting != nullptr) {
    for (std::size_t i = 0; i < trust_.size(); ++i) trust_[i] *= roots_[i];
  }
  worths_ = counting != nullptr && point.loss.classes() <= kFewClasses;
  enough_ = kMargin * (worths_ ? often_mean_ : mean_of(trust_));
  for (std::size_t i = 0; i < damping_.size(); ++i) cell_pace_[i] *= damping_[i];
}

// To the keys of this batch come those that were met before. Every fourth batch is counted, four
// times over: counters are estimates, and to write them takes longer than to read them.
void Staged::count(const Point& point, const CountingCells& cells) {
  met_.resize(often_.size());
  cells.met(point.places.cells, point.places.depth, met_);
  for (std::size_t i = 0; i < met_.size(); ++i) {
    cell_pace_[i] += cell_pace_[i] > 0.0 ? kPatience + met_[i] : 0.0;
  }
  counted_.clear();
  // Of merged models the number of batches is a mean, and need not be whole.
  if (std::fmod(std::floor(now_.batches), kCountedOnce) != 0.0) return;
  counted_ = often_;
  for (double& times : counted_) times *= kCountedOnce;
}

Measures Staged::measures() const {
  const ConstReals worth = worths_ ? ConstReals(roots_) : ConstReals();
  const auto salt = std::bit_cast<std::uint64_t>(next_.batches);
  return {damping_, counted_, trust_, enough_, worth, usual_, salt};
}

void Staged::damp_selected(const Places& places, Reals change) const {
  const std::size_t width = width_of(places, change);
  for (const std::uint32_t i : places.chosen) {
    const std::size_t column = places.column_of(i);
    const double pace = std::sqrt(often_mean_ / std::max(often_[column], kNever));
    scale_few(&change[i * width], width, damping_.empty() ? pace : damping_[column] * pace);
  }
}

void Staged::damp_cells(Reals change) const {
  const std::size_t n = cell_pace_.size(), width = n == 0 ? 1 : change.size() / n;
  if (width == 1) {
    for (std::size_t i = 0; i < n; ++i) change[i] *= cell_pace_[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) scale_few(&change[i * width], width, cell_pace_[i]);
  }
}

double Staged::intercept_pace(const Point& point) const {
  return importance_ * scale_ * kInterceptPhi / point.loss.curvature_bound() /
         std::sqrt(1.0 + now_.batches);
}

// The constant moves to what the mean of all labels so far asks for, before any weight does: else
// every feature of the first batches is blamed for what most labels are. With classes an example
// of no opinion is counted in. Then it takes a step of its own along with the weights.
void Staged::move_intercept(const Point& point) {
  full_.assign(point.margins.begin(), point.margins.end());
  residual_.resize(full_.size());
  intercept_step_.assign(next_.means.size(), 0.0);
  const std::size_t classes = point.loss.classes();
  if (next_.means.empty() || !(point.targets.total() > 0.0)) {
    value_ = point.loss.gradient(full_, point.targets, residual_);
    return;
  }
  constant_ = next_.means;
  point.loss.link(constant_);
  u_.resize(full_.size());
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = constant_[i % classes];
  point.loss.residuals(u_, point.targets, residual_);
  const double rows = static_cast<double>(point.targets.weighed());
  const double prior = point.loss.bound_is_tight() ? 0.0 : 1.0 / rows;  // numbers may be far from 0
  const double rate = std::min(importance_, 1.0) / (now_.batches + 1.0 + prior);
  for (std::size_t i = 0; i < u_.size(); ++i) next_.means[i % classes] -= rate * residual_[i];
  intercept_step_ = next_.means;
  point.loss.link(intercept_step_);
  for (std::size_t c = 0; c < classes; ++c) intercept_step_[c] -= constant_[c];
  for (std::size_t i = 0; i < full_.size(); ++i) full_[i] += intercept_step_[i % classes];
  value_ = point.loss.gradient(full_, point.targets, residual_);
  const double step = intercept_pace(point);
  intercept_own_.assign(classes, 0.0);
  for (std::size_t i = 0; i < u_.size(); ++i) intercept_own_[i % classes] += step * residual_[i];
  for (std::size_t c = 0; c < classes; ++c) intercept_step_[c] -= intercept_own_[c];
}

// The constant of the selected moves as the intercept does, only slower, by the margins that
// they make alone: a few words that speak against a label need one that the whole model does not.
void Staged::move_offset(const Point& point) {
  const std::size_t classes = point.loss.classes();
  if (now_.offset.empty() || point.places.groups == 0 || !(point.targets.total() > 0.0)) return;
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] += now_.offset[i % classes];
  residual_.resize(margins_.size());
  point.loss.residuals(margins_, point.targets, residual_);
  const double step = kOffsetShare * intercept_pace(point);
  for (std::size_t c = 0; c < classes; ++c) next_.offset[c] += kOffsetShare * intercept_own_[c];
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    next_.offset[i % classes] -= step * residual_[i];
  }
}

// A Newton step on the common factor says by which share the margins should grow. Examples that
// were learned before say nothing about noise, so that after the first pass strength stays.
void Staged::follow_noise(const Point& point) {
  const std::size_t classes = point.loss.classes();
  const std::size_t rows = point.targets.weighed();
  const double total = point.targets.total();
  if (!(total > 0.0)) return;
  next_.batches += 1.0;
  if (point.passes > 0) return;
  u_.assign(point.margins.begin(), point.margins.end());
  constant_.assign(point.intercept.begin(), point.intercept.end());
  if (rows > 1) {
    constant_.assign(classes, 0.0);
    for (std::size_t i = 0; i < u_.size(); ++i) {
      constant_[i % classes] += point.targets.weight(i / classes) / total * u_[i];
    }
  }
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] -= constant_[i % classes];
  const double slope = dot(residual_, u_);
  const double curvature = point.loss.curvature_along(full_, point.targets, u_);
  next_.slope += kMemory * (slope - next_.slope);
  next_.curvature += kMemory * (curvature - next_.curvature);
  next_.error += kMemory * (value_ - next_.error);
  const double dispersion = point.loss.dispersion(next_.error);
  if (!(next_.curvature > 0.0) || !(dispersion > 0.0)) return;
  const double boldness = classes > 2 ? kManyBoldness : kBoldness;
  const double growth =
      std::clamp(boldness - next_.slope / next_.curvature, kMostShrink, kMostGrowth);
  const double information = static_cast<double>(rows) * next_.curvature / (kMemory * dispersion);
  next_.log_strength += kRate * growth * information / (information + kInformation);
  next_.log_strength = std::clamp(next_.log_strength, std::log(kLeastStrength), 0.0);
}

// Leaves in margins_ the part of the margins that the selected weights and the intercept make.
void Staged::split_margins(const Point& point) {
  rest_.assign(point.weights.begin(), point.weights.end());
  clear_selected(point.places, rest_);
  margins_.resize(full_.size());
  point.active.margins(rest_, point.loss.classes(), margins_);
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = full_[i] - margins_[i];
  members_ = point.places.chosen.size();
  move_offset(point);
}

// z = gradient of the selected alone; u_ = the change of margins along it. Returns the step.
double Staged::selected_step(const Point& point, Reals z) {
  u_.assign(margins_.size(), 0.0);
  if (members_ == 0) return 0.0;
  find_residuals(point);
  point.active.gradient(residual_, point.loss.classes(), z);
  keep_selected(point.places, z, stored_);
  damp_selected(point.places, z);
  const double own = line_step(point, z);
  next_.selected_clock += static_cast<double>(members_) / static_cast<double>(point.selected);
  const double running = now_.step > 0.0 ? now_.step : own;
  const double share = point.loss.bound_is_tight() ? kTightShare : 1.0;
  return share * block_step(own, running, now_.selected_clock / kTau);
}

// g_ = gradient of everything that is not selected, at the margins after the selected moved.
double Staged::cell_step(const Point& point) {
  find_residuals(point);
  g_.resize(point.weights.size());
  stored_.resize(g_.size());
  point.active.gradient(residual_, point.loss.classes(), g_);
  clear_selected(point.places, g_);
  damp_cells(g_);
  const std::size_t touched = point.storage.reflect(point.places, g_, stored_);
  const double own = line_step(point, stored_);
  learn_step(point);
  if (touched > 0) {
    next_.cell_clock +=
        static_cast<double>(touched) / static_cast<double>(std::max(touched, point.storage.used()));
  }
  return block_step(own, next_.step, now_.cell_clock / kTau);
}

// At margins_; what all rows have in common is left to the intercept, where there is one. Of more
// than two classes each has few rows in a batch: the mean of their residuals is no offset, but
// news.
void Staged::find_residuals(const Point& point) {
  residual_.resize(margins_.size());
  point.loss.residuals(margins_, point.targets, residual_);
  if (shares_offset()) {
    now_.sharing.center(point.targets, point.loss.classes(), residual_);
  }
}

// The running step learns what both blocks allow.
void Staged::learn_step(const Point& point) {
  if (!(squares_ > 0.0)) return;
  const double allowed = slope_ / (point.loss.curvature_bound() * squares_);
  const double rate = next_.step > 0.0 ? std::max(kStepMemory, 1.0 / next_.batches) : 1.0;
  next_.step += rate * (allowed - next_.step);
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
  next_.sharing.learn(point.targets, classes, residual_, u_);
  slope_ += slope;
  squares_ += squares / total;
  return slope * total / (point.loss.curvature_bound() * squares);
}

std::unique_ptr<Direction> make_staged(double scale, std::vector<double> means) {
  return std::make_unique<Staged>(scale, std::move(means));
}

}  // namespace bear

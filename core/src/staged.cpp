#include "bear/direction/staged.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bear {

namespace {

// Chosen on text, URLs and DNA; see the page on accuracy per byte.
constexpr double kPhi = 1.5, kTau = 30.0;
constexpr double kStepMemory = 0.02;  // of the running step
constexpr double kMostStep = 2.0;  // times what the batch itself allows: beyond, its loss may rise
constexpr double kInterceptPhi = 0.5;
constexpr double kLeastBend = 0.0025;  // by the bound
constexpr double kLeastShare = 0.35;   // where rows have less in common it is not worth the time
constexpr double kMostWait = 400.0;    // batches; beyond, rounding would outrun the intercept
constexpr double kOffsetShare = 0.1;   // of that step, for what the selected differ by

constexpr double kPullPower = 2.0;   // of the share of the loss that is left
constexpr double kSettled = 1000.0;  // batches after which rarity learns only from those counted

// Whether examples that are seen again move weights less and take some of them back. With two
// labels several passes gain by it; with numbers and many classes they lose.
bool tempers_repeats(const Loss& loss) {
  return !loss.bound_is_tight() && loss.classes() <= kFewClasses;
}

// As many as there would be were they equally frequent, and a few at least; without means as many
// as there is room for.
double classes_met(const Loss& loss, ConstReals means) {
  double squares = 0.0;
  for (const double mean : means) squares += mean * mean;
  const auto room = static_cast<double>(loss.classes());
  const double met = loss.classes() > kFewClasses && squares > 0.0 ? 1.0 / squares : room;
  return std::max(met, static_cast<double>(kFewClasses));
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

// Margins from their mean, by class; of a single row as they are.
void center(const Targets& targets, Reals margins) {
  if (targets.weighed() < 2) return;
  const std::size_t rows = targets.labels.size(), classes = margins.size() / rows;
  const double total = targets.total();
  for (std::size_t c = 0; c < classes; ++c) {
    double mean = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
      mean += targets.weight(row) / total * margins[row * classes + c];
    }
    for (std::size_t i = c; i < margins.size(); i += classes) margins[i] -= mean;
  }
}

}  // namespace

Staged::Staged(double scale, std::vector<double> means) : scale_(scale) {
  now_.offset.resize(means.size());
  now_.means = std::move(means);
  next_ = now_;
}

std::vector<double> Staged::numbers() const {
  std::vector<double> all{now_.selected_clock, now_.cell_clock, now_.step, now_.batches};
  const auto add = [&](const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(now_.strength.numbers());
  add(now_.sharing.numbers());
  add(now_.rarity.numbers());
  add(now_.kinship.numbers());
  add(now_.evidence.numbers());
  add(now_.offset);
  add(now_.means);
  return all;
}

void Staged::restore(std::span<const double> numbers) {
  constexpr std::size_t kClocks = 4;
  constexpr std::size_t kParts = Strength::kNumbers + Sharing::kNumbers + Rarity::kNumbers +
                                 Kinship::kNumbers + Evidence::kNumbers;
  const std::size_t classes = now_.means.size();
  const auto below = [](double number) { return !(number >= 0.0); };
  if (numbers.size() != kClocks + kParts + 2 * classes ||
      std::any_of(numbers.begin(), numbers.begin() + kClocks, below)) {
    throw std::invalid_argument("the staged direction needs its clocks, its strength and its step");
  }
  now_ = {};
  now_.selected_clock = numbers[0];
  now_.cell_clock = numbers[1];
  now_.step = numbers[2];
  now_.batches = numbers[3];
  auto rest = numbers.subspan(kClocks);
  const auto take = [&](std::size_t count) {
    const auto taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
  };
  now_.strength.restore(take(Strength::kNumbers));
  now_.sharing.restore(take(Sharing::kNumbers));
  now_.rarity.restore(take(Rarity::kNumbers));
  now_.kinship.restore(take(Kinship::kNumbers));
  now_.evidence.restore(take(Evidence::kNumbers));
  const auto offset = take(classes), means = take(classes);
  now_.offset.assign(offset.begin(), offset.end());
  now_.means.assign(means.begin(), means.end());
}

// own: what the batch allows along the direction of the block; running: what others did; wait: the
// clock of the block by its tau.
Pace::Length Staged::block_step(double own, double running, double wait) const {
  const double pace = importance_ * scale_ * next_.strength.factor() * kPhi /
                      std::sqrt((1.0 + wait) * (1.0 + repeats_));
  const double usual = std::sqrt(own * running);
  return {std::min(pace * usual, kMostStep * own), usual};
}

void Staged::direct(const Point& point, Reals z) {
  next_ = now_;
  importance_ = point.importance;
  repeats_ = tempers_repeats(point.loss) ? static_cast<double>(point.passes) : 0.0;
  slope_ = squares_ = 0.0;
  keep_ = 1.0;
  pace_.measure(point, now_.rarity.power(), counts());
  move_intercept(point);
  tau_ = kTau * classes_met(point.loss, next_.means) / static_cast<double>(kFewClasses);
  pace_.know(point, next_.evidence.of_one(point.loss, next_.means));
  pace_.pull(point, repeats_ > 0.0 ? std::pow(next_.evidence.left(), kPullPower) : 0.0);
  rest_.assign(point.weights.begin(), point.weights.end());
  clear_selected(point.places, rest_);
  follow_noise(point);
  split_margins(point);
  std::fill(z.begin(), z.end(), 0.0);
  move_selected(point, z);
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = full_[i] - u_[i];
  const Pace::Length cells = cell_step(point);
  pace_.step_cells(cells, rest_, g_);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += g_[i];
  balance(point, z);
  if (point.loss.classes() > kFewClasses) forget();
  step_size_ = block_step(next_.step, next_.step, now_.cell_clock / tau_).own;
}

// Of merged models the number of batches is a mean, and need not be whole.
bool Staged::counts() const { return std::fmod(std::floor(now_.batches), kCountedOnce) == 0.0; }

// With one click in a hundred rows the loss bends 25 times less along the constant than the bound
// says: steps by the bound never take back what noise in the margins adds to the mean, and steps by
// the bend follow every click. Between them stands the geometric mean.
double Staged::intercept_pace(const Point& point) const {
  const double bound = point.loss.curvature_bound();
  const double bend = next_.means.empty() ? bound : point.loss.curvature_at(next_.means);
  return importance_ * scale_ * kInterceptPhi /
         std::sqrt(bound * std::max(bend, kLeastBend * bound)) /
         std::sqrt(1.0 + std::min(now_.batches, kMostWait));
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
  const double constant = point.loss.gradient(u_, point.targets, residual_);
  const double rows = static_cast<double>(point.targets.weighed());
  const double prior = point.loss.bound_is_tight() ? 0.0 : 1.0 / rows;  // numbers may be far from 0
  const double rate = std::min(importance_, 1.0) / (now_.batches + 1.0 + prior);
  for (std::size_t i = 0; i < u_.size(); ++i) next_.means[i % classes] -= rate * residual_[i];
  intercept_step_ = next_.means;
  point.loss.link(intercept_step_);
  for (std::size_t c = 0; c < classes; ++c) intercept_step_[c] -= constant_[c];
  for (std::size_t i = 0; i < full_.size(); ++i) full_[i] += intercept_step_[i % classes];
  value_ = point.loss.gradient(full_, point.targets, residual_);
  if (point.passes == 0) next_.evidence.learn(constant, value_, now_.batches);
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

// Examples that were learned before say nothing about noise, so that after the first pass strength
// and the power of rarity stay.
void Staged::follow_noise(const Point& point) {
  if (!(point.targets.total() > 0.0)) return;
  next_.batches += 1.0;
  if (point.passes > 0) return;
  u_.assign(point.margins.begin(), point.margins.end());
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] -= point.intercept[i % point.intercept.size()];
  center(point.targets, u_);
  const Bend bend = bend_along(point, u_);
  next_.strength.learn(point.loss, point.targets, bend, value_);
  if (next_.batches <= kSettled || counts()) follow_rarity(point, bend.curvature);
}

// u_: the margins from their mean, along which the curvature is that.
void Staged::follow_rarity(const Point& point, double curvature) {
  g_.resize(rest_.size());
  pace_.tilt(point, rest_, g_);
  margins_.resize(u_.size());
  point.active.margins(g_, point.loss.classes(), margins_);
  center(point.targets, margins_);
  const Bend bend = bend_along(point, margins_);
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += margins_[i];
  const double both = point.loss.curvature_along(full_, point.targets, u_);
  const double mixed = 0.5 * (both - curvature - bend.curvature);
  const double noise = next_.strength.noise(point.loss, point.targets);
  next_.rarity.learn(bend, mixed, next_.strength.running(), noise);
}

Bend Staged::bend_along(const Point& point, ConstReals change) const {
  return {dot(residual_, change), point.loss.curvature_along(full_, point.targets, change)};
}

// Leaves in margins_ the part of the margins that the selected weights and the intercept make, and
// what these are to have beside them.
void Staged::split_margins(const Point& point) {
  margins_.resize(full_.size());
  beside_.resize(full_.size());
  point.active.margins(rest_, point.loss.classes(), beside_);
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] = full_[i] - beside_[i];
  members_ = point.places.chosen.size();
  u_ = margins_;
  move_offset(point);
  if (members_ > 0 && point.targets.weighed() > 1) stand_beside(point);
}

// u_: the margins of the selected, with some constant. As far as they do not stand alone, their
// margins are those of the whole model, constants and all: else the selected and the intercept
// would push what the two differ by back and forth for ever.
void Staged::stand_beside(const Point& point) {
  center(point.targets, u_);
  center(point.targets, beside_);
  if (point.passes == 0) next_.kinship.learn(point.targets, u_, beside_);
  const double share = next_.kinship.beside();
  for (std::size_t i = 0; i < margins_.size(); ++i) margins_[i] += share * (full_[i] - margins_[i]);
}

// z = the step of the selected, along their gradient; u_ = the change of margins by it.
void Staged::move_selected(const Point& point, Reals z) {
  u_.assign(margins_.size(), 0.0);
  if (members_ == 0) return;
  find_residuals(point);
  point.active.gradient(residual_, point.loss.classes(), z);
  keep_selected(point.places, z, stored_);
  pace_.damp_selected(point.places, z);
  const double own = line_step(point, z);
  next_.selected_clock += static_cast<double>(members_) / static_cast<double>(point.selected);
  const double running = now_.step > 0.0 ? now_.step : own;
  const Pace::Length step = block_step(own, running, now_.selected_clock / kTau);
  if (repeats_ > 0.0) {  // of what is selected; nothing else is asked for below
    stored_.assign(point.weights.begin(), point.weights.end());
    for (std::size_t i = 0; i < z.size(); ++i) stored_[i] -= rest_[i];
  }
  pace_.step_selected(step, stored_, z);
  point.active.margins(z, point.loss.classes(), u_);
}

// g_ = gradient of everything that is not selected, at the margins after the selected moved.
Pace::Length Staged::cell_step(const Point& point) {
  find_residuals(point);
  g_.resize(point.weights.size());
  stored_.resize(g_.size());
  point.active.gradient(residual_, point.loss.classes(), g_);
  clear_selected(point.places, g_);
  pace_.damp_cells(g_);
  const std::size_t touched = point.storage.reflect(point.places, g_, stored_);
  const double own = line_step(point, stored_);
  learn_step(point);
  if (touched > 0) {
    // With many classes it goes by keys: those of a batch that share a cell leave their noise
    // there.
    const double updates =
        static_cast<double>(touched) / static_cast<double>(std::max(touched, point.storage.used()));
    next_.cell_clock += updates * (point.loss.classes() > kFewClasses ? pace_.crowding() : 1.0);
  }
  return block_step(own, next_.step, now_.cell_clock / tau_);
}

// At margins_; what all rows have in common is left to the intercept, where there is one.
void Staged::find_residuals(const Point& point) {
  residual_.resize(margins_.size());
  point.loss.residuals(margins_, point.targets, residual_);
  if (!now_.means.empty()) now_.sharing.center(point.targets, now_.means, residual_);
}

// What features that many rows have moved all margins by goes to the intercept, as far as the mean
// of the residuals did: together that is as if their values counted from their means. What a row
// does to its own margin says nothing of others, so it is left out, and so are values on both sides
// of zero: their mean is mostly noise.
void Staged::balance(const Point& point, ConstReals z) {
  const std::size_t classes = point.loss.classes();
  if (now_.means.empty() || now_.sharing.share() < kLeastShare) return;
  if (point.targets.weighed() < 2) return;
  const auto rows = static_cast<double>(point.targets.weighed());
  const ConstReals often = pace_.often();
  std::vector<double>& means = stored_;
  double unit = 1.0 / point.targets.total();
  if (const double value = point.active.common_value(); value != 0.0) {
    means.assign(often.begin(), often.end());
    unit = value / rows;
  } else {
    point.active.one_sided_sums(point.targets.weights, means);
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] *= often[i] > 1.0 ? unit * (1.0 - 1.0 / often[i]) * rows / (rows - 1.0) : 0.0;
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const double part = now_.sharing.share_of(now_.means[c], rows, classes);
    double moved = 0.0;
    for (std::size_t i = 0; i < means.size(); ++i) moved += means[i] * z[i * classes + c];
    intercept_step_[c] += part * moved;
  }
}

// With many classes, as steps get shorter, what longer ones left in the cells is forgotten in part:
// early rows would count for more than late ones, and shorter steps would not undo their noise.
void Staged::forget() {
  const auto pace = [this](const State& state) {
    return state.strength.factor() / std::sqrt(1.0 + state.cell_clock / tau_);
  };
  keep_ = std::min(std::cbrt(pace(next_) / pace(now_)), 1.0);
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

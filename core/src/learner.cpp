#include "bear/learner.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bear/key_row.hpp"
#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

constexpr double kLargestWeight = 1e15;
constexpr double kBlowUpFactor = 10.0;  // times the loss of predicting nothing
constexpr double kBlowUpRate = 0.1;     // of the running means compared
constexpr std::uint64_t kBlowUpBatches = 50;
constexpr double kMostImportance = 2.0;  // times a step; beyond, the loss of the batch may rise

std::unique_ptr<Loss> make_loss(const Recipe& recipe) {
  switch (recipe.loss) {
    case Recipe::LossKind::squared:
      return make_squared();
    case Recipe::LossKind::logistic:
      return make_logistic();
    case Recipe::LossKind::softmax:
      return make_softmax(recipe.classes);
  }
  throw std::invalid_argument("unknown loss");
}

// Beside one-byte cells the selected are short as well, or they would take most of what the cells
// save: two bytes for a weight, one where a key has several. Not for numbers, which may be large.
Precision selected_precision(const Recipe& recipe, std::size_t classes) {
  if (recipe.precision != Precision::int8) return recipe.precision;
  if (recipe.direction != Recipe::DirectionKind::staged ||
      recipe.loss == Recipe::LossKind::squared) {
    return Precision::float32;
  }
  return classes > 1 && !recipe.per_class ? Precision::int8 : Precision::bfloat16;
}

// Weights of a few selected that are trained as a model of their own are full of noise, the more so
// the more often a key comes; over many classes noise adds up in the norm, while the largest weight
// is that of a key that speaks for a class.
Size size_to_keep(const Recipe& recipe) {
  return recipe.direction == Recipe::DirectionKind::staged ? Size::largest : Size::norm;
}

std::unique_ptr<Storage> make_storage(const Recipe& recipe, std::size_t classes,
                                      Selection& selection) {
  const SketchShape shape{recipe.width, recipe.depth,
                          classes,      recipe.query,
                          recipe.seed,  recipe.direction == Recipe::DirectionKind::staged};
  switch (recipe.storage) {
    case Recipe::StorageKind::dense:
      return make_dense(recipe.dimension, classes, recipe.precision);
    case Recipe::StorageKind::sketch:
      return make_count_sketch(shape, recipe.precision);
    case Recipe::StorageKind::cached:
      return make_cached_sketch(shape, recipe.precision, selection, true);
    case Recipe::StorageKind::cached_keep:
      return make_cached_sketch(shape, recipe.precision, selection, false);
  }
  throw std::invalid_argument("unknown storage");
}

std::unique_ptr<Direction> make_direction(const Recipe& recipe, const Loss& loss) {
  const std::size_t classes = loss.classes();
  std::vector<double> means(recipe.intercept ? classes : 0);
  loss.predict(means);
  switch (recipe.direction) {
    case Recipe::DirectionKind::gradient:
      return make_gradient();
    case Recipe::DirectionKind::lbfgs:
      return make_lbfgs(recipe.history, classes);
    case Recipe::DirectionKind::newton:
      return make_newton();
    case Recipe::DirectionKind::staged:
      return make_staged(recipe.step_size / Recipe{}.step_size, means);
  }
  throw std::invalid_argument("unknown direction");
}

std::unique_ptr<StepSize> make_step_size(const Recipe& recipe) {
  switch (recipe.step) {
    case Recipe::StepKind::constant:
      return std::make_unique<ConstantStep>(recipe.step_size);
    case Recipe::StepKind::decaying:
      return std::make_unique<DecayingStep>(recipe.step_size, recipe.step_offset);
    case Recipe::StepKind::automatic:
      return std::make_unique<AutomaticStep>(recipe.step_size);
  }
  throw std::invalid_argument("unknown step");
}

Targets targets_of(const BatchView& batch) { return {batch.labels, batch.weights}; }

}  // namespace

Learner::Learner(const Recipe& recipe)
    : recipe_(recipe),
      loss_(make_loss(recipe)),
      classes_(loss_->classes()),
      selection_(recipe.k, classes_, recipe.per_class, selected_precision(recipe, classes_),
                 recipe.seed, size_to_keep(recipe)),
      storage_(make_storage(recipe, classes_, selection_)),
      direction_(make_direction(recipe, *loss_)),
      step_size_(make_step_size(recipe)),
      intercept_(classes_, 0.0),
      calibration_(recipe.intercept),
      selected_calibration_(recipe.intercept),
      active_(recipe.seed) {
  if (recipe.batch_size < 1) throw std::invalid_argument("batch_size must be at least 1, got 0");
  if (recipe.evidence && recipe.k > 0) {
    using Score = evidence::Ledger::Score;
    const bool numbers = recipe.loss == Recipe::LossKind::squared;
    ledger_.emplace(selection_.groups(), recipe.k, std::max<std::size_t>(classes_, 2),
                    numbers ? Score::ranks : Score::labels, recipe.seed);
  }
}

Progress Learner::learn(const BatchView& batch, Reals margins) {
  if (batch.labels.size() != batch.n_rows()) {
    throw std::invalid_argument("labels must be one per example to learn, got " +
                                std::to_string(batch.labels.size()) + " for " +
                                std::to_string(batch.n_rows()));
  }
  loss_->check(batch.labels);
  storage_->check(
      batch.keys.subspan(batch.first_entry(), batch.last_entry() - batch.first_entry()));
  Progress progress;
  for (std::size_t start = 0; start < batch.n_rows(); start += recipe_.batch_size) {
    const std::size_t stop = std::min(start + recipe_.batch_size, batch.n_rows());
    const BatchView part = batch.rows(start, stop);
    const Reals before =
        margins.empty() ? margins : margins.subspan(start * classes_, (stop - start) * classes_);
    const double weight = targets_of(part).total();
    if (!std::isfinite(weight)) {
      throw std::invalid_argument("weights must add up to a finite number, they do not from row " +
                                  std::to_string(start) + " on");
    }
    progress.loss += weight * learn_minibatch(part, before);
    progress.weight += weight;
  }
  return progress;
}

// The loop of every learner: hash, query, gradient, direction, add, offer.
double Learner::learn_minibatch(const BatchView& batch, Reals margins) {
  active_.assign(batch);
  read_weights();
  const double value = evaluate(batch, w_);
  if (!margins.empty()) std::copy(margins_.begin(), margins_.end(), margins.begin());
  predict_selected();

  const Point point{active_,
                    *loss_,
                    targets_of(batch),
                    margins_,
                    residual_,
                    g_,
                    w_,
                    intercept_,
                    places_,
                    *storage_,
                    selection_.size(),
                    importance(targets_of(batch)),
                    counters_.passes};
  z_.resize(g_.size());
  direction_->direct(point, z_);
  const double norm = direction_->scaled() ? 0.0 : std::sqrt(dot(g_, g_));
  const bool uphill = norm > 0.0 && !(dot(g_, z_) > 0.0);
  if (uphill) std::copy(g_.begin(), g_.end(), z_.begin());
  const double step = choose_step(point);
  choose_intercept_step(step, point.importance);
  check_step(value, step);
  watch_for_blow_up(value, point);

  // Up to here nothing of the model has changed, should the minibatch be refused.
  calibrate(point.targets);
  if (ledger_) draw_evidence();
  guards_.uphill += uphill ? 1 : 0;
  counters_.gradient_norm = std::max(counters_.gradient_norm, norm);
  direction_->accept();
  write_step(step);
  const bool pair = direction_->wants_pair();
  if (pair || selection_.groups() > 0) read_again();
  if (pair) remember_pair(batch);
  selection_.offer(active_, places_, after_, z_, *storage_, direction_->measures());
  if (ledger_) ledger_->follow(selection_);
  for (std::size_t c = 0; c < classes_; ++c) intercept_[c] += intercept_s_[c];
  ++counters_.batches;
  counters_.examples += batch.n_rows();
  counters_.weighed += point.targets.weighed();
  counters_.weight += point.targets.total();
  counters_.step_size = step;
  return value;
}

// With the selected alone every eighth minibatch is predicted, once there are enough: margins of
// their own take a tenth of the time of learning.
void Learner::predict_selected() {
  constexpr std::uint64_t kEnough = 100, kEvery = 8;
  selected_margins_.clear();
  if (!calibrating_ || !calibrates() || selection_.groups() == 0) return;
  if (counters_.batches >= kEnough && counters_.batches % kEvery != 0) return;
  selected_margins_.resize(margins_.size());
  after_.assign(w_.begin(), w_.end());
  selection_.mask(places_, after_);
  active_.margins(after_, classes_, selected_margins_);
  add_intercept(selected_margins_);
  add_offset(selected_margins_);
}

void Learner::calibrate(const Targets& targets) {
  if (!calibrating_ || !calibrates()) return;
  calibration_.add(*loss_, margins_, targets);
  if (!selected_margins_.empty()) selected_calibration_.add(*loss_, selected_margins_, targets);
}

// With what was selected before this minibatch, whose rows had no part in selecting it.
void Learner::draw_evidence() {
  const BatchView& batch = active_.batch();
  occurrences_.find(active_, places_);
  ledger_->draw({batch.labels, batch.weights, batch.strata, batch.places, occurrences_.hashes()},
                occurrences_.list());
}

void Learner::read_weights() {
  selection_.find(active_, places_);
  if (!located_ || !active_.repeated()) {
    located_ = false;  // should this throw, the same keys are looked for again
    storage_->locate(active_, places_);
    located_ = true;
  }
  w_.resize(active_.size() * classes_);
  after_.resize(w_.size());
  storage_->query(places_, w_);
  if (recipe_.reads_selection) selection_.mask(places_, w_);
}

// The weights as they stand after the step. What a staged step comes to in cells is looked at where
// a key asks to be selected: for whether it asks, the step itself will do.
void Learner::read_again() {
  if (!direction_->scaled() || !storage_->exact() || recipe_.reads_selection) {
    return storage_->query(places_, after_);
  }
  for (std::size_t i = 0; i < w_.size(); ++i) after_[i] = w_[i] + s_[i];
}

// Loss at weights w; leaves margins, residuals and gradient behind.
double Learner::evaluate(const BatchView& batch, ConstReals w) {
  margins_.resize(batch.n_rows() * classes_);
  residual_.resize(margins_.size());
  active_.margins(w, classes_, margins_);
  add_intercept(margins_);
  const double value = loss_->gradient(margins_, targets_of(batch), residual_);
  g_.resize(w.size());
  if (!direction_->scaled()) active_.gradient(residual_, classes_, g_);
  return value;
}

// Inside a minibatch examples count by their share of its weight; what the whole of it weighs,
// beside those before, is in the length of its step. An example of weight 0 is none.
double Learner::importance(const Targets& targets) const {
  const double total = targets.total(), rows = static_cast<double>(targets.weighed());
  if (!(total > 0.0)) return 1.0;
  const double mean = (counters_.weight + total) / (static_cast<double>(counters_.weighed) + rows);
  return std::min(total / rows / mean, kMostImportance);
}

double Learner::choose_step(const Point& point) {
  if (direction_->scaled()) return 1.0;
  Slope slope{.gz = dot(g_, z_), .batches = counters_.batches, .passes = counters_.passes};
  if (step_size_->wants_curvature()) {
    s_.resize(margins_.size());
    active_.margins(z_, classes_, s_);
    const double total = point.targets.total();
    double sum = 0.0;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      sum += point.targets.weight(i / classes_) * s_[i] * s_[i];
    }
    slope.curvature = total > 0.0 ? loss_->curvature_bound() * sum / total : 0.0;
  }
  return point.importance * step_size_->size(slope);
}

void Learner::check_step(double value, double step) const {
  std::size_t unsound = !std::isfinite(value) || !std::isfinite(step);
  for (std::size_t i = 0; i < z_.size(); ++i) {
    unsound += !(std::abs(w_[i] - step * z_[i]) <= kLargestWeight);
  }
  for (std::size_t c = 0; c < classes_; ++c) {
    unsound += !(std::abs(intercept_[c] + intercept_s_[c]) <= kLargestWeight);
  }
  if (unsound == 0) return;
  std::ostringstream message;
  message << "minibatch " << counters_.batches << ": training diverged (loss " << value << ", step "
          << step << "); the model keeps the state before it";
  throw Diverged(message.str());
}

// Steps that overshoot make the loss grow far above that of predicting nothing at all.
void Learner::watch_for_blow_up(double value, const Point& point) {
  const double null = loss_->null_value(point.targets);
  const double rate = counters_.batches == 0 ? 1.0 : kBlowUpRate * std::min(point.importance, 1.0);
  mean_loss_ += rate * (value - mean_loss_);
  mean_null_ += rate * (null - mean_null_);
  blown_up_ = mean_loss_ > kBlowUpFactor * mean_null_ && mean_null_ > 0.0 ? blown_up_ + 1 : 0;
  if (blown_up_ < kBlowUpBatches) return;
  std::ostringstream message;
  message << "minibatch " << counters_.batches << ": training diverged (loss " << mean_loss_
          << " is " << mean_loss_ / mean_null_ << " times that of predicting nothing, for "
          << blown_up_ << " minibatches)";
  throw Diverged(message.str());
}

void Learner::write_step(double step) {
  selection_.draw_from(direction_->measures().salt);
  double keep = direction_->keep();
  if (recipe_.l2 > 0.0) {
    const double size = direction_->scaled() ? direction_->step_size() : step;
    const double decay = std::max(1.0 - size * recipe_.l2, 0.0);
    keep *= decay;
    selection_.scale(decay);
  }
  if (keep != 1.0) storage_->scale(keep);
  s_.resize(z_.size());
  for (std::size_t i = 0; i < z_.size(); ++i) s_[i] = -step * z_[i];
  selection_.hold_back(places_, s_, *storage_, direction_->measures());
  storage_->add(places_, s_);
  const ConstReals met = direction_->measures().met;
  if (!met.empty()) storage_->counting()->meet(places_.cells, places_.depth, met);
}

// A pair is the step made and the change of the gradient along it, both between the same two
// points: where gradients see the selection only, the masked weights before and after; else the
// weights before and the same plus the step, which saves what the sketch would add of noise.
void Learner::remember_pair(const BatchView& batch) {
  moved_ = after_;
  if (recipe_.reads_selection) {
    selection_.mask(places_, moved_);
    for (std::size_t i = 0; i < s_.size(); ++i) s_[i] = moved_[i] - w_[i];
  } else {
    for (std::size_t i = 0; i < s_.size(); ++i) moved_[i] = w_[i] + s_[i];
  }
  before_ = g_;
  evaluate(batch, moved_);
  for (std::size_t i = 0; i < g_.size(); ++i) g_[i] -= before_[i];
  direction_->observe(active_, s_, g_, guards_);
}

void Learner::add_intercept(Reals margins) const {
  if (!recipe_.intercept) return;
  for (std::size_t i = 0; i < margins.size(); ++i) margins[i] += intercept_[i % classes_];
}

void Learner::add_offset(Reals margins) const {
  const ConstReals offset = direction_->selected_offset();
  if (offset.empty()) return;
  for (std::size_t i = 0; i < margins.size(); ++i) margins[i] += offset[i % classes_];
}

// A block of its own: the automatic step along the constant is phi / kmax, averaged down with the
// root of the number of batches, because every batch moves this one weight.
void Learner::choose_intercept_step(double step, double importance) {
  intercept_s_.assign(classes_, 0.0);
  if (!recipe_.intercept) return;
  if (direction_->scaled()) {
    const ConstReals own = direction_->intercept_step();
    std::copy(own.begin(), own.end(), intercept_s_.begin());
    return;
  }
  double size = step;
  if (step_size_->wants_curvature()) {
    size = importance *
           step_size_->size({1.0, loss_->curvature_bound(), counters_.batches, counters_.passes}) /
           std::sqrt(1.0 + static_cast<double>(counters_.batches));
  }
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    intercept_s_[i % classes_] -= size * residual_[i];
  }
}

void Learner::predict(const BatchView& batch, bool selected_only, Reals margins) const {
  ActiveSet active(recipe_.seed);
  Places places;
  std::vector<double> w;
  constexpr std::size_t kRows = 256;  // bounds the scratch, whatever the batch
  for (std::size_t start = 0; start < batch.n_rows(); start += kRows) {
    const std::size_t stop = std::min(start + kRows, batch.n_rows());
    active.assign(batch.rows(start, stop));
    selection_.find(active, places);
    storage_->locate(active, places);
    w.resize(active.size() * classes_);
    storage_->query(places, w);
    if (selected_only || solves()) selection_.mask(places, w);
    const Reals out = margins.subspan(start * classes_, (stop - start) * classes_);
    active.margins(w, classes_, out);
    add_intercept(out);
    if (selected_only) add_offset(out);
  }
}

void Learner::query(Keys keys, Reals weights) const {
  const KeyRow row(keys, recipe_.seed);
  Places places;
  selection_.find(row.active(), places);
  storage_->locate(row.active(), places);
  storage_->query(places, weights);
  if (solves()) selection_.mask(places, weights);
}

void Learner::move(Keys keys, ConstReals change) {
  if (change.size() != keys.size() * classes_) {
    throw std::invalid_argument("a change must be given for every weight of the keys");
  }
  const KeyRow row(keys, recipe_.seed);
  Places places;
  selection_.find(row.active(), places);
  storage_->locate(row.active(), places);
  selection_.draw_from(counters_.batches);
  storage_->add(places, change);
}

void Learner::finish_pass() {
  ++counters_.passes;
  counters_.gradient_norm = 0.0;
  calibrating_ = false;
  if (ledger_) ledger_->freeze(true);
}

}  // namespace bear

#include "bear/update/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace bear {

namespace {

constexpr double kMostImportance = 2.0;  // times a step; beyond, the loss of the batch may rise

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

}  // namespace

Gradient::Gradient(const Parts& parts, std::unique_ptr<Direction> direction)
    : parts_(parts),
      classes_(parts.loss.classes()),
      direction_(std::move(direction)),
      step_size_(make_step_size(parts.recipe)),
      active_(parts.recipe.seed) {}

void Direction::direct(const Point& point, Reals z) {
  std::copy(point.gradient.begin(), point.gradient.end(), z.begin());
}

// Hash, query, gradient, direction.
double Gradient::solve(const BatchView& batch, const Before& before) {
  batch_ = batch;
  active_.assign(batch);
  read_weights();
  if (before.selected != nullptr) list(*before.selected);
  const double value = evaluate(w_);
  std::copy(margins_.begin(), margins_.end(), before.margins.begin());
  if (!before.selected_margins.empty()) predict_selected(before.selected_margins);
  const Targets targets{batch.labels, batch.weights};
  importance_ = importance();
  z_.resize(g_.size());
  direction_->direct({active_, parts_.loss, targets, margins_, residual_, g_}, z_);
  norm_ = std::sqrt(dot(g_, g_));
  uphill_ = norm_ > 0.0 && !(dot(g_, z_) > 0.0);
  if (uphill_) std::copy(g_.begin(), g_.end(), z_.begin());
  step_ = choose_step(targets);
  choose_intercept_step();
  check_step(value);
  return value;
}

// Add, offer.
void Gradient::write() {
  parts_.guards.uphill += uphill_ ? 1 : 0;
  parts_.counters.gradient_norm = std::max(parts_.counters.gradient_norm, norm_);
  parts_.counters.step_size = step_;
  Selection& selection = parts_.selection;
  selection.draw_from(0);
  if (parts_.recipe.l2 > 0.0) {
    const double decay = std::max(1.0 - step_ * parts_.recipe.l2, 0.0);
    selection.scale(decay);
    if (decay != 1.0) parts_.storage.scale(decay);
  }
  s_.resize(z_.size());
  for (std::size_t i = 0; i < z_.size(); ++i) s_[i] = -step_ * z_[i];
  parts_.storage.add(places_, s_);
  const bool pair = direction_->wants_pair();
  if (pair || selection.groups() > 0) parts_.storage.query(places_, after_);
  if (pair) remember_pair();
  selection.offer(active_, places_, after_, z_, parts_.storage);
  for (std::size_t c = 0; c < classes_; ++c) parts_.intercept[c] += intercept_s_[c];
}

void Gradient::read_weights() {
  parts_.selection.find(active_, places_);
  if (!located_ || !active_.repeated()) {
    located_ = false;  // should this throw, the same keys are looked for again
    parts_.storage.locate(active_, places_);
    located_ = true;
  }
  w_.resize(active_.size() * classes_);
  after_.resize(w_.size());
  parts_.storage.query(places_, w_);
  if (parts_.recipe.reads_selection) parts_.selection.mask(places_, w_);
}

void Gradient::list(evidence::Occurrences& selected) {
  const std::size_t first = batch_.first_entry(), groups = places_.groups;
  hashes_.resize(batch_.last_entry() - first);
  for (std::size_t e = 0; e < hashes_.size(); ++e) hashes_[e] = active_.hashes()[active_.column(e)];
  selected.start(batch_, hashes_, groups, parts_.recipe.k);
  for (std::size_t row = 0, e = 0; row < batch_.n_rows(); ++row) {
    const auto stop = static_cast<std::size_t>(batch_.indptr[row + 1]) - first;
    for (; e < stop; ++e) {
      const std::size_t at = active_.column(e) * groups;
      for (std::size_t g = 0; g < groups; ++g) {
        const std::int32_t slot = places_.members[at + g];
        if (slot >= 0) selected.add(g, slot, row, batch_.values[first + e]);
      }
    }
  }
  selected.finish();
}

// Loss at weights w; leaves margins, residuals and gradient behind.
double Gradient::evaluate(ConstReals w) {
  margins_.resize(batch_.n_rows() * classes_);
  residual_.resize(margins_.size());
  active_.margins(w, classes_, margins_);
  add_intercept(margins_);
  const double value = parts_.loss.gradient(margins_, {batch_.labels, batch_.weights}, residual_);
  g_.resize(w.size());
  active_.gradient(residual_, classes_, g_);
  return value;
}

void Gradient::predict_selected(Reals margins) {
  after_.assign(w_.begin(), w_.end());
  parts_.selection.mask(places_, after_);
  active_.margins(after_, classes_, margins);
  add_intercept(margins);
}

void Gradient::add_intercept(Reals margins) const {
  if (!parts_.recipe.intercept) return;
  for (std::size_t i = 0; i < margins.size(); ++i) margins[i] += parts_.intercept[i % classes_];
}

// Inside a minibatch examples count by their share of its weight; what the whole of it weighs,
// beside those before, is in the length of its step.
double Gradient::importance() const {
  const Targets targets{batch_.labels, batch_.weights};
  const double total = targets.total(), rows = static_cast<double>(targets.weighed());
  if (!(total > 0.0)) return 1.0;
  return std::min(total / rows / mean_weight(parts_.counters, targets), kMostImportance);
}

double Gradient::choose_step(const Targets& targets) const {
  Slope slope{
      .gz = dot(g_, z_), .batches = parts_.counters.batches, .passes = parts_.counters.passes};
  if (step_size_->wants_curvature()) {
    std::vector<double> along(margins_.size());
    active_.margins(z_, classes_, along);
    const double total = targets.total();
    double sum = 0.0;
    for (std::size_t i = 0; i < along.size(); ++i) {
      sum += targets.weight(i / classes_) * along[i] * along[i];
    }
    slope.curvature = total > 0.0 ? parts_.loss.curvature_bound() * sum / total : 0.0;
  }
  return importance_ * step_size_->size(slope);
}

void Gradient::check_step(double value) const {
  std::size_t unsound = !std::isfinite(value) || !std::isfinite(step_);
  for (std::size_t i = 0; i < z_.size(); ++i) {
    unsound += !(std::abs(w_[i] - step_ * z_[i]) <= kLargestWeight);
  }
  for (std::size_t c = 0; c < classes_; ++c) {
    unsound += !(std::abs(parts_.intercept[c] + intercept_s_[c]) <= kLargestWeight);
  }
  if (unsound == 0) return;
  std::ostringstream message;
  message << "minibatch " << parts_.counters.batches << ": training diverged (loss " << value
          << ", step " << step_ << "); the model keeps the state before it";
  throw Diverged(message.str());
}

// A pair is the step made and the change of the gradient along it, both between the same two
// points: where gradients see the selection only, the masked weights before and after; else the
// weights before and the same plus the step, which saves what the sketch would add of noise.
void Gradient::remember_pair() {
  moved_ = after_;
  if (parts_.recipe.reads_selection) {
    parts_.selection.mask(places_, moved_);
    for (std::size_t i = 0; i < s_.size(); ++i) s_[i] = moved_[i] - w_[i];
  } else {
    for (std::size_t i = 0; i < s_.size(); ++i) moved_[i] = w_[i] + s_[i];
  }
  before_ = g_;
  evaluate(moved_);
  for (std::size_t i = 0; i < g_.size(); ++i) g_[i] -= before_[i];
  direction_->observe(active_, s_, g_, parts_.guards);
}

// A block of its own: the automatic step along the constant is phi / kmax, averaged down with the
// root of the number of batches, because every batch moves this one weight.
void Gradient::choose_intercept_step() {
  intercept_s_.assign(classes_, 0.0);
  if (!parts_.recipe.intercept) return;
  double size = step_;
  if (step_size_->wants_curvature()) {
    const Counters& counters = parts_.counters;
    size =
        importance_ *
        step_size_->size({1.0, parts_.loss.curvature_bound(), counters.batches, counters.passes}) /
        std::sqrt(1.0 + static_cast<double>(counters.batches));
  }
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    intercept_s_[i % classes_] -= size * residual_[i];
  }
}

std::unique_ptr<Update> make_gradient(const Parts& parts) {
  return std::make_unique<Gradient>(parts, std::make_unique<Direction>());
}

}  // namespace bear

#include "bear/learner.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bear/key_row.hpp"

namespace bear {

namespace {

constexpr double kBlowUpFactor = 10.0;  // times the loss of predicting nothing
constexpr double kBlowUpRate = 0.1;     // of the running means compared
constexpr std::uint64_t kBlowUpBatches = 50;

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
  if (recipe.update != Recipe::UpdateKind::posterior || recipe.loss == Recipe::LossKind::squared) {
    return Precision::float32;
  }
  return classes > 1 && !recipe.per_class ? Precision::int8 : Precision::bfloat16;
}

// Weights of a few selected that are trained as a model of their own are full of noise, the more so
// the more often a key comes; over many classes noise adds up in the norm, while the largest weight
// is that of a key that speaks for a class.
Size size_to_keep(const Recipe& recipe) {
  return recipe.update == Recipe::UpdateKind::posterior ? Size::largest : Size::norm;
}

std::unique_ptr<Storage> make_storage(const Recipe& recipe, std::size_t classes,
                                      Selection& selection) {
  const SketchShape shape{recipe.width, recipe.depth,
                          classes,      recipe.query,
                          recipe.seed,  recipe.update == Recipe::UpdateKind::posterior};
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

std::unique_ptr<Update> make_update(const Parts& parts) {
  switch (parts.recipe.update) {
    case Recipe::UpdateKind::gradient:
      return make_gradient(parts);
    case Recipe::UpdateKind::lbfgs:
      return make_lbfgs(parts);
    case Recipe::UpdateKind::newton:
      return make_newton(parts);
    case Recipe::UpdateKind::posterior:
      return make_posterior(parts);
  }
  throw std::invalid_argument("unknown update");
}

// A count that was kept as a double.
std::uint64_t whole(double number) {
  if (!(number >= 0.0 && number < 9e15) || number != std::floor(number)) {
    throw std::invalid_argument("a count must be a whole number");
  }
  return static_cast<std::uint64_t>(number);
}

}  // namespace

Learner::Learner(const Recipe& recipe)
    : recipe_(recipe),
      loss_(make_loss(recipe)),
      classes_(loss_->classes()),
      selection_(recipe.k, classes_, recipe.per_class, selected_precision(recipe, classes_),
                 recipe.seed, size_to_keep(recipe)),
      storage_(make_storage(recipe, classes_, selection_)),
      intercept_(classes_, 0.0),
      update_(
          make_update({recipe_, *loss_, *storage_, selection_, intercept_, counters_, guards_})),
      calibration_(recipe.intercept),
      selected_calibration_(recipe.intercept) {
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
  const std::size_t size = recipe_.batch_size;
  for (std::size_t start = 0, stop = 0; start < batch.n_rows(); start = stop) {
    stop = end_of(batch, start, std::min((start / size + 1) * size, batch.n_rows()));
    const BatchView part = batch.rows(start, stop);
    const double weight = Targets{part.labels, part.weights}.total();
    if (!std::isfinite(weight)) {
      throw std::invalid_argument("weights must add up to a finite number, they do not from row " +
                                  std::to_string(start) + " on");
    }
    const std::size_t numbers = part.n_rows() * classes_;
    margins_.resize(numbers);
    const Reals before =
        margins.empty() ? Reals(margins_) : margins.subspan(start * classes_, numbers);
    progress.loss += weight * learn_minibatch(part, before);
    progress.weight += weight;
  }
  return progress;
}

// The end of the minibatch that starts at a row: `most`, or before it has too many entries.
std::size_t Learner::end_of(const BatchView& batch, std::size_t start, std::size_t most) const {
  const std::size_t entries = update_->most_entries();
  std::size_t stop = start + 1;
  while (stop < most &&
         static_cast<std::size_t>(batch.indptr[stop + 1] - batch.indptr[start]) <= entries) {
    ++stop;
  }
  return stop;
}

// The loop of every learner. Until the change is written nothing of the model is touched, should
// the minibatch be refused.
double Learner::learn_minibatch(const BatchView& batch, Reals margins) {
  const Targets targets{batch.labels, batch.weights};
  selected_margins_.resize(predicts_selected() ? margins.size() : 0);
  const double value =
      update_->solve(batch, {margins, selected_margins_, ledger_ ? &occurrences_ : nullptr});
  watch_for_blow_up(value, targets);
  calibrate(margins, targets);
  if (ledger_) draw_evidence(batch);
  update_->write();
  if (ledger_) ledger_->follow(selection_);
  ++counters_.batches;
  counters_.examples += batch.n_rows();
  counters_.weighed += targets.weighed();
  counters_.weight += targets.total();
  return value;
}

bool Learner::predicts_selected() const {
  return calibrating_ && calibrates() && selection_.groups() > 0;
}

void Learner::calibrate(ConstReals margins, const Targets& targets) {
  if (!calibrating_ || !calibrates()) return;
  calibration_.add(*loss_, margins, targets);
  if (!selected_margins_.empty()) selected_calibration_.add(*loss_, selected_margins_, targets);
}

// With what was selected before this minibatch, whose rows had no part in selecting it.
void Learner::draw_evidence(const BatchView& batch) {
  ledger_->draw({batch.labels, batch.weights, batch.strata, batch.places, occurrences_.hashes()},
                occurrences_.list());
}

// Steps that overshoot make the loss grow far above that of predicting nothing at all.
void Learner::watch_for_blow_up(double value, const Targets& targets) {
  const double total = targets.total(), rows = static_cast<double>(targets.weighed());
  const double importance = total > 0.0 ? total / rows / mean_weight(counters_, targets) : 1.0;
  const double rate = counters_.batches == 0 ? 1.0 : kBlowUpRate * std::min(importance, 1.0);
  mean_loss_ += rate * (value - mean_loss_);
  mean_null_ += rate * (loss_->null_value(targets) - mean_null_);
  blown_up_ = mean_loss_ > kBlowUpFactor * mean_null_ && mean_null_ > 0.0 ? blown_up_ + 1 : 0;
  if (blown_up_ < kBlowUpBatches) return;
  std::ostringstream message;
  message << "minibatch " << counters_.batches << ": training diverged (loss " << mean_loss_
          << " is " << mean_loss_ / mean_null_ << " times that of predicting nothing, for "
          << blown_up_ << " minibatches)";
  throw Diverged(message.str());
}

Fields Learner::state(bool exact) const {
  Fields fields;
  if (const auto numbers = storage_->numbers(); !numbers.empty()) fields["cells"] = numbers;
  for (auto& [name, field] : update_->state(exact)) fields["update." + name] = std::move(field);
  if (!exact) return fields;
  fields["factor"] = std::vector<double>{storage_->factor()};
  fields["mean_loss"] = std::vector<double>{mean_loss_};
  fields["mean_null"] = std::vector<double>{mean_null_};
  fields["blown_up"] = std::vector<double>{static_cast<double>(blown_up_)};
  fields["gradient_norm"] = std::vector<double>{counters_.gradient_norm};
  fields["step_size"] = std::vector<double>{counters_.step_size};
  return fields;
}

void Learner::restore(const Fields& fields) {
  const std::size_t numbers = storage_->numbers().size();
  storage_->restore(numbers == 0 ? std::vector<double>{} : numbers_of(fields, "cells", numbers));
  Fields own;
  constexpr std::string_view kPrefix = "update.";
  for (const auto& [name, field] : fields) {
    if (name.starts_with(kPrefix)) own[name.substr(kPrefix.size())] = field;
  }
  update_->restore(own);
  if (!fields.contains("factor")) return;
  const auto number = [&](const char* name) { return numbers_of(fields, name, 1)[0]; };
  storage_->set_factor(number("factor"));
  mean_loss_ = number("mean_loss");
  mean_null_ = number("mean_null");
  blown_up_ = whole(number("blown_up"));
  counters_.gradient_norm = number("gradient_norm");
  counters_.step_size = number("step_size");
}

void Learner::add_constant(bool selected_only, Reals margins) const {
  if (!recipe_.intercept) return;
  std::vector<double> constant = intercept_;
  const ConstReals offset = selected_only ? update_->selected_offset() : ConstReals{};
  for (std::size_t c = 0; c < offset.size(); ++c) constant[c] += offset[c];
  for (std::size_t i = 0; i < margins.size(); ++i) margins[i] += constant[i % classes_];
}

void Learner::predict(const BatchView& batch, bool selected_only, Reals margins) const {
  Scoring scoring(recipe_.seed);
  for (std::size_t start = 0; start < batch.n_rows(); start += kScoredRows) {
    const std::size_t stop = std::min(start + kScoredRows, batch.n_rows());
    score(batch.rows(start, stop), selected_only, scoring,
          margins.subspan(start * classes_, (stop - start) * classes_));
  }
}

void Learner::score(const BatchView& part, bool selected_only, Scoring& scoring,
                    Reals margins) const {
  scoring.active.assign(part);
  selection_.find(scoring.active, scoring.places);
  storage_->locate(scoring.active, scoring.places);
  scoring.weights.resize(scoring.active.size() * classes_);
  storage_->query(scoring.places, scoring.weights);
  if (selected_only || solves()) selection_.mask(scoring.places, scoring.weights);
  scoring.active.margins(scoring.weights, classes_, margins);
  add_constant(selected_only, margins);
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

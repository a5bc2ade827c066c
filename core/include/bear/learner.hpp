// The one training loop. An algorithm is a choice of parts; see recipes.py for the table.
#pragma once

#include <memory>
#include <optional>

#include "bear/calibration.hpp"
#include "bear/direction.hpp"
#include "bear/evidence/ledger.hpp"
#include "bear/evidence/occurrences.hpp"
#include "bear/loss.hpp"
#include "bear/reasons.hpp"
#include "bear/selection.hpp"
#include "bear/step_size.hpp"
#include "bear/storage.hpp"

namespace bear {

// The parts by name, and the numbers they are made with.
struct Recipe {
  enum class StorageKind { dense, sketch, cached, cached_keep };
  enum class DirectionKind { gradient, lbfgs, newton, staged };
  enum class LossKind { squared, logistic, softmax };
  enum class StepKind { constant, decaying, automatic };

  StorageKind storage = StorageKind::sketch;
  std::size_t dimension = 0;  // dense only
  std::size_t width = 1;      // sketches only
  std::size_t depth = 1;
  Query query = Query::mean;
  Precision precision = Precision::float32;

  DirectionKind direction = DirectionKind::gradient;
  std::size_t history = 5;  // pairs of L-BFGS

  std::size_t k = 0;
  bool per_class = false;        // one heap per class instead of one shared
  bool reads_selection = false;  // gradients see the selected weights only

  LossKind loss = LossKind::logistic;
  std::size_t classes = 2;  // softmax only

  StepKind step = StepKind::automatic;
  double step_size = 0.5;  // eta, eta0 or phi
  double step_offset = 1;  // t0 of the decaying step

  double l2 = 0.0;
  bool intercept = false;
  std::size_t batch_size = 20;
  std::uint64_t seed = 0;
  bool evidence = false;  // about the selected features, see evidence/ledger.hpp
};

struct Counters {
  std::uint64_t examples = 0, batches = 0, passes = 0;
  std::uint64_t weighed = 0;   // examples that have a weight above 0
  double weight = 0.0;         // of all these
  double gradient_norm = 0.0;  // largest of the pass so far
  double step_size = 0.0;      // of the last batch
};

// Losses summed over the examples of one call, each predicted before it was learned.
struct Progress {
  double loss = 0.0, weight = 0.0;
};

class Learner {
 public:
  explicit Learner(const Recipe& recipe);

  // Learns the rows in minibatches of batch_size, in order. margins (empty, or rows x classes)
  // receives what each row was predicted before it was learned. Throws before anything is
  // written by a minibatch that would leave the finite numbers.
  Progress learn(const BatchView& batch, Reals margins);

  // Margins of rows that are not learned; selected_only: with the kept features alone.
  void predict(const BatchView& batch, bool selected_only, Reals margins) const;

  // The same, and why.
  void explain(const BatchView& batch, bool selected_only, Reals margins, Reasons& reasons) const;

  void finish_pass();

  const Recipe& recipe() const { return recipe_; }
  std::size_t classes() const { return classes_; }
  const Loss& loss() const { return *loss_; }
  Storage& storage() { return *storage_; }
  const Storage& storage() const { return *storage_; }
  Selection& selection() { return selection_; }
  const Selection& selection() const { return selection_; }
  std::vector<double>& intercept() { return intercept_; }
  Direction& direction() { return *direction_; }
  const Direction& direction() const { return *direction_; }
  Guards& guards() { return guards_; }

  // Of predictions with all features, or with the selected alone. They learn while calibrating(),
  // that is until a pass is over: then rows come that were learned before. Predicted numbers have
  // none.
  bool calibrates() const { return recipe_.loss != Recipe::LossKind::squared; }
  Calibration& calibration(bool selected_only) {
    return selected_only ? selected_calibration_ : calibration_;
  }
  const Calibration& calibration(bool selected_only) const {
    return selected_only ? selected_calibration_ : calibration_;
  }
  bool calibrating() const { return calibrating_; }
  void set_calibrating(bool on) { calibrating_ = on; }
  Counters& counters() { return counters_; }
  // What is known about the selected; none where nothing is selected, or it was not asked for.
  std::optional<evidence::Ledger>& ledger() { return ledger_; }
  const std::optional<evidence::Ledger>& ledger() const { return ledger_; }

  // What guards against a blow-up remember, and the last norm and step: with the parts' own states
  // all that a run needs to go on as if it had never stopped.
  std::vector<double> watch() const;
  void restore_watch(ConstReals watch);

  // Weights of any keys as predictions use them.
  void query(Keys keys, Reals weights) const;

  // Weights of any keys, [key][class], moved by hand; rounded where they are kept short.
  void move(Keys keys, ConstReals change);

 private:
  // Whether it solves for the selected: with exact weights that gradients see alone, cells hold
  // what is left of gradients, and no model.
  bool solves() const { return storage_->exact() && recipe_.reads_selection; }
  double learn_minibatch(const BatchView& batch, Reals margins);
  void predict_selected();
  void calibrate(const Targets& targets);
  void read_weights();
  void read_again();
  double evaluate(const BatchView& batch, ConstReals w);
  double importance(const Targets& targets) const;
  double choose_step(const Point& point);
  void check_step(double value, double step) const;
  void watch_for_blow_up(double value, const Point& point);
  void write_step(double step);
  void remember_pair(const BatchView& batch);
  void choose_intercept_step(double step, double importance);
  void add_intercept(Reals margins) const;
  void add_offset(Reals margins) const;
  void draw_evidence();

  Recipe recipe_;
  std::unique_ptr<Loss> loss_;
  std::size_t classes_;
  Selection selection_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Direction> direction_;
  std::unique_ptr<StepSize> step_size_;
  std::vector<double> intercept_;
  Guards guards_;
  Counters counters_;
  Calibration calibration_, selected_calibration_;
  bool calibrating_ = true;
  std::optional<evidence::Ledger> ledger_;
  double mean_loss_ = 0.0, mean_null_ = 0.0;  // running means, for the blow-up guard
  std::uint64_t blown_up_ = 0;                // minibatches in a row far above the null loss

  // Scratch of one minibatch, kept to save allocations.
  ActiveSet active_;
  Places places_;
  evidence::Occurrences occurrences_;
  bool located_ = false;  // places_ holds the cells of active_
  std::vector<double> w_, g_, z_, s_, after_, moved_, before_, margins_, residual_, intercept_s_;
  std::vector<double> selected_margins_;  // of the present minibatch, or none
};

}  // namespace bear

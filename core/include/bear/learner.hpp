// The one training loop. An algorithm is a choice of parts; see recipes.py for the table.
#pragma once

#include <memory>
#include <optional>

#include "bear/calibration.hpp"
#include "bear/evidence/ledger.hpp"
#include "bear/reasons.hpp"
#include "bear/update/update.hpp"

namespace bear {

// Losses summed over the examples of one call, each predicted before it was learned.
struct Progress {
  double loss = 0.0, weight = 0.0;
};

class Learner {
 public:
  explicit Learner(const Recipe& recipe);

  // Learns the rows in order, in minibatches of batch_size; one with more entries than its update
  // takes is cut further. Where minibatches end depends on the rows before only by the multiple of
  // batch_size that they are. margins (empty, or rows x classes) receives what each row was
  // predicted before it was learned. Throws before anything is written by a minibatch that would
  // leave the finite numbers.
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
  Update& update() { return *update_; }
  const Update& update() const { return *update_; }
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

  // By name, all that a model keeps beside cells, selection, intercept and counters; exact: and
  // what else a run needs to go on as if it had never stopped. Restored after those.
  Fields state(bool exact) const;
  void restore(const Fields& fields);

  // Weights of any keys as predictions use them.
  void query(Keys keys, Reals weights) const;

  // Weights of any keys, [key][class], moved by hand; rounded where they are kept short.
  void move(Keys keys, ConstReals change);

 private:
  // Whether it solves for the selected: with exact weights that gradients see alone, cells hold
  // what is left of gradients, and no model.
  bool solves() const { return storage_->exact() && recipe_.reads_selection; }
  double learn_minibatch(const BatchView& batch, Reals margins);
  bool predicts_selected() const;
  void calibrate(ConstReals margins, const Targets& targets);
  std::size_t end_of(const BatchView& batch, std::size_t start, std::size_t most) const;
  void watch_for_blow_up(double value, const Targets& targets);
  void add_constant(bool selected_only, Reals margins) const;
  // Scratch of one part of a batch that is scored.
  struct Scoring {
    explicit Scoring(std::uint64_t seed) : active(seed) {}
    ActiveSet active;
    Places places;
    std::vector<double> weights;  // [key][class]
  };
  static constexpr std::size_t kScoredRows = 256;  // bounds the scratch, whatever the batch
  // Margins of a part; its keys and their weights are left in the scratch.
  void score(const BatchView& part, bool selected_only, Scoring& scoring, Reals margins) const;
  void draw_evidence(const BatchView& batch);

  Recipe recipe_;
  std::unique_ptr<Loss> loss_;
  std::size_t classes_;
  Selection selection_;
  std::unique_ptr<Storage> storage_;
  std::vector<double> intercept_;
  Guards guards_;
  Counters counters_;
  std::unique_ptr<Update> update_;
  Calibration calibration_, selected_calibration_;
  bool calibrating_ = true;
  std::optional<evidence::Ledger> ledger_;
  double mean_loss_ = 0.0, mean_null_ = 0.0;  // running means, for the blow-up guard
  std::uint64_t blown_up_ = 0;                // minibatches in a row far above the null loss

  // Scratch of one minibatch, kept to save allocations.
  evidence::Occurrences occurrences_;
  std::vector<double> margins_;
  std::vector<double> selected_margins_;  // of the present minibatch, or none
};

}  // namespace bear

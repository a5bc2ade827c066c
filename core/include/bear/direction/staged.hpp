// Three blocks, in the coordinates that are really stored: first the intercept, the best constant;
// then the selected weights, trained as a model that stands alone; then the cells, on what that
// model leaves over. A block takes the step
//
//   strength * phi / sqrt(1 + clock / tau) * sqrt(own * running)
//
// where own is sum r.u / (kmax * sum |u|^2), with r the residuals the block sees and u the change
// of the margins its direction causes once stored, collisions included; and running is its mean
// over batches, for both blocks together. With own alone a batch takes a short step just when it
// holds one of few clicks, so that weights drift, and the few selected of a batch take too long
// ones; with running alone the first batches are learned too slowly. The direction is the gradient
// over the root of how often each weight is touched, so that rare keys learn from the few rows they
// have; and what all rows have in common is left to the intercept (Sharing). Two
// things move the step:
//
// - The clock of a block counts how often one of its weights was updated, on average: steps
//   shrink as evidence piles up, whatever the compression.
// - The strength follows the noise. The loss of a batch that is not learned yet, as a function of
//   a common factor on all margins, says whether these are too bold (steps fit the noise of the
//   labels) or too shy (there is more to learn than steps so far reached). Margins count from
//   their mean, for a common offset is no evidence, and a batch counts by its information.
#pragma once

#include "bear/direction.hpp"
#include "bear/direction/sharing.hpp"

namespace bear {

class Staged final : public Direction {
 public:
  // scale multiplies all steps throughout; means as in make_staged.
  Staged(double scale, std::vector<double> means);

  void direct(const Point& point, Reals z) override;
  void accept() override { now_ = next_; }
  bool scaled() const override { return true; }
  double shared() const override { return shares_offset() ? now_.sharing.share() : 0.0; }
  double step_size() const override { return step_size_; }
  ConstReals intercept_step() const override { return intercept_step_; }
  ConstReals selected_offset() const override { return now_.offset; }
  Measures measures() const override;
  std::vector<double> numbers() const override;
  void restore(std::span<const double> numbers) override;

 private:
  // What outlives a batch.
  struct State {
    double selected_clock = 0.0, cell_clock = 0.0;
    double log_strength = 0.0;
    double slope = 0.0, curvature = 0.0;  // running, of the loss by a factor on the margins
    double error = 0.0;                   // running, the loss
    double step = 0.0;                    // running, that the bound on the curvature allows
    double batches = 0.0;
    Sharing sharing;  // of both blocks
    // Of the selected: what their constant is more than the intercept, which goes with the whole
    // model; and the means of the labels so far. Both empty without an intercept.
    std::vector<double> offset, means;
  };

  double block_step(double own, double running, double wait) const;
  void find_residuals(const Point& point);
  bool shares_offset() const { return !now_.means.empty() && now_.means.size() <= kFewClasses; }
  void measure_values(const Point& point);
  void measure_frequencies(const Point& point);
  void count(const Point& point, const CountingCells& cells);
  void damp_selected(const Places& places, Reals change) const;
  void damp_cells(Reals change) const;
  double intercept_pace(const Point& point) const;
  void move_intercept(const Point& point);
  void follow_noise(const Point& point);
  void split_margins(const Point& point);
  void move_offset(const Point& point);
  double selected_step(const Point& point, Reals z);
  double cell_step(const Point& point);
  double line_step(const Point& point, ConstReals change);
  void learn_step(const Point& point);

  double scale_;
  double step_size_ = 0.0;
  State now_, next_;
  double importance_ = 1.0;             // of the batch
  double value_ = 0.0;                  // loss of the batch with the new constant
  std::size_t members_ = 0;             // selected keys in the batch
  double slope_ = 0.0, squares_ = 0.0;  // of the blocks of this batch so far
  std::vector<double> damping_;         // of the keys; empty where no value is large
  std::vector<double> often_;           // how often each key occurs, and the mean of those that do
  std::vector<double> met_;             // how often keys of a key's cell did before
  std::vector<double> counted_;         // how often keys are to be counted; empty: not this time
  double often_mean_ = 1.0;
  std::vector<double> trust_;      // what the square of a weight in cells counts by, over
  double enough_ = 1.0;            // this
  double usual_ = 1.0;             // magnitude of values
  std::vector<double> roots_;      // of how often keys of a key's cell occur, with those before
  bool worths_ = false;            // whether these tell what weights are worth
  std::vector<double> cell_pace_;  // one over the root of how often keys of a key's cell occur
  std::vector<double> intercept_step_, intercept_own_, constant_;
  std::vector<double> full_;  // margins with the new constant
  std::vector<double> rest_, g_, stored_, margins_, residual_, u_;
};

}  // namespace bear

// Three blocks, in the coordinates that are really stored: first the intercept, the best constant;
// then the selected weights, trained as a model that stands alone, as far as what they say has to
// do with what the cells say (Kinship); then the cells, on what that model leaves over. A block
// takes the step
//
//   strength * phi / sqrt(1 + clock / tau) * sqrt(own * running)
//
// where own is sum r.u / (kmax * sum |u|^2), with r the residuals the block sees and u the change
// of the margins its direction causes once stored, collisions included; and running is its mean
// over batches, for both blocks together. With own alone a batch takes a short step just when it
// holds one of few clicks, so that weights drift, and the few selected of a batch take too long
// ones; with running alone the first batches are learned too slowly. The direction is the gradient
// over a power of how often each weight is touched, so that rare keys learn from the few rows they
// have (Rarity); and what all rows have in common is left to the intercept (Sharing). The clock of
// a block counts how often one of its weights was updated, on average: steps shrink as evidence
// piles up, whatever the compression, and those of single weights of which much is known are
// shorter than the others (Evidence). The strength follows the noise (Strength). With many classes
// the clock of the cells is slower, and as their steps get shorter, what longer ones left there is
// forgotten in part.
#pragma once

#include <bit>

#include "bear/direction/evidence.hpp"
#include "bear/direction/kinship.hpp"
#include "bear/direction/pace.hpp"
#include "bear/direction/rarity.hpp"
#include "bear/direction/sharing.hpp"

namespace bear {

class Staged final : public Direction {
 public:
  // scale multiplies all steps throughout; means as in make_staged.
  Staged(double scale, std::vector<double> means);

  void direct(const Point& point, Reals z) override;
  void accept() override { now_ = next_; }
  bool scaled() const override { return true; }
  double shared() const override { return now_.means.empty() ? 0.0 : now_.sharing.share(); }
  double step_size() const override { return step_size_; }
  double keep() const override { return keep_; }
  ConstReals intercept_step() const override { return intercept_step_; }
  ConstReals selected_offset() const override { return now_.offset; }
  Measures measures() const override {
    return pace_.measures(std::bit_cast<std::uint64_t>(next_.batches));
  }
  std::vector<double> numbers() const override;
  void restore(std::span<const double> numbers) override;

 private:
  // What outlives a batch.
  struct State {
    double selected_clock = 0.0, cell_clock = 0.0;
    double step = 0.0;  // running, that the bound on the curvature allows
    double batches = 0.0;
    Strength strength;
    Sharing sharing;  // of both blocks
    Rarity rarity;    // the same
    Kinship kinship;  // between them
    Evidence evidence;
    // Of the selected: what their constant is more than the intercept, which goes with the whole
    // model; and the means of the labels so far. Both empty without an intercept.
    std::vector<double> offset, means;
  };

  Pace::Length block_step(double own, double running, double wait) const;
  void find_residuals(const Point& point);
  bool counts() const;
  double intercept_pace(const Point& point) const;
  void move_intercept(const Point& point);
  void follow_noise(const Point& point);
  void follow_rarity(const Point& point, double curvature);
  Bend bend_along(const Point& point, ConstReals change) const;
  void split_margins(const Point& point);
  void move_offset(const Point& point);
  void stand_beside(const Point& point);
  void move_selected(const Point& point, Reals z);
  Pace::Length cell_step(const Point& point);
  double line_step(const Point& point, ConstReals change);
  void learn_step(const Point& point);
  void balance(const Point& point, ConstReals z);
  void forget();

  double scale_;
  double step_size_ = 0.0, keep_ = 1.0;
  State now_, next_;
  double importance_ = 1.0;  // of the batch
  double tau_ = 1.0;      // of the clock of the cells: the more classes, the less a row says of one
  double repeats_ = 0.0;  // how often the batch was seen before, where that counts
  double value_ = 0.0;    // loss of the batch with the new constant
  std::size_t members_ = 0;             // selected keys in the batch
  double slope_ = 0.0, squares_ = 0.0;  // of the blocks of this batch so far
  Pace pace_;
  std::vector<double> intercept_step_, intercept_own_, constant_;
  std::vector<double> full_;    // margins with the new constant
  std::vector<double> rest_;    // weights that are not selected
  std::vector<double> beside_;  // the margins that these make
  std::vector<double> g_, stored_, margins_, residual_, u_;
};

}  // namespace bear

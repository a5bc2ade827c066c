// Two blocks, each with an automatic step of its own, in the coordinates that are really stored:
// first the selected weights, trained as a model that stands alone; then the cells, on what that
// model leaves over.
//
//   step of a block = strength * phi / sqrt(1 + clock / tau) * sum r.u / (kmax * sum |u|^2)
//
// with r the residuals the block sees and u the change of the margins its direction causes once
// stored, collisions included. Two things move the step:
//
// - The clock of a block counts how often one of its weights was updated, on average: steps
//   shrink as evidence piles up, whatever the compression.
// - The strength follows the noise. The loss of a batch that is not learned yet, as a function of
//   a common factor on all margins, says whether these are too bold (steps fit the noise of the
//   labels) or too shy (there is more to learn than steps so far reached).
#pragma once

#include "bear/direction.hpp"

namespace bear {

class Staged final : public Direction {
 public:
  // scale multiplies both steps throughout.
  explicit Staged(double scale);

  void direct(const Point& point, Reals z) override;
  void accept() override { now_ = next_; }
  bool scaled() const override { return true; }
  double step_size() const override { return cell_step_size_; }
  std::vector<double> numbers() const override;
  void restore(std::span<const double> numbers) override;

 private:
  // What outlives a batch.
  struct State {
    double selected_clock = 0.0, cell_clock = 0.0;
    double log_strength = 0.0;
    double slope = 0.0, curvature = 0.0;  // running, of the loss by a factor on the margins
  };

  double pace(double phi, double clock, double tau) const;
  void measure_values(const Point& point);
  void damp(Reals change) const;
  void follow_noise(const Point& point);
  void split_margins(const Point& point);
  double selected_step(const Point& point, Reals z);
  double cell_step(const Point& point);
  double line_step(const Point& point, ConstReals change);

  double scale_;
  double cell_step_size_ = 0.0;
  State now_, next_;
  std::size_t members_ = 0;      // selected keys in the batch
  std::vector<double> damping_;  // of the keys; empty where no value is large
  std::vector<double> rest_, g_, stored_, margins_, residual_, u_;
};

}  // namespace bear

// Two blocks, each with an automatic step of its own, in the coordinates that are really stored:
// first the selected weights, trained as a model that stands alone; then the cells, on what that
// model leaves over.
//
//   step of a block = phi / sqrt(1 + clock / tau) * sum r.u / (kmax * sum |u|^2)
//
// with r the residuals the block sees and u the change of the margins its direction causes once
// stored, collisions included. A clock counts how often a weight of its block was updated, on
// average: steps shrink as evidence piles up, whatever the compression.
#pragma once

#include "bear/direction.hpp"

namespace bear {

class Staged final : public Direction {
 public:
  // Both steps are multiplied by strength.
  explicit Staged(double strength) : strength_(strength) {}

  void direct(const Point& point, Reals z) override;
  bool scaled() const override { return true; }
  std::vector<double> numbers() const override { return {selected_clock_, cell_clock_}; }
  void restore(std::span<const double> numbers) override;

 private:
  void split_margins(const Point& point);
  double selected_step(const Point& point, Reals z);
  double cell_step(const Point& point);
  double line_step(const Point& point, ConstReals change);

  double strength_;
  double selected_clock_ = 0.0, cell_clock_ = 0.0;
  std::size_t members_ = 0;  // selected keys in the batch
  std::vector<double> rest_, g_, stored_, margins_, residual_, u_;
};

}  // namespace bear

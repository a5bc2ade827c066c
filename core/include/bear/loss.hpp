// What is minimised, as a function of the margins alone. One call per batch.
#pragma once

#include <memory>

#include "bear/types.hpp"

namespace bear {

// Rows of a batch as a loss sees them; weights may be empty (all 1).
struct Targets {
  ConstReals labels;
  ConstReals weights;

  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
  double total() const;
  std::size_t weighed() const;  // rows whose weight is above 0
};

class Loss {
 public:
  virtual ~Loss() = default;

  // Margins per row.
  virtual std::size_t classes() const { return 1; }

  // Weighted mean loss; residual[row][c] = share of the row's weight * d loss / d margin.
  virtual double gradient(ConstReals margins, const Targets&, Reals residual) const = 0;

  // Weighted mean loss of margins that are all zero.
  virtual double null_value(const Targets&) const = 0;

  // Upper bound of the second derivative along any direction of the margins.
  virtual double curvature_bound() const = 0;

  // blocks[row][c][c'] = d^2 loss / d margin_c d margin_c', times the row's share of the weight.
  virtual void curvature(ConstReals margins, const Targets&, Reals blocks) const = 0;

  // Margins to means: probabilities per class, or the predicted number.
  virtual void predict(Reals margins) const = 0;

  // Throws std::invalid_argument unless every label is one this loss takes.
  virtual void check(ConstReals labels) const = 0;
};

std::unique_ptr<Loss> make_squared();                     // labels: finite numbers
std::unique_ptr<Loss> make_logistic();                    // labels: 0 or 1
std::unique_ptr<Loss> make_softmax(std::size_t classes);  // labels: 0 .. classes - 1

}  // namespace bear

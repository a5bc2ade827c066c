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
  // The residuals alone; logarithms take longer than all else a loss does.
  virtual void residuals(ConstReals margins, const Targets& targets, Reals residual) const {
    gradient(margins, targets, residual);
  }

  // Weighted mean loss of margins that are all zero.
  virtual double null_value(const Targets&) const = 0;

  // Upper bound of the second derivative along any direction of the margins.
  virtual double curvature_bound() const = 0;
  // Whether that is the second derivative everywhere, and leaves no room for longer steps.
  virtual bool bound_is_tight() const { return false; }
  // Second derivative where these means are predicted, along what moves them; of several classes
  // the mean over what moves one against the others.
  virtual double curvature_at(ConstReals /*means*/) const { return curvature_bound(); }

  // blocks[row][c][c'] = d^2 loss / d margin_c d margin_c', times the row's share of the weight.
  virtual void curvature(ConstReals margins, const Targets&, Reals blocks) const = 0;

  // Variance of the labels around their means, where the loss itself does not fix it: that of the
  // gradient is the curvature times this. value: the mean loss.
  virtual double dispersion(double /*value*/) const { return 1.0; }

  // Second derivative of the weighted mean loss along a change of the margins.
  virtual double curvature_along(ConstReals margins, const Targets&, ConstReals change) const = 0;

  // Margins to means: probabilities per class, or the predicted number.
  virtual void predict(Reals margins) const = 0;

  // The way back for one row: means to the margins that predict them.
  virtual void link(Reals means) const = 0;

  // Throws std::invalid_argument unless every label is one this loss takes.
  virtual void check(ConstReals labels) const = 0;
};

std::unique_ptr<Loss> make_squared();                     // labels: finite numbers
std::unique_ptr<Loss> make_logistic();                    // labels: 0 or 1
std::unique_ptr<Loss> make_softmax(std::size_t classes);  // labels: 0 .. classes - 1

}  // namespace bear

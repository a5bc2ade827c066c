// From the gradient to the direction of the step. One call per batch.
#pragma once

#include <memory>

#include "bear/active_set.hpp"
#include "bear/loss.hpp"
#include "bear/measures.hpp"
#include "bear/storage.hpp"

namespace bear {

// Everything known at the current weights of the active keys.
struct Point {
  const ActiveSet& active;
  const Loss& loss;
  Targets targets;
  ConstReals margins;    // [row][class]
  ConstReals residual;   // [row][class], the gradient by the margins
  ConstReals gradient;   // [key][class]
  ConstReals weights;    // [key][class]
  ConstReals intercept;  // [class]; part of the margins
  const Places& places;
  const Storage& storage;
  std::size_t selected;  // keys selected in all
  double importance;     // mean weight of the batch's examples over that of all so far; 1 without
  std::uint64_t passes;  // over the data, before this one
};

// How often a guard had to act; reported, never silent.
struct Guards {
  std::uint64_t uphill = 0;          // direction against the gradient: gradient used instead
  std::uint64_t flat_pairs = 0;      // pair of zero or non-finite length: skipped
  std::uint64_t damped_pairs = 0;    // curvature far below its mean: lifted (Powell)
  std::uint64_t rejected_pairs = 0;  // no positive curvature: skipped
  std::uint64_t stored_pairs = 0;
};

// What a direction has observed, flat: keys, and numbers whose order is its own.
struct History {
  std::vector<Key> keys;
  std::vector<double> numbers;
};

class Direction {
 public:
  virtual ~Direction() = default;

  // z = direction, so that weights - step_size * z goes down.
  virtual void direct(const Point& point, Reals z) = 0;

  // The direction is taken; until then nothing that outlives the batch has changed.
  virtual void accept() {}

  // Whether observe() wants the step made and the change of the gradient along it.
  virtual bool wants_pair() const { return false; }
  virtual void observe(const ActiveSet&, ConstReals /*step*/, ConstReals /*change*/, Guards&) {}

  // How much the rows have in common, from 0 to 1, where the direction knows.
  virtual double shared() const { return 0.0; }

  // Whether z is the step itself, to be taken as it is; it then needs no gradient at the point.
  virtual bool scaled() const { return false; }

  // The step size inside such a z, for what else shrinks with the step.
  virtual double step_size() const { return 1.0; }

  // The share of all weights in cells that is kept, before the step is added.
  virtual double keep() const { return 1.0; }

  // The change of the intercept that goes with such a z.
  virtual ConstReals intercept_step() const { return {}; }

  // What the constant of the selected alone is more than the intercept; empty: nothing.
  virtual ConstReals selected_offset() const { return {}; }

  // How to compare the weights that come of it.
  virtual Measures measures() const { return {}; }

  // Clocks that a saved learner must go on with.
  virtual std::vector<double> numbers() const { return {}; }
  virtual void restore(std::span<const double> numbers);

  // What was observed, to go on with exactly; a model does without.
  virtual History history() const { return {}; }
  virtual void restore_history(const History& history);
};

std::unique_ptr<Direction> make_gradient();
std::unique_ptr<Direction> make_newton();
// means: what the loss predicts for margins of zero; empty without an intercept.
std::unique_ptr<Direction> make_staged(double scale, std::vector<double> means);
std::unique_ptr<Direction> make_lbfgs(std::size_t history, std::size_t classes);

}  // namespace bear

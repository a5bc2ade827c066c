// A step along a direction that is made of the gradient. Gradient, L-BFGS and Newton differ in the
// direction only.
#pragma once

#include "bear/active_set.hpp"
#include "bear/update/step_size.hpp"
#include "bear/update/update.hpp"

namespace bear {

// Everything known at the current weights of the active keys.
struct Point {
  const ActiveSet& active;
  const Loss& loss;
  Targets targets;
  ConstReals margins;   // [row][class]
  ConstReals residual;  // [row][class], the gradient by the margins
  ConstReals gradient;  // [key][class]
};

// The gradient itself; others are made of it.
class Direction {
 public:
  virtual ~Direction() = default;

  // z = direction, so that weights - step * z goes down.
  virtual void direct(const Point& point, Reals z);

  // Whether observe() wants the step made and the change of the gradient along it.
  virtual bool wants_pair() const { return false; }
  virtual void observe(const ActiveSet&, ConstReals /*step*/, ConstReals /*change*/, Guards&) {}

  // What was observed, to go on with exactly; a model does without.
  virtual Fields state() const { return {}; }
  virtual void restore(const Fields&) {}
};

class Gradient final : public Update {
 public:
  Gradient(const Parts& parts, std::unique_ptr<Direction> direction);

  double solve(const BatchView& batch, const Before& before) override;
  void write() override;
  Fields state(bool exact) const override { return exact ? direction_->state() : Fields{}; }
  void restore(const Fields& fields) override { direction_->restore(fields); }

 private:
  void read_weights();
  double evaluate(ConstReals w);
  void list(evidence::Occurrences& selected);
  void predict_selected(Reals margins);
  void add_intercept(Reals margins) const;
  double importance() const;
  double choose_step(const Targets& targets) const;
  void choose_intercept_step();
  void check_step(double value) const;
  void remember_pair();

  Parts parts_;
  std::size_t classes_;
  std::unique_ptr<Direction> direction_;
  std::unique_ptr<StepSize> step_size_;

  // Of one minibatch, kept to save allocations.
  BatchView batch_;
  ActiveSet active_;
  Places places_;
  bool located_ = false;  // places_ holds the cells of active_
  double step_ = 0.0, norm_ = 0.0, importance_ = 1.0;
  bool uphill_ = false;
  std::vector<std::uint64_t> hashes_;
  std::vector<double> w_, g_, z_, s_, after_, moved_, before_, margins_, residual_, intercept_s_;
};

}  // namespace bear

// How far to go along a direction. One call per batch.
#pragma once

#include <cmath>
#include <memory>

#include "bear/types.hpp"

namespace bear {

// What the automatic step looks at: the slope g.z and the loss's bound on the curvature along z.
struct Slope {
  double gz = 0.0;            // gradient . direction
  double curvature = 0.0;     // kmax * weighted mean of |x.z|^2
  std::uint64_t batches = 0;  // learned before this one
  std::uint64_t passes = 0;   // finished before this one
};

class StepSize {
 public:
  virtual ~StepSize() = default;
  virtual double size(const Slope& slope) const = 0;
  virtual bool wants_curvature() const { return false; }
};

class ConstantStep final : public StepSize {
 public:
  explicit ConstantStep(double eta) : eta_(eta) {}
  double size(const Slope&) const override { return eta_; }

 private:
  double eta_;
};

// eta0 / (t + t0): square-summable, as the paper's theorem 2 asks.
class DecayingStep final : public StepSize {
 public:
  DecayingStep(double eta0, double t0) : eta0_(eta0), t0_(t0) {}
  double size(const Slope& slope) const override {
    return eta0_ / (static_cast<double>(slope.batches) + t0_);
  }

 private:
  double eta0_, t0_;
};

// phi * g.z / (kmax mean |x.z|^2), phi falling with the root of the pass: dimensionless, and on
// exact weights the loss of the batch cannot rise for phi < 2.
class AutomaticStep final : public StepSize {
 public:
  explicit AutomaticStep(double phi) : phi_(phi) {}
  bool wants_curvature() const override { return true; }
  double size(const Slope& slope) const override {
    if (!(slope.gz > 0.0) || !(slope.curvature > 0.0)) return 0.0;
    return phi_ / std::sqrt(1.0 + static_cast<double>(slope.passes)) * slope.gz / slope.curvature;
  }

 private:
  double phi_;
};

}  // namespace bear

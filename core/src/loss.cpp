#include "bear/loss.hpp"

#include <algorithm>
#include <cmath>

#include "bear/math.hpp"

namespace bear {

double Targets::total() const {
  if (weights.empty()) return static_cast<double>(labels.size());
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  return sum;
}

std::size_t Targets::weighed() const {
  if (weights.empty()) return labels.size();
  return static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; }));
}

namespace {

[[noreturn]] void refuse_label(double label, std::size_t row, const std::string& allowed) {
  throw std::invalid_argument("labels must be " + allowed + ", got " + std::to_string(label) +
                              " at row " + std::to_string(row));
}

// Calls visit(row, share of the total weight) for the rows that count; none if all weights are 0.
template <class Visit>
void each_row(const Targets& targets, Visit visit) {
  const double total = targets.total();
  if (!(total > 0.0)) return;
  for (std::size_t i = 0; i < targets.labels.size(); ++i) visit(i, targets.weight(i) / total);
}

class Squared final : public Loss {
 public:
  double gradient(ConstReals margins, const Targets& targets, Reals residual) const override {
    double value = 0.0;
    std::fill(residual.begin(), residual.end(), 0.0);
    each_row(targets, [&](std::size_t i, double share) {
      const double error = margins[i] - targets.labels[i];
      residual[i] = share * error;
      value += share * 0.5 * error * error;
    });
    return value;
  }

  double null_value(const Targets& targets) const override {
    double value = 0.0;
    each_row(targets, [&](std::size_t i, double share) {
      value += share * 0.5 * targets.labels[i] * targets.labels[i];
    });
    return value;
  }

  double curvature_bound() const override { return 1.0; }

  void curvature(ConstReals, const Targets& targets, Reals blocks) const override {
    std::fill(blocks.begin(), blocks.end(), 0.0);
    each_row(targets, [&](std::size_t i, double share) { blocks[i] = share; });
  }

  void predict(Reals) const override {}

  void check(ConstReals labels) const override {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!std::isfinite(labels[i])) refuse_label(labels[i], i, "finite numbers");
    }
  }
};

double sigmoid(double margin) {
  if (margin >= 0.0) return 1.0 / (1.0 + math::exp(-margin));
  const double e = math::exp(margin);
  return e / (1.0 + e);
}

class Logistic final : public Loss {
 public:
  // loss = log(1 + exp(margin)) - label * margin, in a form that neither overflows nor cancels.
  double gradient(ConstReals margins, const Targets& targets, Reals residual) const override {
    double value = 0.0;
    each_miss(margins, targets, residual, [&](double share, double toward, double e) {
      value += share * (std::max(-toward, 0.0) + math::log1p(e));
    });
    return value;
  }

  double null_value(const Targets&) const override { return math::kLn2; }
  double curvature_bound() const override { return 0.25; }

  void curvature(ConstReals margins, const Targets& targets, Reals blocks) const override {
    std::fill(blocks.begin(), blocks.end(), 0.0);
    each_row(targets, [&](std::size_t i, double share) {
      blocks[i] = share * sigmoid(margins[i]) * sigmoid(-margins[i]);
    });
  }

  void predict(Reals margins) const override {
    for (double& margin : margins) margin = sigmoid(margin);
  }

  void check(ConstReals labels) const override {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != 0.0 && labels[i] != 1.0) refuse_label(labels[i], i, "0 or 1");
    }
  }

 private:
  // Writes residuals; visit(share, margin toward the label, exp(-|margin|)).
  template <class Visit>
  static void each_miss(ConstReals margins, const Targets& targets, Reals residual, Visit visit) {
    std::fill(residual.begin(), residual.end(), 0.0);
    each_row(targets, [&](std::size_t i, double share) {
      const double toward = targets.labels[i] > 0.5 ? margins[i] : -margins[i];
      const double e = math::exp(-std::abs(toward));
      const double miss = (toward > 0.0 ? e : 1.0) / (1.0 + e);  // sigmoid(-toward)
      residual[i] = targets.labels[i] > 0.5 ? -share * miss : share * miss;
      visit(share, toward, e);
    });
  }
};

class Softmax final : public Loss {
 public:
  explicit Softmax(std::size_t classes) : classes_(classes) {
    if (classes < 2) {
      throw std::invalid_argument("softmax needs at least 2 classes, got " +
                                  std::to_string(classes));
    }
  }

  std::size_t classes() const override { return classes_; }

  double gradient(ConstReals margins, const Targets& targets, Reals residual) const override {
    double value = 0.0;
    std::copy(margins.begin(), margins.end(), residual.begin());
    if (!(targets.total() > 0.0)) std::fill(residual.begin(), residual.end(), 0.0);
    each_row(targets, [&](std::size_t i, double share) {
      const Reals row = residual.subspan(i * classes_, classes_);
      const auto label = static_cast<std::size_t>(targets.labels[i]);
      value += share * (normalise(row) - margins[i * classes_ + label]);
      row[label] -= 1.0;
      for (double& r : row) r *= share;
    });
    return value;
  }

  double null_value(const Targets&) const override {
    return math::log(static_cast<double>(classes_));
  }

  double curvature_bound() const override { return 0.5; }

  void curvature(ConstReals margins, const Targets& targets, Reals blocks) const override {
    std::fill(blocks.begin(), blocks.end(), 0.0);
    std::vector<double> p(classes_);
    each_row(targets, [&](std::size_t i, double share) {
      std::copy_n(margins.begin() + static_cast<std::ptrdiff_t>(i * classes_), classes_, p.begin());
      normalise(p);
      for (std::size_t a = 0; a < classes_; ++a) {
        for (std::size_t b = 0; b < classes_; ++b) {
          blocks[(i * classes_ + a) * classes_ + b] = share * p[a] * ((a == b ? 1.0 : 0.0) - p[b]);
        }
      }
    });
  }

  void predict(Reals margins) const override {
    for (std::size_t i = 0; i < margins.size(); i += classes_) {
      normalise(margins.subspan(i, classes_));
    }
  }

  void check(ConstReals labels) const override {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!(labels[i] >= 0.0 && labels[i] < static_cast<double>(classes_) &&
            labels[i] == std::floor(labels[i]))) {
        refuse_label(labels[i], i, "whole numbers from 0 to " + std::to_string(classes_ - 1));
      }
    }
  }

 private:
  // A row of margins to probabilities; returns the logarithm of the sum of exponentials. The
  // row's own maximum is taken out first: another row's would underflow all of this one.
  static double normalise(Reals row) {
    const double top = *std::max_element(row.begin(), row.end());
    double sum = 0.0;
    for (double& margin : row) {
      margin = math::exp(margin - top);
      sum += margin;
    }
    for (double& p : row) p /= sum;
    return top + math::log(sum);
  }

  std::size_t classes_;
};

}  // namespace

std::unique_ptr<Loss> make_squared() { return std::make_unique<Squared>(); }
std::unique_ptr<Loss> make_logistic() { return std::make_unique<Logistic>(); }
std::unique_ptr<Loss> make_softmax(std::size_t classes) {
  return std::make_unique<Softmax>(classes);
}

}  // namespace bear

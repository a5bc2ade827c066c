// What the rows of a batch have in common. Features that most rows have do together what a constant
// does: along them the mean of the residuals, which says how many rows of each label the batch
// happens to hold, moves all margins at once, and the curvature of that allows but short steps. So
// a share of the mean is taken out of the residuals before a direction is made of them, and left to
// the intercept: none where rows have nothing in common, almost all where they have nearly
// everything.
#pragma once

#include <array>

#include "bear/loss.hpp"
#include "bear/measures.hpp"

namespace bear {

class Sharing {
 public:
  // The share, from how far margins moved so far along the mean of the residuals and along the
  // rest of them.
  double share() const;

  // That of a class. Of more than two each may have few rows in a batch, and then the mean is no
  // offset but news: one that is expected in n rows, by the mean of its label so far, has
  // n / (n + 1) of the share.
  double share_of(double label, double rows, std::size_t classes) const;

  // Takes the share of their mean, by class, out of the residuals.
  void center(const Targets& targets, ConstReals labels, Reals residuals) const;

  // Learns from the change of margins along the direction that residuals gave.
  void learn(const Targets& targets, std::size_t classes, ConstReals residuals, ConstReals change);

  static constexpr std::size_t kNumbers = 4;
  std::array<double, kNumbers> numbers() const;
  void restore(std::span<const double> numbers);

 private:
  // Running sums over batches: of residuals times changes, and of residuals squared.
  double along_mean_ = 0.0, means_ = 0.0, along_rest_ = 0.0, rests_ = 0.0;
};

}  // namespace bear

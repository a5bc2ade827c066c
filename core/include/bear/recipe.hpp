// What a learner is made of, by name, and the numbers it is made with; see recipes.py for the
// table.
#pragma once

#include "bear/storage.hpp"

namespace bear {

struct Recipe {
  enum class StorageKind { dense, sketch, cached, cached_keep };
  enum class UpdateKind { gradient, lbfgs, newton, posterior };
  enum class LossKind { squared, logistic, softmax };
  enum class StepKind { constant, decaying, automatic };

  StorageKind storage = StorageKind::sketch;
  std::size_t dimension = 0;  // dense only
  std::size_t width = 1;      // sketches only
  std::size_t depth = 1;
  Query query = Query::mean;
  Precision precision = Precision::float32;

  UpdateKind update = UpdateKind::gradient;
  std::size_t history = 5;  // pairs of L-BFGS

  std::size_t k = 0;
  bool per_class = false;        // one heap per class instead of one shared
  bool reads_selection = false;  // gradients see the selected weights only

  LossKind loss = LossKind::logistic;
  std::size_t classes = 2;  // softmax only

  StepKind step = StepKind::automatic;
  double step_size = 0.5;  // eta, eta0 or phi
  double step_offset = 1;  // t0 of the decaying step

  double l2 = 0.0;
  bool intercept = false;
  std::size_t batch_size = 20;
  std::uint64_t seed = 0;
  bool evidence = false;  // about the selected features, see evidence/ledger.hpp
};

struct Counters {
  std::uint64_t examples = 0, batches = 0, passes = 0;
  std::uint64_t weighed = 0;   // examples that have a weight above 0
  double weight = 0.0;         // of all these
  double gradient_norm = 0.0;  // largest of the pass so far
  double step_size = 0.0;      // of the last batch
};

// How often a guard had to act; reported, never silent.
struct Guards {
  std::uint64_t uphill = 0;          // direction against the gradient: gradient used instead
  std::uint64_t flat_pairs = 0;      // pair of zero or non-finite length: skipped
  std::uint64_t damped_pairs = 0;    // curvature far below its mean: lifted (Powell)
  std::uint64_t rejected_pairs = 0;  // no positive curvature: skipped
  std::uint64_t stored_pairs = 0;
};

}  // namespace bear

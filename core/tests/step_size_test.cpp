#include "bear/step_size.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

TEST_CASE("a constant step is constant") {
  const ConstantStep step(0.25);
  CHECK(step.size({.gz = 1.0, .curvature = 2.0, .batches = 0, .passes = 0}) == 0.25);
  CHECK(step.size({.gz = -3.0, .curvature = 0.0, .batches = 99, .passes = 9}) == 0.25);
  CHECK_FALSE(step.wants_curvature());
}

TEST_CASE("a decaying step falls with the batches") {
  const DecayingStep step(6.0, 2.0);
  CHECK(step.size({.gz = 0.0, .curvature = 0.0, .batches = 0, .passes = 0}) == 3.0);
  CHECK(step.size({.gz = 0.0, .curvature = 0.0, .batches = 4, .passes = 0}) == 1.0);
}

TEST_CASE("an automatic step is phi times slope over curvature, falling with the passes") {
  const AutomaticStep step(0.5);
  CHECK(step.wants_curvature());
  CHECK(step.size({.gz = 6.0, .curvature = 2.0, .batches = 7, .passes = 0}) == 1.5);
  CHECK(step.size({.gz = 6.0, .curvature = 2.0, .batches = 7, .passes = 3}) == 0.75);
}

TEST_CASE("without slope or curvature an automatic step stays") {
  const AutomaticStep step(0.5);
  for (const double bad : {0.0, -1.0, static_cast<double>(NAN)}) {
    CHECK(step.size({.gz = bad, .curvature = 1.0, .batches = 0, .passes = 0}) == 0.0);
    CHECK(step.size({.gz = 1.0, .curvature = bad, .batches = 0, .passes = 0}) == 0.0);
  }
}

// On exact weights, whatever the direction downhill, the loss of the batch cannot rise.
TEST_CASE("the loss of a batch does not rise for phi below 2") {
  test::Random random(9);
  for (const auto kind :
       {Recipe::LossKind::squared, Recipe::LossKind::logistic, Recipe::LossKind::softmax}) {
    for (const double phi : {0.1, 0.5, 1.0, 1.99}) {
      Recipe recipe;
      recipe.storage = Recipe::StorageKind::dense;
      recipe.dimension = 40;
      recipe.precision = Precision::float64;
      recipe.direction = Recipe::DirectionKind::lbfgs;
      recipe.loss = kind;
      recipe.step_size = phi;
      Learner learner(recipe);
      const test::Rows rows = test::random_rows(random, 15, 30, 0.4);
      double last = INFINITY;
      for (int i = 0; i < 60; ++i) {
        const double value = learner.learn(rows.view(), {}).loss;
        REQUIRE(value <= last * (1 + 1e-12));
        last = value;
      }
    }
  }
}

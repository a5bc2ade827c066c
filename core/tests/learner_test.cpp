#include "bear/learner.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

using Kind = Recipe::StorageKind;

Recipe recipe_of(Kind storage, Recipe::LossKind loss = Recipe::LossKind::logistic) {
  Recipe recipe;
  recipe.storage = storage;
  recipe.dimension = 60;
  recipe.width = 16;
  recipe.depth = 3;
  recipe.precision = Precision::float64;
  recipe.update = Recipe::UpdateKind::lbfgs;
  recipe.k = 5;
  recipe.loss = loss;
  recipe.classes = 3;
  recipe.batch_size = 8;
  return recipe;
}

constexpr Kind kKinds[] = {Kind::dense, Kind::sketch, Kind::cached, Kind::cached_keep};

}  // namespace

TEST_CASE("the cut into calls does not matter while minibatches stay the same") {
  for (const Kind kind : kKinds) {
    test::Random random(1);
    const test::Rows rows = test::random_rows(random, 64, 50, 0.2);
    Learner whole(recipe_of(kind)), parts(recipe_of(kind));
    whole.learn(rows.view(), {});
    for (const auto& [start, stop] : {std::pair{0U, 8U}, {8U, 40U}, {40U, 64U}}) {
      parts.learn(rows.view().rows(start, stop), {});
    }
    CHECK(test::state_of(whole) == test::state_of(parts));
  }
}

TEST_CASE("margins are those before learning, and predictions those after") {
  test::Random random(2);
  const test::Rows rows = test::random_rows(random, 8, 50, 0.2);
  Learner learner(recipe_of(Kind::cached, Recipe::LossKind::softmax));
  std::vector<double> margins(24, 1.0), predicted(24), again(24);
  learner.learn(rows.view(), margins);
  for (const double margin : margins) CHECK(margin == 0.0);
  learner.predict(rows.view(), false, predicted);
  learner.learn(rows.view(), again);
  CHECK(test::largest_difference(predicted, again) < 1e-14);
}

TEST_CASE("predictions do not depend on how many rows are asked for at once") {
  test::Random random(3);
  const test::Rows rows = test::random_rows(random, 600, 50, 0.1);
  Learner learner(recipe_of(Kind::cached));
  learner.learn(rows.view(), {});
  std::vector<double> together(600), alone(1);
  for (const bool selected_only : {false, true}) {
    learner.predict(rows.view(), selected_only, together);
    for (std::size_t i = 0; i < 600; i += 37) {
      learner.predict(rows.view().rows(i, i + 1), selected_only, alone);
      CHECK(alone[0] == together[i]);
    }
  }
}

TEST_CASE("a minibatch that leaves the finite numbers changes nothing") {
  for (const Kind kind : kKinds) {
    for (const bool lbfgs : {true, false}) {
      Recipe recipe = recipe_of(kind, Recipe::LossKind::squared);
      if (!lbfgs) recipe.update = Recipe::UpdateKind::gradient;
      recipe.intercept = true;
      recipe.l2 = 0.01;
      Learner learner(recipe);
      test::Random random(4);
      const test::Rows good = test::random_rows(random, 80, 50, 0.2);
      learner.learn(good.view(), {});
      const auto before = test::state_of(learner);
      test::Rows bad = test::random_rows(random, 8, 50, 0.2);
      for (const double label : {1e300, 1e307, -1.7e308}) {
        bad.labels.assign(8, label);
        CHECK_THROWS_WITH_AS(learner.learn(bad.view(), {}), doctest::Contains("minibatch 10"),
                             Diverged);
        CHECK(test::state_of(learner) == before);
      }
      learner.learn(good.view(), {});
      CHECK(learner.counters().batches == 20);
    }
  }
}

TEST_CASE("minibatches before the one that diverged are kept") {
  Recipe recipe = recipe_of(Kind::cached, Recipe::LossKind::squared);
  Learner learner(recipe), same(recipe);
  test::Random random(5);
  test::Rows rows = test::random_rows(random, 24, 50, 0.2);
  same.learn(rows.view().rows(0, 16), {});
  rows.labels[20] = 1e300;
  CHECK_THROWS_AS(learner.learn(rows.view(), {}), Diverged);
  CHECK(test::state_of(learner) == test::state_of(same));
}

TEST_CASE("an intercept that would leave the finite numbers is caught as well") {
  Recipe recipe = recipe_of(Kind::sketch, Recipe::LossKind::squared);
  recipe.step = Recipe::StepKind::constant;
  recipe.step_size = 1e250;
  recipe.intercept = true;
  Learner learner(recipe);
  test::Rows rows;
  rows.row({}, 1e100);
  const auto before = test::state_of(learner);
  CHECK_THROWS_AS(learner.learn(rows.view(), {}), Diverged);
  CHECK(test::state_of(learner) == before);
}

TEST_CASE("a loss that stays far above that of predicting nothing is stopped") {
  Recipe recipe = recipe_of(Kind::dense, Recipe::LossKind::logistic);
  recipe.update = Recipe::UpdateKind::gradient;
  recipe.step = Recipe::StepKind::constant;
  recipe.step_size = 1e4;
  Learner learner(recipe);
  test::Random random(6);
  bool stopped = false;
  for (int i = 0; i < 2000 && !stopped; ++i) {
    const test::Rows rows = test::random_rows(random, 8, 50, 0.2);
    const auto before = test::state_of(learner);
    try {
      learner.learn(rows.view(), {});
    } catch (const Diverged& error) {
      stopped = true;
      CHECK(std::string(error.what()).find("times that of predicting nothing") !=
            std::string::npos);
      CHECK(test::state_of(learner) == before);
      CHECK(learner.counters().batches >= 50);
    }
  }
  CHECK(stopped);
}

TEST_CASE("noise that cannot be learned is no divergence") {
  Learner learner(recipe_of(Kind::cached));
  test::Random random(7);
  for (int i = 0; i < 300; ++i) {
    CHECK_NOTHROW(learner.learn(test::random_rows(random, 8, 50, 0.2).view(), {}));
  }
}

TEST_CASE("bad labels and missing labels are refused before anything is learned") {
  Learner learner(recipe_of(Kind::cached));
  test::Random random(8);
  test::Rows rows = test::random_rows(random, 40, 50, 0.2);
  const auto before = test::state_of(learner);
  rows.labels[39] = 2.0;
  CHECK_THROWS_WITH_AS(learner.learn(rows.view(), {}), doctest::Contains("at row 39"),
                       std::invalid_argument);
  rows.labels.clear();
  CHECK_THROWS_WITH_AS(learner.learn(rows.view(), {}), doctest::Contains("got 0 for 40"),
                       std::invalid_argument);
  CHECK(test::state_of(learner) == before);
}

TEST_CASE("a key beyond the dimension, in whatever minibatch, changes nothing") {
  Learner learner(recipe_of(Kind::dense));
  test::Random random(9);
  test::Rows rows = test::random_rows(random, 40, 50, 0.2);
  rows.row({{60, 1.0F}}, 1.0);
  const auto before = test::state_of(learner);
  CHECK_THROWS_WITH_AS(learner.learn(rows.view(), {}),
                       doctest::Contains("below the dimension, 60, got 60"), std::invalid_argument);
  CHECK(test::state_of(learner) == before);
}

TEST_CASE("an intercept learns the mean of labels that no feature explains") {
  for (const auto step : {Recipe::StepKind::automatic, Recipe::StepKind::constant}) {
    Recipe recipe = recipe_of(Kind::sketch, Recipe::LossKind::squared);
    recipe.step = step;
    recipe.intercept = true;
    Learner learner(recipe), without(recipe_of(Kind::sketch, Recipe::LossKind::squared));
    test::Rows rows;
    for (int i = 0; i < 8; ++i) rows.row({}, 3.0);
    for (int i = 0; i < 400; ++i) learner.learn(rows.view(), {});
    CHECK(learner.intercept()[0] == doctest::Approx(3.0).epsilon(1e-3));
    without.learn(rows.view(), {});
    CHECK(without.intercept()[0] == 0.0);
    double margin = 0.0;
    learner.predict(rows.view().rows(0, 1), false, Reals(&margin, 1));
    CHECK(margin == learner.intercept()[0]);
  }
}

// With value 1 in every row the loss is (w - y)^2 / 2, so decay l2 moves its minimum to y/(1+l2).
TEST_CASE("L2 decay ends at the regularised solution, also after many minibatches") {
  for (const Kind kind : kKinds) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      Recipe recipe = recipe_of(kind, Recipe::LossKind::squared);
      recipe.update = Recipe::UpdateKind::gradient;
      recipe.precision = precision;
      recipe.width = 4096;
      recipe.step = Recipe::StepKind::constant;
      recipe.step_size = 0.2;
      recipe.l2 = 0.5;
      Learner learner(recipe);
      test::Rows rows;
      for (int i = 0; i < 8; ++i) rows.row({{7, 1.0F}}, 3.0);
      for (int i = 0; i < 3000; ++i) learner.learn(rows.view(), {});
      double weight = 0.0;
      const Key key = 7;
      learner.query(Keys(&key, 1), Reals(&weight, 1));
      CHECK(weight == doctest::Approx(2.0).epsilon(1e-4));
    }
  }
}

TEST_CASE("a batch without weight teaches nothing") {
  for (const Kind kind : kKinds) {
    Learner learner(recipe_of(kind));
    test::Random random(10);
    test::Rows rows = test::random_rows(random, 8, 50, 0.2);
    learner.learn(rows.view(), {});
    std::vector<double> before(8), after(8);
    learner.predict(rows.view(), false, before);
    rows.weights.assign(8, 0.0);
    const Progress progress = learner.learn(rows.view(), {});
    learner.predict(rows.view(), false, after);
    CHECK(progress.weight == 0.0);
    CHECK(before == after);
  }
}

TEST_CASE("passes are counted and forget the largest gradient") {
  Learner learner(recipe_of(Kind::cached));
  test::Random random(11);
  learner.learn(test::random_rows(random, 16, 50, 0.2).view(), {});
  CHECK(learner.counters().gradient_norm > 0.0);
  learner.finish_pass();
  CHECK(learner.counters().passes == 1);
  CHECK(learner.counters().gradient_norm == 0.0);
  CHECK(learner.counters().examples == 16);
  CHECK(learner.counters().batches == 2);
}

TEST_CASE("queries want distinct keys; recipes that cannot run are refused") {
  Learner learner(recipe_of(Kind::cached));
  const std::vector<Key> twice{3, 3};
  std::vector<double> weights(2);
  CHECK_THROWS_WITH_AS(learner.query(twice, weights), "keys must be distinct",
                       std::invalid_argument);
  Recipe recipe = recipe_of(Kind::cached);
  recipe.batch_size = 0;
  CHECK_THROWS_WITH_AS(Learner{recipe}, doctest::Contains("batch_size must be at least 1"),
                       std::invalid_argument);
}

TEST_CASE("weights are moved by hand, those of the selected and those in cells") {
  for (const Kind kind : kKinds) {
    Learner learner(recipe_of(kind));
    test::Random random(12);
    learner.learn(test::random_rows(random, 16, 50, 0.2).view(), {});
    const std::vector<Key> one{learner.selection().top(0).key(0)}, all{1, 2, 3};
    for (const auto& keys : {one, all}) {
      std::vector<double> before(keys.size()), after(keys.size()), change(keys.size(), 0.0);
      change[0] = 0.25;
      learner.query(keys, before);
      learner.move(keys, change);
      learner.query(keys, after);
      CHECK(after[0] == doctest::Approx(before[0] + 0.25));
    }
    CHECK_THROWS_WITH_AS(learner.move(all, std::vector<double>(2)),
                         doctest::Contains("for every weight"), std::invalid_argument);
  }
}

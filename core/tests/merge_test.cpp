// Merging learners; merging storages is in storage_test.cpp.
#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

using Kind = Recipe::StorageKind;
constexpr Kind kKinds[] = {Kind::dense, Kind::sketch, Kind::cached, Kind::cached_keep};

Recipe recipe_of(Kind storage, std::size_t width = 4096) {
  Recipe recipe;
  recipe.storage = storage;
  recipe.dimension = 60;
  recipe.width = width;
  recipe.depth = 3;
  recipe.precision = Precision::float64;
  recipe.direction = Recipe::DirectionKind::lbfgs;
  recipe.k = 5;
  recipe.loss = Recipe::LossKind::softmax;
  recipe.classes = 3;
  recipe.batch_size = 8;
  recipe.intercept = true;
  return recipe;
}

std::unique_ptr<Learner> trained(const Recipe& recipe, std::uint64_t seed, std::size_t n = 200) {
  auto learner = std::make_unique<Learner>(recipe);
  test::Random random(seed);
  learner->learn(test::random_rows(random, n, 50, 0.2).view(), {});
  return learner;
}

std::vector<double> weights_of(const Learner& learner) {
  std::vector<Key> keys;
  for (Key key = 1; key <= 50; ++key) keys.push_back(key);
  std::vector<double> weights(50 * learner.classes());
  learner.query(keys, weights);
  return weights;
}

std::vector<Key> selected(const Learner& learner) {
  std::vector<Key> keys;
  for (std::size_t g = 0; g < learner.selection().groups(); ++g) {
    const TopK& top = learner.selection().top(g);
    for (const auto slot : top.ranked()) keys.push_back(top.key(slot));
  }
  return keys;
}

}  // namespace

TEST_CASE("without collisions every weight is the weighted mean, selected or not") {
  for (const Kind kind : kKinds) {
    for (const bool per_class : {false, true}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(per_class);
      Recipe recipe = recipe_of(kind);
      recipe.per_class = per_class;
      const auto mine = trained(recipe, 1), other = trained(recipe, 2);
      const auto a = weights_of(*mine), b = weights_of(*other);
      const auto before = test::state_of(*other);
      std::vector<double> wanted(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) wanted[i] = 0.25 * a[i] + 0.75 * b[i];
      const double intercept = 0.25 * mine->intercept()[1] + 0.75 * other->intercept()[1];
      mine->merge(*other, 0.25, 0.75);
      CHECK(test::largest_difference(weights_of(*mine), wanted) < 1e-12);
      CHECK(mine->intercept()[1] == doctest::Approx(intercept));
      CHECK(mine->counters().examples == 400);
      CHECK(test::state_of(*other) == before);
    }
  }
}

// The best k of the union of both selections, by the norm of the merged weights.
TEST_CASE("the merged selection is the best of the union") {
  for (const Kind kind : kKinds) {
    const auto mine = trained(recipe_of(kind), 1), other = trained(recipe_of(kind), 2);
    auto pool = selected(*mine);
    for (const Key key : selected(*other)) {
      if (std::find(pool.begin(), pool.end(), key) == pool.end()) pool.push_back(key);
    }
    REQUIRE(pool.size() > 5);
    mine->merge(*other, 0.5, 0.5);
    const auto weights = weights_of(*mine);
    const auto norm = [&](Key key) {
      const auto row = ConstReals(weights).subspan((key - 1) * 3, 3);
      return dot(row, row);
    };
    std::sort(pool.begin(), pool.end(), [&](Key a, Key b) { return norm(a) > norm(b); });
    pool.resize(5);
    CHECK(selected(*mine) == pool);
  }
}

TEST_CASE("merging does not depend on who is merged into whom, collisions or not") {
  for (const Kind kind : kKinds) {
    for (const std::size_t width : {7U, 4096U}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(width);
      const auto a = trained(recipe_of(kind, width), 1), b = trained(recipe_of(kind, width), 2);
      const auto c = trained(recipe_of(kind, width), 1), d = trained(recipe_of(kind, width), 2);
      a->merge(*b, 0.5, 0.5);
      d->merge(*c, 0.5, 0.5);
      CHECK(selected(*a) == selected(*d));
      CHECK(test::largest_difference(weights_of(*a), weights_of(*d)) < 1e-12);
    }
  }
}

// What a sketch and its exact weights say together is linear, so it must come out the same when
// the exact weights are put back into the cells, whatever was selected on either side.
TEST_CASE("with collisions, cells and exact weights together are still averaged") {
  const auto flat = [](Learner& learner) {
    TopK& top = learner.selection().top(0);
    while (top.size() > 0) {
      const auto slot = top.smallest();
      learner.storage().release(top.key(slot), 0, top.weights(slot));
      top.remove_smallest();
    }
    const auto bytes = learner.storage().bytes();
    std::vector<double> cells(bytes.size() / sizeof(double));
    std::memcpy(cells.data(), bytes.data(), bytes.size());
    return cells;
  };
  const auto merged = trained(recipe_of(Kind::cached, 7), 1);
  const auto mine = trained(recipe_of(Kind::cached, 7), 1);
  const auto other = trained(recipe_of(Kind::cached, 7), 2);
  merged->merge(*other, 0.5, 0.5);
  const auto a = flat(*mine), b = flat(*other), m = flat(*merged);
  std::vector<double> wanted(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) wanted[i] = 0.5 * (a[i] + b[i]);
  CHECK(test::largest_difference(m, wanted) < 1e-12);
}

TEST_CASE("learning goes on after a merge") {
  for (const Kind kind : kKinds) {
    const auto mine = trained(recipe_of(kind, 16), 1), other = trained(recipe_of(kind, 16), 2);
    mine->merge(*other, 0.5, 0.5);
    test::Random random(3);
    for (int i = 0; i < 5; ++i) mine->learn(test::random_rows(random, 40, 50, 0.2).view(), {});
    for (const double weight : weights_of(*mine)) CHECK(std::isfinite(weight));
    CHECK(mine->counters().examples == 600);
  }
}

TEST_CASE("learners of another recipe are refused, and nothing is written") {
  const Recipe recipe = recipe_of(Kind::cached, 16);
  const auto mine = trained(recipe, 1);
  const auto before = test::state_of(*mine);
  std::vector<Recipe> strangers(6, recipe);
  strangers[0].seed = 1;
  strangers[1].width = 17;
  strangers[2].k = 6;
  strangers[3].per_class = true;
  strangers[4].classes = 2;
  strangers[5].storage = Kind::sketch;
  for (const Recipe& stranger : strangers) {
    const auto other = trained(stranger, 2);
    CHECK_THROWS_WITH_AS(mine->merge(*other, 0.5, 0.5), doctest::Contains("one recipe"),
                         std::invalid_argument);
    CHECK(test::state_of(*mine) == before);
  }
}

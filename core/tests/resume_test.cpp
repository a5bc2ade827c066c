#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "bear/direction/lbfgs.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

Recipe recipe_of(Recipe::StorageKind storage, Precision precision) {
  Recipe recipe;
  recipe.storage = storage;
  recipe.dimension = 60;
  recipe.width = 16;
  recipe.depth = 3;
  recipe.precision = precision;
  recipe.direction = Recipe::DirectionKind::lbfgs;
  recipe.k = 5;
  recipe.l2 = 0.01;
  recipe.batch_size = 8;
  return recipe;
}

// Everything another learner has, the way a checkpoint carries it.
void copy_state(const Learner& from, Learner& to) {
  const auto raw = from.storage().raw();
  std::memcpy(to.storage().bytes().data(), raw.data(), raw.size());
  to.storage().restore(from.storage().numbers());
  to.storage().set_factor(from.storage().factor());
  to.direction().restore(from.direction().numbers());
  to.direction().restore_history(from.direction().history());
  to.restore_watch(from.watch());
  for (std::size_t g = 0; g < from.selection().groups(); ++g) {
    const TopK& top = from.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      to.selection().top(g).insert(top.key(slot), top.weights(slot), top.name(slot),
                                   top.magnitude(slot));
    }
  }
}

// Whether all that a saved model would hold is equal; one-byte cells are no numbers by themselves.
bool same(Learner& a, Learner& b) {
  const auto cells = a.storage().bytes(), others = b.storage().bytes();
  if (!std::ranges::equal(cells, others) || a.storage().numbers() != b.storage().numbers()) {
    return false;
  }
  if (a.intercept() != b.intercept() || a.watch() != b.watch()) return false;
  for (std::size_t g = 0; g < a.selection().groups(); ++g) {
    const TopK &mine = a.selection().top(g), &theirs = b.selection().top(g);
    const auto slots = mine.ranked(), other_slots = theirs.ranked();
    if (slots.size() != other_slots.size()) return false;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (mine.key(slots[i]) != theirs.key(other_slots[i])) return false;
      if (mine.norm(slots[i]) != theirs.norm(other_slots[i])) return false;
    }
  }
  return a.guards().stored_pairs == b.guards().stored_pairs;
}

}  // namespace

TEST_CASE("a learner that was given another's state goes on to the same bytes") {
  using Kind = Recipe::StorageKind;
  for (const Kind kind : {Kind::dense, Kind::sketch, Kind::cached, Kind::cached_keep}) {
    for (const Precision precision : {Precision::float32, Precision::int8}) {
      if (kind == Kind::dense && precision == Precision::int8) continue;
      test::Random random(4);
      const test::Rows rows = test::random_rows(random, 160, 50, 0.2);
      Learner straight(recipe_of(kind, precision)), first(recipe_of(kind, precision));
      straight.learn(rows.view(), {});
      first.learn(rows.view().rows(0, 80), {});
      Learner second(recipe_of(kind, precision));
      copy_state(first, second);
      second.counters() = first.counters();
      second.guards() = first.guards();
      second.intercept() = first.intercept();
      CHECK(second.watch() == first.watch());
      second.learn(rows.view().rows(80, 160), {});
      CHECK(same(second, straight));
    }
  }
}

TEST_CASE("looking at the raw cells does not settle their common factor") {
  Learner learner(recipe_of(Recipe::StorageKind::sketch, Precision::float32));
  test::Random random(5);
  learner.learn(test::random_rows(random, 40, 50, 0.2).view(), {});
  const double factor = learner.storage().factor();
  CHECK(factor < 1.0);
  CHECK(learner.storage().raw().size() == 16 * 3 * sizeof(float));
  CHECK(learner.storage().factor() == factor);
  learner.storage().bytes();
  CHECK(learner.storage().factor() == 1.0);
  CHECK_THROWS_AS(learner.storage().set_factor(0.0), std::invalid_argument);
  CHECK_THROWS_AS(learner.storage().set_factor(0.9e-20), std::invalid_argument);
  CHECK_THROWS_AS(learner.storage().set_factor(1.1), std::invalid_argument);
  CHECK_THROWS_AS(learner.storage().set_factor(NAN), std::invalid_argument);
  learner.storage().set_factor(1e-20);
}

TEST_CASE("a history that does not fit together is refused") {
  Lbfgs lbfgs(2, 1);
  const History empty = lbfgs.history();
  CHECK(empty.numbers.size() == 3 + 4 + 4 + 2);
  lbfgs.restore_history(empty);
  for (std::size_t at : {0U, 1U, 11U, 12U}) {
    for (const double wrong : {-1.0, 0.5, 3.0, 1e300, std::nan("")}) {
      History changed = empty;
      changed.numbers[at] = wrong;
      CHECK_THROWS_AS(lbfgs.restore_history(changed), std::invalid_argument);
    }
  }
  History longer = empty;
  longer.keys.push_back(1);
  CHECK_THROWS_AS(lbfgs.restore_history(longer), std::invalid_argument);
  longer.numbers.insert(longer.numbers.end(), 2, 1.0);
  CHECK_THROWS_AS(lbfgs.restore_history(longer), std::invalid_argument);
  longer.numbers[11] = 1.0;
  lbfgs.restore_history(longer);
  CHECK(lbfgs.history().keys == longer.keys);

  const auto gradient = make_gradient();
  gradient->restore_history({});
  CHECK_THROWS_AS(gradient->restore_history(longer), std::invalid_argument);
}

TEST_CASE("guards of a run are five numbers, one of them a count") {
  Learner learner(recipe_of(Recipe::StorageKind::sketch, Precision::float32));
  CHECK_THROWS_AS(learner.restore_watch(std::vector<double>{1.0}), std::invalid_argument);
  CHECK_THROWS_AS(learner.restore_watch(std::vector<double>{0, 0, 0.5, 0, 0}),
                  std::invalid_argument);
  const std::vector<double> watch{1.5, 2.5, 3.0, 4.5, 5.5};
  learner.restore_watch(watch);
  CHECK(learner.watch() == watch);
}

TEST_CASE("one model may predict on several threads at once") {
  test::Random random(6);
  const test::Rows rows = test::random_rows(random, 80, 50, 0.2);
  for (const auto kind : {Recipe::StorageKind::sketch, Recipe::StorageKind::cached}) {
    Learner learner(recipe_of(kind, Precision::int8));
    learner.learn(rows.view(), {});
    std::vector<double> expected(80);
    learner.predict(rows.view(), false, expected);
    std::vector<std::vector<double>> found(4, std::vector<double>(80));
    std::vector<std::thread> threads;
    for (auto& margins : found) {
      threads.emplace_back([&] { learner.predict(rows.view(), false, margins); });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& margins : found) CHECK(margins == expected);
  }
}

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "bear/update/lbfgs.hpp"
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
  recipe.update = Recipe::UpdateKind::lbfgs;
  recipe.k = 5;
  recipe.l2 = 0.01;
  recipe.batch_size = 8;
  return recipe;
}

// Everything another learner has, the way a checkpoint carries it.
void copy_state(const Learner& from, Learner& to) {
  const auto raw = from.storage().raw();
  std::memcpy(to.storage().bytes().data(), raw.data(), raw.size());
  for (std::size_t g = 0; g < from.selection().groups(); ++g) {
    const TopK& top = from.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      TopK& own = to.selection().top(g);
      own.set_level(own.insert(top.key(slot), top.weights(slot), top.name(slot)), top.level(slot));
    }
  }
  to.restore(from.state(true));
}

// Whether all that a saved model would hold is equal; one-byte cells are no numbers by themselves.
bool same(Learner& a, Learner& b) {
  const auto cells = a.storage().bytes(), others = b.storage().bytes();
  if (!std::ranges::equal(cells, others) || a.storage().numbers() != b.storage().numbers()) {
    return false;
  }
  if (a.intercept() != b.intercept() || a.state(true) != b.state(true)) return false;
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
      CHECK(second.state(true) == first.state(true));
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
  using Numbers = std::vector<double>;
  using Held = std::vector<std::uint64_t>;
  Lbfgs lbfgs(2, 1);
  const Fields empty = lbfgs.state();
  const auto numbers_in = [](Fields& fields) -> Numbers& {
    return std::get<Numbers>(fields.at("pairs.numbers"));
  };
  CHECK(std::get<Numbers>(empty.at("pairs.numbers")).size() == 3 + 4 + 4 + 2);
  lbfgs.restore(empty);
  for (std::size_t at : {0U, 1U, 11U, 12U}) {
    for (const double wrong : {-1.0, 0.5, 3.0, 1e300, std::nan("")}) {
      Fields changed = empty;
      numbers_in(changed)[at] = wrong;
      CHECK_THROWS_AS(lbfgs.restore(changed), std::invalid_argument);
    }
  }
  Fields longer = empty;
  longer["pairs.keys"] = Held{1};
  CHECK_THROWS_AS(lbfgs.restore(longer), std::invalid_argument);
  numbers_in(longer).insert(numbers_in(longer).end(), 2, 1.0);
  CHECK_THROWS_AS(lbfgs.restore(longer), std::invalid_argument);
  numbers_in(longer)[11] = 1.0;
  lbfgs.restore(longer);
  CHECK(lbfgs.state().at("pairs.keys") == longer.at("pairs.keys"));
  longer["pairs.keys"] = Numbers{1.0};
  CHECK_THROWS_AS(lbfgs.restore(longer), std::invalid_argument);
}

TEST_CASE("state is restored by name: what is missing, short or no number is refused") {
  Learner learner(test::posterior_recipe(4));
  test::Random random(5);
  learner.learn(test::random_rows(random, 120, 50, 0.2).view(), {});
  const Fields state = learner.state(true);
  Learner other(test::posterior_recipe(4));
  other.restore(state);
  CHECK(other.state(true) == state);
  for (const auto& [name, field] : state) {
    CAPTURE(name);
    for (const Field& wrong : {Field(std::vector<double>{}), Field(std::vector<double>{NAN, NAN}),
                               Field(std::vector<std::uint64_t>{1})}) {
      Fields changed = state;
      changed[name] = wrong;
      CHECK_THROWS_AS(other.restore(changed), std::invalid_argument);
    }
    if (name == "factor") continue;  // without it the rest of a run is not asked for
    Fields changed = state;
    changed.erase(name);
    CHECK_THROWS_AS(other.restore(changed), std::invalid_argument);
  }
  Fields changed = state;
  changed["blown_up"] = std::vector<double>{0.5};
  CHECK_THROWS_AS(other.restore(changed), std::invalid_argument);
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

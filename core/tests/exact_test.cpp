// Learners as plain numbers, and back.
#include "bear/exact.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "bear/key_row.hpp"
#include "bear/storage/byte_cells.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

Recipe recipe_of(Precision precision, std::size_t width = 2048) {
  Recipe recipe;
  recipe.storage = Recipe::StorageKind::cached;
  recipe.width = width;
  recipe.depth = 1;
  recipe.precision = precision;
  recipe.k = 5;
  recipe.batch_size = 8;
  return recipe;
}

std::unique_ptr<Learner> trained(const Recipe& recipe, std::uint64_t seed) {
  auto learner = std::make_unique<Learner>(recipe);
  test::Random random(seed);
  learner->learn(test::random_rows(random, 200, 50, 0.2).view(), {});
  return learner;
}

std::vector<Key> all_keys() {
  std::vector<Key> keys;
  for (Key key = 1; key <= 50; ++key) keys.push_back(key);
  return keys;
}

std::vector<double> weights_of(const Learner& learner, const std::vector<Key>& keys) {
  std::vector<double> weights(keys.size() * learner.classes());
  learner.query(keys, weights);
  return weights;
}

double quantum_of(const Learner& learner) { return learner.storage().numbers()[0]; }

}  // namespace

TEST_CASE("keys that are taken out have the weights that queries give, and leave nothing behind") {
  for (const Precision precision : {Precision::float64, Precision::float32, Precision::int8}) {
    CAPTURE(static_cast<int>(precision));
    const auto learner = trained(recipe_of(precision), 3);
    const auto keys = all_keys();
    const auto before = weights_of(*learner, keys);
    const Exact exact = take_apart(*learner, {keys});
    // Of two keys in one cell the first takes all.
    double total = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (exact.weights[0][i] != 0.0) CHECK(exact.weights[0][i] == doctest::Approx(before[i]));
    }
    for (const double cell : exact.cells()) total += std::abs(cell);
    CHECK(total == doctest::Approx(0.0));
    CHECK(weights_of(*learner, keys) == before);
  }
}

TEST_CASE("what was taken out and put back is the same learner") {
  const auto learner = trained(recipe_of(Precision::float64, 16), 5);
  std::vector<Key> mine, others;
  for (const Key key : all_keys()) {
    (learner->selection().top(0).find(key) >= 0 ? mine : others).push_back(key);
  }
  Exact exact = take_apart(*learner, {others});
  const auto keys = all_keys();
  const auto before = weights_of(*learner, keys);
  put_together(*learner, exact, {{others}, {exact.weights[0]}}, 0.0, 0.0);
  const auto after = weights_of(*learner, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(after[i] == doctest::Approx(before[i]));
}

TEST_CASE("moves from a common start are averaged, and are as long as they were") {
  const auto recipe =
      recipe_of(Precision::float32, 21);  // a number of cells that four does not divide
  const auto start = trained(recipe, 1), a = trained(recipe, 2), b = trained(recipe, 3);
  const auto keys = all_keys();
  const std::vector<double> shares{0.25, 0.75};
  for (Learner* from : {static_cast<Learner*>(nullptr), start.get()}) {
    const Exact mean = average({a.get(), b.get()}, shares, from, {keys});
    const auto check = [&](const auto& got, const auto& base, const auto& one, const auto& other) {
      std::vector<double> sum;
      double long_ones = 0.0, short_one = 0.0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double zero = from == nullptr ? 0.0 : base[i];
        const double first = one[i] - zero, second = other[i] - zero;
        sum.push_back(0.25 * first + 0.75 * second);
        long_ones += 0.25 * first * first + 0.75 * second * second;
        short_one += sum[i] * sum[i];
      }
      const double factor =
          from == nullptr || short_one == 0.0 ? 1.0 : std::sqrt(long_ones / short_one);
      CHECK(factor >= 1.0);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double zero = from == nullptr ? 0.0 : base[i];
        CHECK(got[i] == doctest::Approx(zero + factor * sum[i]));
      }
    };
    const Exact base = take_apart(*start, {keys});
    const Exact one = take_apart(*a, {keys}), other = take_apart(*b, {keys});
    check(mean.weights[0], base.weights[0], one.weights[0], other.weights[0]);
    check(mean.cells(), base.cells(), one.cells(), other.cells());
  }
}

TEST_CASE("one-byte cells keep the quantum they are given, or get the one they need") {
  Learner learner(recipe_of(Precision::int8, 1000));
  std::vector<double> cells(1000);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = 0.001 * static_cast<double>(i);
  const std::vector<Key> none;
  for (const double quantum : {0.5, 1e-9}) {
    Exact given = take_apart(learner, {none});
    std::copy(cells.begin(), cells.end(), given.cells().begin());
    put_together(learner, given, {{none}, {ConstReals()}}, quantum, 7.0);
    const auto numbers = learner.storage().numbers();
    CHECK(numbers[0] == doctest::Approx(std::max(quantum, 0.999 / 127.0)));
    CHECK(numbers[1] == 7.0);
    const Exact exact = take_apart(learner, {none});
    double sum = 0.0, wanted = 0.0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      CHECK(std::abs(exact.cells()[i] - cells[i]) <= numbers[0] * 1.0000001);
      sum += exact.cells()[i];
      wanted += cells[i];
    }
    // The mean of 1,000 draws is off by less than five standard deviations.
    CHECK(std::abs(sum - wanted) < 5.0 * 0.5 * numbers[0] * std::sqrt(1000.0));
  }
}

TEST_CASE("what was counted before the start, and by every part since, adds up") {
  Recipe recipe = recipe_of(Precision::int8, 64);
  recipe.update = Recipe::UpdateKind::posterior;
  const auto start = trained(recipe, 1);
  const auto sum_of = [](const std::vector<double>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0.0);
  };
  const double before = sum_of(start->storage().counting()->counts());
  CHECK(before > 0.0);
  std::vector<std::unique_ptr<Learner>> parts;
  double since = 0.0;
  for (const std::uint64_t seed : {2, 3}) {
    auto part = std::make_unique<Learner>(recipe);
    part->storage().counting()->set_counts(start->storage().counting()->counts());
    part->restore(start->state(false));
    test::Random random(seed);
    part->learn(test::random_rows(random, 300, 50, 0.2).view(), {});
    since += sum_of(part->storage().counting()->counts()) - before;
    parts.push_back(std::move(part));
  }
  const std::vector<Key> none;
  const double shares[] = {0.5, 0.5};
  Exact mean = average({parts[0].get(), parts[1].get()}, shares, start.get(), {none});
  CHECK(sum_of(mean.counters) == doctest::Approx(before + since));
  Learner merged(recipe);
  put_together(merged, mean, {{none}, {ConstReals()}}, 1.0, 7.0);
  CHECK(std::abs(sum_of(merged.storage().counting()->counts()) / (before + since) - 1.0) < 0.1);
}

// What a run of adds leaves in the cells is linear in them, so cells may be averaged.
TEST_CASE("cells that are summed equal those of one learner that got both streams") {
  using Kind = Recipe::StorageKind;
  const std::vector<Key> none;
  for (const Kind kind : {Kind::dense, Kind::sketch, Kind::cached, Kind::cached_keep}) {
    for (const Precision precision : {Precision::float64, Precision::float32, Precision::int8}) {
      if (kind == Kind::dense && precision == Precision::int8) continue;
      CAPTURE(static_cast<int>(kind));
      CAPTURE(static_cast<int>(precision));
      Recipe recipe = recipe_of(precision, 1 << 14);
      recipe.storage = kind;
      recipe.dimension = 60;
      recipe.depth = 3;
      Learner one(recipe), other(recipe), both(recipe), summed(recipe);
      const auto keys = all_keys();
      const KeyRow row(keys, recipe.seed);
      Places places;
      one.selection().find(row.active(), places);
      one.storage().locate(row.active(), places);
      test::Random random(4);
      for (int i = 0; i < 20; ++i) {
        const auto step = random.normals(keys.size());
        (i % 3 ? one : other).storage().add(places, step);
        both.storage().add(places, step);
      }
      const auto untouched = weights_of(other, keys);
      Exact sum = take_apart(one, {none});
      const Exact theirs = take_apart(other, {none});
      for (std::size_t i = 0; i < sum.cells().size(); ++i) sum.cells()[i] += theirs.cells()[i];
      put_together(summed, sum, {{none}, {ConstReals()}}, 0.0, 0.0);
      // Twenty writes of one-byte cells are off by a quantum each at most, and by 3 of them here.
      const double tolerance = precision == Precision::float64   ? 1e-13
                               : precision == Precision::float32 ? 1e-5
                                                                 : 10.0 * quantum_of(both);
      CHECK(test::largest_difference(weights_of(summed, keys), weights_of(both, keys)) < tolerance);
      CHECK(weights_of(other, keys) == untouched);
    }
  }
}

TEST_CASE("cells are taken with their common factor") {
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const auto learner = trained(recipe_of(precision), 3);
    const std::vector<Key> none;
    const Exact before = take_apart(*learner, {none});
    learner->storage().scale(0.25);
    REQUIRE(learner->storage().factor() == 0.25);
    const Exact after = take_apart(*learner, {none});
    for (double& cell : after.cells()) cell *= 4.0;
    CHECK(std::ranges::equal(after.cells(), before.cells()));
  }
}

TEST_CASE("what does not fit the learner is refused") {
  Learner learner(recipe_of(Precision::float32, 8));
  const std::vector<Key> twice{1, 1}, one{1};
  const std::vector<double> weight(1), few(3);
  CHECK_THROWS_AS(take_apart(learner, {}), std::invalid_argument);
  CHECK_THROWS_AS(average({&learner}, {}, nullptr, {one}), std::invalid_argument);
  CHECK_THROWS_AS(average({}, {}, nullptr, {one}), std::invalid_argument);
  CHECK_THROWS_AS(take_apart(learner, {twice}), std::invalid_argument);
  Learner narrower(recipe_of(Precision::float32, 3));
  Exact other = take_apart(narrower, {one}), cells = take_apart(learner, {one});
  CHECK_THROWS_AS(average({&learner, &narrower}, few, nullptr, {one}), std::invalid_argument);
  const std::vector<double> shares{0.5, 0.5};
  CHECK_THROWS_AS(average({&learner, &narrower}, shares, nullptr, {one}), std::invalid_argument);
  CHECK_THROWS_AS(put_together(learner, other, {{one}, {weight}}, 0, 0), std::invalid_argument);
  CHECK_THROWS_AS(put_together(learner, cells, {{}, {}}, 0, 0), std::invalid_argument);
  CHECK_THROWS_AS(put_together(learner, cells, {{one}, {few}}, 0, 0), std::invalid_argument);
}

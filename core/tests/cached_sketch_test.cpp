#include "bear/storage/cached_sketch.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

struct Fixture {
  Selection selection;
  CachedSketch<double> storage;
  CountSketch<double> plain;  // sees the sketch's own cells
  test::Rows rows = test::row_of({1, 2, 3, 4, 5, 6, 7, 8});
  ActiveSet active;
  Places places;

  explicit Fixture(bool subtract, std::size_t width = 5, bool per_class = false)
      : selection(2, 2, per_class, Precision::float64, 1),
        storage({width, 3, 2, Query::mean, 1}, selection, subtract),
        plain({width, 3, 2, Query::mean, 1}),
        active(1) {
    active.assign(rows.view());
    locate();
  }

  void locate() {
    selection.find(active, places);
    storage.locate(active, places);
  }

  std::vector<double> query() const {
    std::vector<double> weights(active.size() * 2);
    storage.query(places, weights);
    return weights;
  }

  std::vector<double> cells() {
    const auto bytes = storage.bytes();
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  // Promotes a key with its estimate, as a selection does.
  void promote(std::size_t column, std::size_t group = 0) {
    std::vector<double> estimate(2);
    storage.query_one(places, column, estimate);
    const ConstReals weights =
        ConstReals(estimate).subspan(selection.first_class(group), selection.top(group).width());
    storage.admit(active.keys()[column], selection.first_class(group), weights);
    selection.top(group).insert(active.keys()[column], weights, "");
    locate();
  }

  void evict(std::size_t group = 0) {
    TopK& top = selection.top(group);
    const std::int32_t slot = top.least();
    storage.release(top.key(slot), selection.first_class(group), top.weights(slot));
    top.remove_front();
    locate();
  }
};

}  // namespace

TEST_CASE("promotion takes the estimate out of the cells, eviction puts the weight back") {
  Fixture f(true);
  test::Random random(1);
  f.storage.add(f.places, random.normals(16));
  const auto cells = f.cells();
  const auto before = f.query();
  f.promote(3);
  CHECK(test::largest_difference(ConstReals(f.query()).subspan(6, 2),
                                 ConstReals(before).subspan(6, 2)) < 1e-14);
  CHECK(test::largest_difference(f.cells(), cells) > 1e-3);
  f.evict();
  CHECK(test::largest_difference(f.cells(), cells) < 1e-14);
  CHECK(test::largest_difference(f.query(), before) < 1e-14);
}

TEST_CASE("the selected move exactly, and their cells stay") {
  for (const bool subtract : {true, false}) {
    Fixture f(subtract);
    test::Random random(2);
    f.storage.add(f.places, random.normals(16));
    f.promote(0);
    const auto before = f.query();
    const auto cells = f.cells();
    std::vector<double> step(16, 0.0);
    step[0] = 0.5;
    step[1] = -0.25;
    f.storage.add(f.places, step);
    CHECK(f.query()[0] == before[0] + 0.5);
    CHECK(f.query()[1] == before[1] - 0.25);
    CHECK(test::largest_difference(f.cells(), cells) == 0.0);
  }
}

TEST_CASE("AWM leaves a copy behind and corrects it on eviction") {
  Fixture f(false);
  test::Random random(3);
  f.storage.add(f.places, random.normals(16));
  const auto cells = f.cells();
  f.promote(2);
  CHECK(test::largest_difference(f.cells(), cells) == 0.0);
  std::vector<double> step(16, 0.0);
  step[4] = 1.5;
  f.storage.add(f.places, step);
  const double weight = f.query()[4];
  f.evict();
  CHECK(f.query()[4] == doctest::Approx(weight));
}

TEST_CASE("with one heap per class only the class's own column is exact") {
  Fixture f(true, 5, true);
  test::Random random(4);
  f.storage.add(f.places, random.normals(16));
  const auto before = f.query();
  f.promote(5, 1);
  std::vector<double> step(16, 0.0);
  step[10] = 1.0;
  step[11] = 1.0;
  f.storage.add(f.places, step);
  CHECK(f.query()[11] == before[11] + 1.0);
  CHECK(f.selection.top(1).weights(f.selection.top(1).least())[0] == f.query()[11]);
  CHECK(f.selection.top(0).size() == 0);
  f.evict(1);
  CHECK(f.query()[11] == doctest::Approx(before[11] + 1.0));
}

TEST_CASE("without collisions it is the plain sketch") {
  Fixture f(true, 4096);
  test::Random random(5);
  for (int i = 0; i < 20; ++i) {
    const auto step = random.normals(16);
    f.storage.add(f.places, step);
    f.plain.add(f.places, step);
    if (i == 4) f.promote(1);
    if (i == 9) f.promote(6);
    if (i == 14) f.evict();
  }
  std::vector<double> plain(16);
  f.plain.query(f.places, plain);
  CHECK(test::largest_difference(f.query(), plain) < 1e-12);
}

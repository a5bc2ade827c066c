// What every storage obeys; see count_sketch_test.cpp and cached_sketch_test.cpp for the rest.
#include "bear/storage.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "bear/selection.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

constexpr std::size_t kClasses = 2, kKeys = 12;

struct Made {
  std::unique_ptr<Selection> selection;
  std::unique_ptr<Storage> storage;
};

using Make = std::function<Made(std::uint64_t seed)>;

// Wide enough that the keys 1 .. 12 do not collide in any row under the seeds used here.
std::vector<std::pair<std::string, Make>> storages(Precision precision) {
  const auto shape = [](std::uint64_t seed, std::size_t depth, Query query) {
    return SketchShape{1 << 14, depth, kClasses, query, seed};
  };
  const auto cached = [=](bool subtract) {
    return [=](std::uint64_t seed) {
      Made made{std::make_unique<Selection>(3, kClasses, false, precision), nullptr};
      made.storage =
          make_cached_sketch(shape(seed, 3, Query::mean), precision, *made.selection, subtract);
      return made;
    };
  };
  return {
      {"dense",
       [=](std::uint64_t) { return Made{nullptr, make_dense(kKeys + 1, kClasses, precision)}; }},
      {"hashed",
       [=](std::uint64_t seed) {
         return Made{nullptr, make_count_sketch(shape(seed, 1, Query::mean), precision)};
       }},
      {"sketch, mean",
       [=](std::uint64_t seed) {
         return Made{nullptr, make_count_sketch(shape(seed, 4, Query::mean), precision)};
       }},
      {"sketch, median",
       [=](std::uint64_t seed) {
         return Made{nullptr, make_count_sketch(shape(seed, 5, Query::median), precision)};
       }},
      {"cached", cached(true)},
      {"cached, copy stays", cached(false)},
  };
}

// The keys 1 .. 12 and where they stand in a storage.
struct Located {
  test::Rows rows;
  ActiveSet active;
  Places places;

  Located(const Made& made, std::uint64_t seed) : active(seed) {
    std::vector<Key> keys;
    for (Key key = 1; key <= kKeys; ++key) keys.push_back(key);
    rows = test::row_of(keys);
    active.assign(rows.view());
    if (made.selection) made.selection->find(active, places);
    made.storage->locate(active, places);
  }

  std::vector<double> query(const Storage& storage) const {
    std::vector<double> weights(active.size() * kClasses);
    storage.query(places, weights);
    return weights;
  }
};

void each_storage(const std::function<void(Precision, const Make&)>& check) {
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const auto& [name, make] : storages(precision)) {
      CAPTURE(name);
      CAPTURE(precision == Precision::float32);
      check(precision, make);
    }
  }
}

double tolerance(Precision precision) { return precision == Precision::float64 ? 1e-13 : 1e-5; }

}  // namespace

TEST_CASE("distinct keys without collisions are read as they were added") {
  each_storage([](Precision precision, const Make& make) {
    const Made made = make(3);
    const Located at(made, 3);
    test::Random random(1);
    CHECK(test::largest_difference(at.query(*made.storage), std::vector<double>(24)) == 0.0);
    std::vector<double> total(kKeys * kClasses);
    for (int i = 0; i < 5; ++i) {
      const auto step = random.normals(total.size());
      made.storage->add(at.places, step);
      for (std::size_t k = 0; k < total.size(); ++k) total[k] += step[k];
    }
    CHECK(test::largest_difference(at.query(*made.storage), total) < tolerance(precision));
    std::vector<double> one(kClasses);
    made.storage->query_one(at.places, 4, one);
    CHECK(one[1] == doctest::Approx(total[4 * kClasses + 1]).epsilon(tolerance(precision)));
  });
}

TEST_CASE("scaling scales every weight, also later ones right") {
  each_storage([](Precision precision, const Make& make) {
    const Made made = make(3);
    const Located at(made, 3);
    test::Random random(2);
    const auto first = random.normals(kKeys * kClasses), second = random.normals(kKeys * kClasses);
    made.storage->add(at.places, first);
    made.storage->scale(0.5);
    made.storage->add(at.places, second);
    std::vector<double> wanted(first.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = 0.5 * first[i] + second[i];
    CHECK(test::largest_difference(at.query(*made.storage), wanted) < tolerance(precision));
  });
}

TEST_CASE("a key's cells do not depend on the keys around it") {
  each_storage([](Precision, const Make& make) {
    const Made made = make(9);
    const Located at(made, 9);
    const test::Rows alone = test::row_of({7});
    ActiveSet active(9);
    active.assign(alone.view());
    Places places;
    made.storage->locate(active, places);
    REQUIRE(places.cells.size() == places.depth);
    for (std::size_t row = 0; row < places.depth; ++row) {
      CHECK(places.cells[row] == at.places.cells[6 * places.depth + row]);
    }
  });
}

TEST_CASE("dense storage refuses keys beyond its dimension by name") {
  const auto storage = make_dense(5, 1, Precision::float32);
  const test::Rows rows = test::row_of({4, 5});
  ActiveSet active(0);
  active.assign(rows.view());
  Places places;
  CHECK_THROWS_WITH_AS(storage->locate(active, places),
                       doctest::Contains("below the dimension, 5, got 5"), std::invalid_argument);
}

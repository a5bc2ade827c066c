#include "bear/selection.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>

#include "helpers.hpp"

using namespace bear;

namespace {

// Keys by falling norm, ties by rising key.
std::vector<Key> ranking(const std::map<Key, std::vector<double>>& weights) {
  std::vector<Key> keys;
  for (const auto& item : weights) keys.push_back(item.first);
  std::stable_sort(keys.begin(), keys.end(), [&](Key a, Key b) {
    return dot(weights.at(a), weights.at(a)) > dot(weights.at(b), weights.at(b));
  });
  return keys;
}

std::vector<Key> keys_of(const TopK& top) {
  std::vector<Key> keys;
  for (const std::int32_t slot : top.ranked()) keys.push_back(top.key(slot));
  return keys;
}

// Small whole numbers, so that ties are common.
std::vector<double> coarse(test::Random& random, std::size_t n) {
  std::vector<double> values(n);
  for (double& value : values) value = static_cast<double>(random.below(7)) - 3.0;
  return values;
}

}  // namespace

TEST_CASE("random inserts, updates and removals agree with a sorted list, ties included") {
  for (const std::size_t width : {1U, 3U}) {
    test::Random random(width);
    TopK top(9, width, Precision::float64);
    std::map<Key, std::vector<double>> plain;
    for (int i = 0; i < 5000; ++i) {
      const Key key = random.below(25);
      const auto weights = coarse(random, width);
      const std::int32_t slot = top.find(key);
      REQUIRE((slot >= 0) == (plain.count(key) > 0));
      if (slot >= 0) {
        top.update(slot, 0.0, weights);
        plain[key] = weights;
      } else if (!top.full()) {
        top.insert(key, weights, "");
        plain[key] = weights;
      } else {
        REQUIRE(top.key(top.least()) == ranking(plain).back());
        plain.erase(top.key(top.least()));
        top.remove_front();
      }
      REQUIRE(keys_of(top) == ranking(plain));
      if (top.size() > 0) REQUIRE(top.key(top.least()) == ranking(plain).back());
    }
  }
}

TEST_CASE("update keeps a share and adds a change") {
  TopK top(2, 2, Precision::float64);
  const auto slot = top.insert(1, std::vector<double>{2.0, -4.0}, "one");
  top.update(slot, 0.5, std::vector<double>{1.0, 1.0});
  CHECK(top.weights(slot)[0] == 2.0);
  CHECK(top.weights(slot)[1] == -1.0);
  CHECK(top.norm(slot) == doctest::Approx(std::sqrt(5.0)));
  CHECK(top.name(slot) == "one");
}

TEST_CASE("weights are kept at their precision") {
  TopK narrow(1, 1, Precision::float32), wide(1, 1, Precision::float64);
  const std::vector<double> third{1.0 / 3.0};
  CHECK(narrow.weights(narrow.insert(1, third, ""))[0] == static_cast<double>(1.0F / 3.0F));
  CHECK(wide.weights(wide.insert(1, third, ""))[0] == 1.0 / 3.0);
}

TEST_CASE("bytes are multiples of a power of two that all weights of a key have in common") {
  TopK top(1, 3, Precision::int8);
  const std::vector<double> start{1.0, -0.3, 1e-9};
  std::array<double, 3> means{};
  constexpr int kTimes = 4000;
  for (int time = 0; time < kTimes; ++time) {
    top.draw_from(static_cast<std::uint64_t>(time));
    const std::int32_t slot = top.insert(7, start, "");
    const ConstReals kept = top.weights(slot);
    CHECK(kept[0] == 1.0);
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(std::abs(64.0 * kept[c]) <= 127.0);
      CHECK(64.0 * kept[c] == std::round(64.0 * kept[c]));
      means[c] += kept[c] / kTimes;
    }
    top.least();
    top.remove_front();
  }
  // 1 / 64 apart at random: a standard error below 1e-4.
  for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(means[c] - start[c]) < 5e-4);
  const std::int32_t slot = top.insert(7, std::vector<double>{127.0, 64.0, 0.0}, "");
  top.update(slot, 0.0, std::vector<double>{0.0, 0.0, 0.0});
  CHECK(top.norm(slot) == 0.0);
  top.update(slot, 1.0, std::vector<double>{127.0 * 1024.0, -1024.0, 0.0});
  CHECK(top.weights(slot)[1] == -1024.0);  // what the bytes can say is not changed
}

TEST_CASE("the least is found by what weights are worth, which may change") {
  test::Random random(9);
  TopK top(40, 1, Precision::float64);
  std::map<Key, double> worths;
  for (Key key = 0; key < 40; ++key) {
    worths[key] = 1.0 + random.uniform();
    const auto slot = top.insert(key, std::vector<double>{random.uniform()}, "");
    top.set_worth(slot, worths[key]);
  }
  for (int trial = 0; trial < 500; ++trial) {
    const Key key = random.next() % 40;
    worths[key] += random.uniform() - 0.4;
    top.set_worth(top.find(key), worths[key]);
    top.update(top.find(key), random.uniform(), std::vector<double>{0.4 * random.uniform()});
    double least = 1e9;
    for (const auto& [other, worth] : worths) {
      least = std::min(least, worth * top.norm(top.find(other)));
    }
    REQUIRE(top.value(top.least()) == least);
  }
}

// Rounding after scaling can make ties, and ties have an order of their own.
TEST_CASE("scaling keeps the heap in order") {
  test::Random random(8);
  for (int trial = 0; trial < 200; ++trial) {
    TopK top(8, 1, Precision::float32);
    for (Key key = 0; key < 8; ++key) {
      top.insert(random.next(), std::vector<double>{1.0 + 1e-7 * random.uniform()}, "");
    }
    top.scale(0.3 + 0.5 * random.uniform());
    REQUIRE(top.key(top.least()) == keys_of(top).back());
    std::vector<Key> popped;
    const auto wanted = keys_of(top);
    while (top.size() > 0) {
      popped.insert(popped.begin(), top.key(top.least()));
      top.remove_front();
    }
    REQUIRE(popped == wanted);
  }
}

TEST_CASE("a removed name does not come back") {
  TopK top(1, 1, Precision::float32);
  top.set_alias(top.insert(1, std::vector<double>{1.0}, "old"), "older");
  top.least();
  top.remove_front();
  const auto slot = top.insert(2, std::vector<double>{1.0}, "");
  CHECK(top.name(slot).empty());
  CHECK(top.alias(slot).empty());
}

namespace {

struct Fixture {
  test::Rows rows;
  Selection selection;
  std::unique_ptr<Storage> storage;
  ActiveSet active{0};
  Places places;

  Fixture(std::size_t k, std::size_t classes, bool per_class)
      : selection(k, classes, per_class, Precision::float64),
        storage(make_dense(100, classes, Precision::float64)) {}

  // Adds a step to the keys and offers them.
  void move(const std::vector<Key>& keys, const std::vector<double>& step) {
    rows = test::row_of(keys);
    active.assign(rows.view());
    selection.find(active, places);
    storage->locate(active, places);
    storage->add(places, step);
    std::vector<double> weights(step.size());
    storage->query(places, weights);
    selection.offer(active, places, weights, step, *storage);
  }
};

}  // namespace

TEST_CASE("a shared heap keeps the largest norms over the classes") {
  Fixture f(2, 2, false);
  f.move({1, 2, 3, 4}, {3.0, 0.0, 2.0, 2.5, 1.0, 1.0, 0.0, -2.9});
  CHECK(f.selection.groups() == 1);
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{2, 1});
  f.move({4}, {0.0, -3.0});
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{4, 2});
}

TEST_CASE("one heap per class keeps the largest of each") {
  Fixture f(1, 2, true);
  f.move({1, 2}, {3.0, 0.5, 2.0, -2.5});
  CHECK(f.selection.groups() == 2);
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{1});
  CHECK(keys_of(f.selection.top(1)) == std::vector<Key>{2});
  std::vector<double> weights{3.0, 0.5, 2.0, -2.5};
  f.selection.find(f.active, f.places);
  f.selection.mask(f.places, weights);
  CHECK(weights == std::vector<double>{3.0, 0.0, 0.0, -2.5});
}

TEST_CASE("zero weights are never selected, and a tie does not evict") {
  Fixture f(2, 1, false);
  f.move({1, 2, 3}, {0.0, 1.0, 0.0});
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{2});
  f.move({3}, {2.0});
  f.move({1}, {1.0});
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{3, 2});
}

TEST_CASE("members get their new weights before candidates are compared") {
  Fixture f(1, 1, false);
  f.move({1}, {5.0});
  f.move({1, 2}, {-4.5, 1.0});
  CHECK(keys_of(f.selection.top(0)) == std::vector<Key>{2});
}

// All keys share the one cell, so all estimates tie: the one that moved most must be taken.
TEST_CASE("of bucket mates the one that moved most is selected") {
  Selection selection(1, 1, false, Precision::float64);
  const auto storage =
      make_cached_sketch({1, 1, 1, Query::mean, 0}, Precision::float64, selection, true);
  const test::Rows rows = test::row_of({1, 2, 3});
  ActiveSet active(0);
  active.assign(rows.view());
  Places places;
  selection.find(active, places);
  storage->locate(active, places);
  const std::vector<double> z{0.5, -4.0, 1.0};
  storage->add(places, z);
  std::vector<double> weights(3);
  storage->query(places, weights);
  REQUIRE(std::abs(weights[0]) == std::abs(weights[1]));
  selection.offer(active, places, weights, z, *storage);
  CHECK(keys_of(selection.top(0)) == std::vector<Key>{2});
}

TEST_CASE("names come with the entry, and a second name is kept and counted once") {
  Selection selection(2, 1, false, Precision::float64);
  const auto storage = make_dense(10, 1, Precision::float64);
  const auto offer = [&](const std::string& name) {
    test::Rows rows = test::row_of({4});
    rows.name(name);
    ActiveSet active(0);
    active.assign(rows.view());
    Places places;
    selection.find(active, places);
    storage->locate(active, places);
    storage->add(places, std::vector<double>{1.0});
    std::vector<double> weights(1);
    storage->query(places, weights);
    selection.offer(active, places, weights, weights, *storage);
  };
  for (const char* name : {"four", "four", "vier", "vier", "quatre"}) offer(name);
  const TopK& top = selection.top(0);
  CHECK(top.name(top.find(4)) == "four");
  CHECK(top.alias(top.find(4)) == "vier");
  CHECK(selection.name_collisions() == 1);
}

TEST_CASE("k = 0 selects nothing and masks nothing") {
  Selection selection(0, 3, false, Precision::float32);
  CHECK(selection.groups() == 0);
  Places places;
  std::vector<double> weights{1.0, 2.0, 3.0};
  selection.mask(places, weights);
  CHECK(weights[0] == 1.0);
  CHECK_THROWS_WITH_AS(Selection(std::size_t{1} << 31, 1, false, Precision::float32),
                       doctest::Contains("k must be below 2^31"), std::invalid_argument);
}

#include "bear/storage/count_sketch.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

std::vector<Key> first_keys(std::size_t n) {
  std::vector<Key> keys;
  for (Key key = 1; key <= n; ++key) keys.push_back(key);
  return keys;
}

struct Located {
  test::Rows rows;
  ActiveSet active;
  Places places;

  Located(const Storage& storage, std::uint64_t seed, const std::vector<Key>& keys)
      : rows(test::row_of(keys)), active(seed) {
    active.assign(rows.view());
    storage.locate(active, places);
  }
};

// Reads the cells of a key by hand and averages them.
double by_hand(const std::vector<double>& cells, const Places& places, std::size_t a, Query query) {
  std::vector<double> read;
  for (std::size_t row = 0; row < places.depth; ++row) {
    const std::uint64_t at = places.cells[a * places.depth + row];
    read.push_back((at & 1) ? -cells[at / 2] : cells[at / 2]);
  }
  std::sort(read.begin(), read.end());
  const std::size_t n = read.size();
  if (query == Query::median) return 0.5 * (read[(n - 1) / 2] + read[n / 2]);
  double sum = 0.0;
  for (const double value : read) sum += value;
  return sum / static_cast<double>(n);
}

}  // namespace

TEST_CASE("cells and queries are those written by hand, at every depth and odd widths") {
  for (std::size_t depth = 1; depth <= kMaxDepth; ++depth) {
    for (const Query query : {Query::mean, Query::median}) {
      CountSketch<double> sketch({7, depth, 1, query, 5});
      const Located at(sketch, 5, first_keys(40));
      test::Random random(depth);
      const auto step = random.normals(40);
      sketch.add(at.places, step);
      std::vector<double> cells(7 * depth), weights(40);
      for (std::size_t i = 0; i < at.places.cells.size(); ++i) {
        const std::uint64_t place = at.places.cells[i];
        REQUIRE(place / 2 / 7 == i % depth);  // each row has its own cells
        cells[place / 2] += (place & 1) ? -step[i / depth] : step[i / depth];
      }
      sketch.query(at.places, weights);
      for (std::size_t a = 0; a < 40; ++a) {
        CHECK(weights[a] == doctest::Approx(by_hand(cells, at.places, a, query)));
      }
    }
  }
}

TEST_CASE("classes are independent columns of the same cells") {
  CountSketch<double> joint({9, 3, 2, Query::median, 1}), single({9, 3, 1, Query::median, 1});
  const Located a(joint, 1, first_keys(30)), b(single, 1, first_keys(30));
  test::Random random(6);
  const auto step = random.normals(60);
  std::vector<double> second(30), both(60), alone(30);
  for (std::size_t i = 0; i < 30; ++i) second[i] = step[2 * i + 1];
  joint.add(a.places, step);
  single.add(b.places, second);
  joint.query(a.places, both);
  single.query(b.places, alone);
  for (std::size_t i = 0; i < 30; ++i) CHECK(both[2 * i + 1] == alone[i]);
}

// One heavy key among many: the mean over seeds of its estimate must come back to its weight.
TEST_CASE("the mean query is unbiased over seeds") {
  constexpr std::size_t kSeeds = 4000, kMates = 20, kWidth = 4;
  double sum = 0.0, squares = 0.0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CountSketch<double> sketch({kWidth, 1, 1, Query::mean, seed});
    const Located at(sketch, seed, first_keys(kMates + 1));
    std::vector<double> step(kMates + 1, 1.0), weights(kMates + 1);
    step[0] = 3.0;
    sketch.add(at.places, step);
    sketch.query(at.places, weights);
    sum += weights[0];
    squares += weights[0] * weights[0];
  }
  const double mean = sum / kSeeds, variance = squares / kSeeds - mean * mean;
  CHECK(std::abs(mean - 3.0) < 5.0 * std::sqrt(variance / kSeeds));
  // Each mate shares the bucket with probability 1 / width and adds 1 to the variance.
  CHECK(variance == doctest::Approx(static_cast<double>(kMates) / kWidth).epsilon(0.15));
}

TEST_CASE("impossible shapes are refused by name") {
  using doctest::Contains;
  CHECK_THROWS_WITH(CountSketch<float>({0, 1, 1, Query::mean, 0}), Contains("width"));
  CHECK_THROWS_WITH(CountSketch<float>({1, 0, 1, Query::mean, 0}), Contains("1 to 16, got 0"));
  CHECK_THROWS_WITH(CountSketch<float>({1, 17, 1, Query::mean, 0}), Contains("1 to 16, got 17"));
  CHECK_THROWS_WITH(CountSketch<float>({std::size_t{1} << 61, 16, 1, Query::mean, 0}),
                    Contains("width x depth must fit"));
}

#include "bear/scaling.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "helpers.hpp"

using namespace bear;
using doctest::Contains;

namespace {

constexpr double kAny = INFINITY;

struct OwnColumns {
  std::vector<Key> keys{3, 7};
  std::vector<double> means{10.0, 0.0}, sizes{2.0, 4.0};
  std::vector<std::uint8_t> missing{0, 0}, name_data{'a', 'b'};
  std::vector<std::uint64_t> name_offsets{0, 1, 2};

  Columns view() const { return {keys, means, sizes, missing, name_data, name_offsets}; }
};

std::string text(const std::vector<std::uint8_t>& data) { return {data.begin(), data.end()}; }

}  // namespace

TEST_CASE("values are moved and divided, and columns that a row lacks count as 0") {
  test::Rows rows;
  rows.row({{1, 1.0F}, {3, 14.0F}, {7, 8.0F}, {9, 5.0F}});
  rows.row({});
  rows.row({{3, 10.0F}, {7, 4.0F}});
  const ScaledRows got = scale_rows(rows.view(), OwnColumns().view(), kAny);
  CHECK(got.indptr == std::vector<std::int64_t>{0, 4, 5, 6});
  CHECK(got.keys == std::vector<Key>{1, 3, 7, 9, 3, 7});
  // The mean itself is 0, which is left out as any 0 is.
  CHECK(got.values == std::vector<float>{1.0F, 2.0F, 2.0F, 5.0F, -5.0F, 1.0F});
  CHECK(got.name_offsets.empty());
}

TEST_CASE("where what is not there is missing it stands at the mean") {
  OwnColumns columns;
  columns.missing = {1, 1};
  test::Rows rows;
  rows.row({{7, 8.0F}});
  rows.row({{3, 14.0F}});
  const ScaledRows got = scale_rows(rows.view(), columns.view(), kAny);
  CHECK(got.keys == std::vector<Key>{7, 3});
  CHECK(got.values == std::vector<float>{2.0F, 2.0F});
}

TEST_CASE("a margin of scaled values is that of the values as they are, but for a constant") {
  test::Random random(5);
  const OwnColumns columns;
  const test::Rows rows = test::random_rows(random, 50, 9, 0.4);
  const ScaledRows got = scale_rows(rows.view(), columns.view(), kAny);
  const std::vector<double> weights = random.normals(10);
  const auto scaled_weight = [&](Key key) {
    return weights[key] * (key == 3 ? 2.0 : key == 7 ? 4.0 : 1.0);
  };
  for (std::size_t row = 0; row < 50; ++row) {
    double plain = -weights[3] * 10.0, scaled = 0.0;
    for (auto e = rows.indptr[row]; e < rows.indptr[row + 1]; ++e) {
      plain += weights[rows.keys[e]] * static_cast<double>(rows.values[e]);
    }
    for (auto e = got.indptr[row]; e < got.indptr[row + 1]; ++e) {
      scaled += scaled_weight(got.keys[e]) * static_cast<double>(got.values[e]);
    }
    CHECK(scaled == doctest::Approx(plain).epsilon(1e-5));
  }
}

TEST_CASE("names go along, also those of columns that a row lacks") {
  test::Rows rows;
  rows.row({{1, 1.0F}, {8, 2.0F}});
  rows.name("x");
  rows.name("yy");
  const ScaledRows got = scale_rows(rows.view(), OwnColumns().view(), kAny);
  CHECK(got.keys == std::vector<Key>{1, 3, 8});
  CHECK(text(got.name_data) == "xayy");
  CHECK(got.name_offsets == std::vector<std::uint64_t>{0, 1, 2, 4});
}

TEST_CASE("values stay finite however large they are beside a size") {
  test::Rows rows;
  rows.row({{3, 3e38F}, {7, -3e38F}});
  OwnColumns columns;
  columns.sizes = {1e-30, 1e-30};
  const ScaledRows got = scale_rows(rows.view(), columns.view(), kAny);
  CHECK(std::isfinite(got.values[0]));
  CHECK(std::isfinite(got.values[1]));
}

TEST_CASE("values of columns stay within a limit, others as they are") {
  test::Rows rows;
  rows.row({{3, 1e9F}, {7, -1e9F}, {9, 1e9F}});
  const ScaledRows got = scale_rows(rows.view(), OwnColumns().view(), 20.0);
  CHECK(got.values == std::vector<float>{20.0F, -20.0F, 1e9F});
  CHECK_THROWS_WITH(scale_rows(rows.view(), OwnColumns().view(), 0.0), Contains("room above 0"));
}

TEST_CASE("columns that do not fit together are refused") {
  const test::Rows rows = test::row_of({1});
  const auto refused = [&](auto change, const char* why) {
    OwnColumns columns;
    change(columns);
    CHECK_THROWS_WITH(scale_rows(rows.view(), columns.view(), kAny), Contains(why));
  };
  refused([](OwnColumns& c) { c.means.pop_back(); }, "a key, a mean, a size and a name");
  refused([](OwnColumns& c) { c.missing.clear(); }, "a key, a mean, a size and a name");
  refused([](OwnColumns& c) { c.keys = {7, 7}; }, "must rise");
  refused([](OwnColumns& c) { c.sizes[1] = 0.0; }, "sizes above 0");
  refused([](OwnColumns& c) { c.means[0] = INFINITY; }, "finite means");
  refused([](OwnColumns& c) { c.name_offsets = {0, 2, 1}; }, "names of columns must rise");
  refused([](OwnColumns& c) { c.name_offsets = {0, 1, 9}; }, "names of columns must fit");
}

#include "bear/batch.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "helpers.hpp"

using namespace bear;
using doctest::Contains;

namespace {

test::Rows sound() {
  test::Rows rows;
  rows.row({{3, 1.0F}, {5, 2.0F}}, 1.0);
  rows.row({}, 0.0);
  rows.row({{0, -1.0F}, {~Key{0}, 0.0F}}, 1.0);
  return rows;
}

}  // namespace

TEST_CASE("a sound batch passes") {
  CHECK_NOTHROW(check_rows(sound().view()));
  test::Rows none;
  CHECK_NOTHROW(check_rows(none.view()));
  CHECK(none.view().n_rows() == 0);
}

TEST_CASE("offsets that do not fit are refused") {
  test::Rows rows = sound();
  rows.indptr = {};
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("at least one element"));
  rows.indptr = {1, 4};
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("start at 0, got 1"));
  rows.indptr = {0, 3, 2, 4};
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("got 2 after 3 at row 1"));
  rows.indptr = {0, 2, 3};
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("number of entries, 4, got 3"));
  rows.indptr = {0, 2, 9};
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("number of entries, 4, got 9"));
  rows = sound();
  rows.values.pop_back();
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("got 4 and 3"));
}

TEST_CASE("keys, values and weights that break the contract name their place") {
  test::Rows rows = sound();
  rows.keys[1] = 3;
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("a duplicate 3 after 3 at row 0, entry 1"));
  rows.keys[1] = 2;
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("got 2 after 3 at row 0, entry 1"));
  for (const float value : {NAN, INFINITY, -INFINITY}) {
    rows = sound();
    rows.values[2] = value;
    CHECK_THROWS_WITH(check_rows(rows.view()), Contains("at row 2, entry 2"));
  }
  for (const double weight : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    rows = sound();
    rows.weights = {1.0, weight, 0.0};
    CHECK_THROWS_WITH(check_rows(rows.view()), Contains("at row 1"));
  }
}

TEST_CASE("rows must lie within arrays that were changed") {
  CHECK_NOTHROW(check_bounds(sound().view()));
  CHECK_NOTHROW(check_bounds(sound().view().rows(1, 3)));
  test::Rows rows = sound();
  rows.indptr[1] = 1'000'000'000'000;
  CHECK_THROWS_WITH(check_bounds(rows.view()), Contains("indptr must not fall"));
  rows = sound();
  rows.indptr.back() = 1'000'000'000'000;
  CHECK_THROWS_WITH(check_bounds(rows.view()), Contains("within its arrays"));
  rows = sound();
  rows.indptr[0] = -1;
  CHECK_THROWS_WITH(check_bounds(rows.view()), Contains("within its arrays"));
  rows = sound();
  rows.values.pop_back();
  CHECK_THROWS_WITH(check_bounds(rows.view()), Contains("within its arrays"));
  rows = sound();
  rows.weights = {1.0};
  CHECK_THROWS_WITH(check_bounds(rows.view()), Contains("within its arrays"));
}

TEST_CASE("names must stay inside their bytes") {
  test::Rows rows = sound();
  for (const char* name : {"a", "", "bcd", "e"}) rows.name(name);
  CHECK_NOTHROW(check_rows(rows.view()));
  CHECK(rows.view().name(2) == "bcd");
  CHECK(rows.view().name(1).empty());
  rows.name_data.pop_back();
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("within 4 bytes"));
  CHECK(rows.view().name(3).empty());
  rows.name_data += "e";
  rows.name_offsets[1] = 3;
  CHECK_THROWS_WITH(check_rows(rows.view()), Contains("names.offsets must rise"));
  CHECK(rows.view().name(1).empty());
}

TEST_CASE("a part of the rows shares entries with the whole") {
  test::Rows rows = sound();
  rows.weights = {1.0, 2.0, 3.0};
  const BatchView part = rows.view().rows(1, 3);
  CHECK(part.n_rows() == 2);
  CHECK(part.first_entry() == 2);
  CHECK(part.last_entry() == 4);
  CHECK(part.labels[1] == 1.0);
  CHECK(part.weight(1) == 3.0);
}

#include "bear/storage/cells.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

TEST_CASE_TEMPLATE("what is added is read, scaled or not", Cell, float, double) {
  Cells<Cell> cells(4, 2);
  cells.add(1, 0, 1.5);
  cells.add(1, 1, -2.0);
  CHECK(cells.get(1, 0) == 1.5);
  CHECK(cells.get(1, 1) == -2.0);
  CHECK(cells.get(0, 0) == 0.0);
  cells.scale(0.5);
  CHECK(cells.get(1, 0) == 0.75);
  cells.add(1, 0, 0.25);
  CHECK(cells.get(1, 0) == doctest::Approx(1.0));
  cells.settle();
  CHECK(cells.get(1, 1) == doctest::Approx(-1.0));
}

// Decay by 1 % per step for 30,000 steps passes 1e-130: far outside float, inside double.
TEST_CASE_TEMPLATE("a lazy factor never leaves the range of the cells", Cell, float, double) {
  Cells<Cell> cells(2, 1);
  double plain = 0.0;
  for (int i = 0; i < 30'000; ++i) {
    cells.scale(0.99);
    cells.add(0, 0, 1.0);
    plain = 0.99 * plain + 1.0;
    REQUIRE(cells.get(0, 0) == doctest::Approx(plain).epsilon(1e-4));
  }
  CHECK(cells.get(1, 0) == 0.0);
}

TEST_CASE_TEMPLATE("scaling by zero forgets, and learning goes on", Cell, float, double) {
  Cells<Cell> cells(1, 1);
  cells.add(0, 0, 3.0);
  cells.scale(0.0);
  CHECK(cells.get(0, 0) == 0.0);
  cells.add(0, 0, 2.0);
  CHECK(cells.get(0, 0) == 2.0);
}

TEST_CASE_TEMPLATE("bytes hold the settled numbers at their width", Cell, float, double) {
  Cells<Cell> cells(2, 1);
  cells.add(1, 0, 3.0);
  cells.scale(2.0);
  const auto bytes = cells.bytes();
  REQUIRE(bytes.size() == 2 * sizeof(Cell));
  Cell value = 0;
  std::memcpy(&value, &bytes[sizeof(Cell)], sizeof(Cell));
  CHECK(value == Cell{6});
}

TEST_CASE("fill counts what is used") {
  Cells<float> cells(4, 1);
  cells.add(0, 0, 3.0);
  cells.add(3, 0, -4.0);
  const auto fill = cells.fill();
  CHECK(fill.cells == 4);
  CHECK(fill.used == 2);
  CHECK(fill.largest == 4.0);
  CHECK(fill.rms == 2.5);
}

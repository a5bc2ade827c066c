#include "bear/storage/byte_cells.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace bear;

namespace {

template <class Byte>
constexpr double kTop = Digits<Byte>::kTop;

std::vector<std::uint64_t> places(std::size_t n) {
  std::vector<std::uint64_t> at(n);
  for (std::size_t i = 0; i < n; ++i) at[i] = 2 * i;
  return at;
}

}  // namespace

TEST_CASE_TEMPLATE("the first write fills a cell, and the quantum doubles when cells saturate",
                   Byte, std::int8_t, CountedByte) {
  const double top = kTop<Byte>;
  Cells<Byte> cells(4, 1, 7);
  const std::vector<std::uint64_t> at{0, 2};
  cells.add_block(at, std::vector<double>{0.1 * top, -1.0}, at.size());
  CHECK(cells.get(0, 0) == doctest::Approx(0.1 * top));
  CHECK(cells.get(1, 0) == doctest::Approx(-1.0));
  CHECK(cells.numbers()[0] == doctest::Approx(0.1));
  cells.add_block(at, std::vector<double>{0.1 * top, 0.0}, at.size());
  CHECK(cells.numbers()[0] == doctest::Approx(0.2));
  CHECK(std::abs(cells.get(0, 0)) <= top * 0.2 + 1e-12);
  CHECK(cells.used() == cells.fill().used);
}

TEST_CASE_TEMPLATE("many small writes keep their mean", Byte, std::int8_t, CountedByte) {
  Cells<Byte> cells(1000, 1, 3);
  const auto at = places(1000);
  cells.add_block(at, std::vector<double>(1000, kTop<Byte>), at.size());  // quantum 1
  for (int i = 0; i < 50; ++i) cells.add_block(at, std::vector<double>(1000, -0.3), at.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) mean += cells.get(i, 0) / 1000.0;
  // Standard error of the mean: sqrt(50 * 0.21 / 1000) = 0.1; with a spacing of 4, .24.
  CHECK(std::abs(mean - (kTop<Byte> - 15.0)) < 0.56);
}

// Which amounts move their cells is drawn before these are read: wherever a cell stands and
// whatever the spacing there, the mean is kept, up and down.
TEST_CASE_TEMPLATE("a block of small amounts keeps the mean of every class", Byte, std::int8_t,
                   CountedByte) {
  constexpr std::size_t kCells = 3000, kClasses = 3;
  const auto at = places(kCells);
  for (const double from : {0.0, 20.0, -40.0, 100.0}) {
    for (const double amount : {0.05, -0.7, 1.3, -5.5}) {
      CAPTURE(from);
      CAPTURE(amount);
      Cells<Byte> cells(kCells, kClasses, 2);
      std::vector<double> block(kCells * kClasses, from);
      block[0] = kTop<Byte>;  // quantum 1
      cells.add_block(at, block, at.size());
      std::fill(block.begin(), block.end(), amount);
      cells.add_block(at, block, at.size());
      CHECK(cells.numbers()[0] == 1.0);
      for (std::size_t c = 0; c < kClasses; ++c) {
        double mean = 0.0;
        for (std::size_t i = 1; i < kCells; ++i) mean += cells.get(i, c) / (kCells - 1);
        // With a spacing of 4 a standard error of .04 at most.
        CHECK(std::abs(mean - from - amount) < 0.16);
      }
      CHECK(cells.used() == cells.fill().used);
    }
  }
}

TEST_CASE_TEMPLATE("doubling the quantum keeps the mean", Byte, std::int8_t, CountedByte) {
  for (const double size : {1.0, 31.0, 33.0, 62.0, 66.0, 100.0}) {
    CAPTURE(size);
    Cells<Byte> cells(4001, 1, 11);
    const auto at = places(4001);
    std::vector<double> amounts(4001, size);
    amounts[0] = kTop<Byte>;
    cells.add_block(at, amounts, at.size());
    double before = 0.0, after = 0.0;
    for (std::size_t i = 1; i < at.size(); ++i) before += cells.get(i, 0) / 4000.0;
    std::vector<double> more(4001, 0.0);
    more[0] = kTop<Byte>;
    cells.add_block(at, more, 1);  // one of one saturates
    CHECK(cells.numbers()[0] == 2.0);
    for (std::size_t i = 1; i < at.size(); ++i) after += cells.get(i, 0) / 4000.0;
    // Two apart in 4,000 cells: a standard error below .04, of numbers 8 apart below .07.
    CHECK(std::abs(after - before) < 0.3);
  }
}

TEST_CASE_TEMPLATE("the same writes give the same bytes, another seed gives others", Byte,
                   std::int8_t, CountedByte) {
  const auto run = [](std::uint64_t seed) {
    Cells<Byte> cells(64, 1, seed);
    for (std::uint64_t i = 0; i < 200; ++i) {
      cells.add(i % 64, 0, 0.37 * std::sin(static_cast<double>(i)));
    }
    const auto bytes = cells.bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE_TEMPLATE("what was saved goes on as if nothing had happened", Byte, std::int8_t,
                   CountedByte) {
  Cells<Byte> one(16, 2, 5), two(16, 2, 5);
  for (std::size_t i = 0; i < 40; ++i) one.add(i % 16, i % 2, 0.01 * static_cast<double>(i));
  const auto bytes = one.bytes();
  std::copy(bytes.begin(), bytes.end(), two.bytes().begin());
  two.restore(one.numbers());
  CHECK(two.used() == one.used());
  for (auto* cells : {&one, &two}) cells->add(3, 1, -0.123);
  for (std::size_t i = 0; i < 16; ++i) CHECK(one.get(i, 1) == two.get(i, 1));
  CHECK_THROWS_AS(two.restore(std::vector<double>{1.0}), std::invalid_argument);
  CHECK_THROWS_AS(two.restore(std::vector<double>{-1.0, 0.0}), std::invalid_argument);
}

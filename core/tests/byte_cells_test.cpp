#include "bear/storage/byte_cells.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace bear;

using ByteCells = Cells<std::int8_t>;

TEST_CASE("the first write fills a cell, and the quantum doubles when cells saturate") {
  ByteCells cells(4, 1, 7);
  const std::vector<std::uint64_t> at{0, 2};
  cells.add_block(at, std::vector<double>{12.7, -1.0}, at.size());
  CHECK(cells.get(0, 0) == doctest::Approx(12.7));
  CHECK(cells.get(1, 0) == doctest::Approx(-1.0));
  CHECK(cells.numbers()[0] == doctest::Approx(0.1));
  cells.add_block(at, std::vector<double>{12.7, 0.0}, at.size());
  CHECK(cells.numbers()[0] == doctest::Approx(0.2));
  CHECK(std::abs(cells.get(0, 0)) <= 127 * 0.2 + 1e-12);
  CHECK(cells.used() == cells.fill().used);
}

TEST_CASE("many small writes keep their mean") {
  ByteCells cells(1000, 1, 3);
  std::vector<std::uint64_t> at(1000);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = 2 * i;
  cells.add_block(at, std::vector<double>(1000, 127.0), at.size());  // quantum 1
  for (int i = 0; i < 50; ++i) cells.add_block(at, std::vector<double>(1000, -0.3), at.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) mean += cells.get(i, 0) / 1000.0;
  // Standard error of the mean: sqrt(50 * 0.21 / 1000) = 0.1.
  CHECK(mean == doctest::Approx(112.0).epsilon(0.005));
}

TEST_CASE("the same writes give the same bytes, another seed gives others") {
  const auto run = [](std::uint64_t seed) {
    ByteCells cells(64, 1, seed);
    for (std::uint64_t i = 0; i < 200; ++i) {
      cells.add(i % 64, 0, 0.37 * std::sin(static_cast<double>(i)));
    }
    const auto bytes = cells.bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("what was saved goes on as if nothing had happened") {
  ByteCells one(16, 2, 5), two(16, 2, 5);
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

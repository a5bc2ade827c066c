// What the selected have beside their own margins, by how much these have to do with the cells'.
#include "bear/direction/kinship.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "helpers.hpp"

using namespace bear;

namespace {

constexpr std::size_t kRows = 20;

// After batches of margins with that correlation, of cells that say so much less.
Kinship kinship_of(double correlation, double cells = 1.0, std::vector<double> weights = {}) {
  Kinship kinship;
  test::Random random(5);
  const std::vector<double> labels(kRows);
  for (int batch = 0; batch < 500; ++batch) {
    const auto selected = random.normals(kRows), other = random.normals(kRows);
    std::vector<double> margins;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double rest = std::sqrt(1.0 - correlation * correlation);
      margins.push_back(cells * (correlation * selected[i] + rest * other[i]));
    }
    kinship.learn({labels, weights}, selected, margins);
  }
  return kinship;
}

}  // namespace

TEST_CASE("the selected stand alone until there is something to stand beside") {
  CHECK(Kinship().beside() == 0.0);
  CHECK(kinship_of(0.0, 0.0).beside() == 0.0);
}

TEST_CASE("the less the two have to do with each other, the more is beside the selected") {
  CHECK(kinship_of(-0.5).beside() == 1.0);
  CHECK(kinship_of(0.0).beside() > 0.6);
  CHECK(kinship_of(0.2).beside() == doctest::Approx(0.26).epsilon(0.3));
  CHECK(kinship_of(0.5).beside() < 0.03);
  CHECK(kinship_of(1.0).beside() == 0.0);
}

TEST_CASE("neither size of margins nor a common weight of rows changes it") {
  const double once = kinship_of(0.2).beside();
  CHECK(kinship_of(0.2, 1e-3).beside() == doctest::Approx(once));
  CHECK(kinship_of(0.2, 1.0, std::vector<double>(kRows, 3.0)).beside() == doctest::Approx(once));
}

TEST_CASE("what was learned is kept") {
  const Kinship before = kinship_of(0.2);
  Kinship after;
  after.restore(before.numbers());
  CHECK(after.beside() == before.beside());
}

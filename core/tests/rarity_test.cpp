// How much further the rare move, and the rough powers that this is made of.
#include "bear/direction/rarity.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "helpers.hpp"

using namespace bear;

namespace {

// After so many batches of a loss that bends by 1 along both changes, which have nothing in common.
double power_after(double slope, int batches = 200, double noise = 0.01) {
  Rarity rarity;
  for (int i = 0; i < batches; ++i) rarity.learn({slope, 1.0}, 0.0, {0.0, 1.0}, noise);
  return rarity.power();
}

}  // namespace

TEST_CASE("rough logarithms and powers are off by less than a hundredth") {
  float before = -1e9f;
  for (double x = 1e-30; x < 1e30; x *= 1.01) {
    const float found = rough_log2(static_cast<float>(x));
    CHECK(std::abs(found - std::log2(x)) < 0.009);
    CHECK(found >= before);
    before = found;
  }
  for (double y = -120.0; y < 120.0; y += 0.037) {
    CHECK(rough_exp2(static_cast<float>(y)) == doctest::Approx(std::exp2(y)).epsilon(0.0035));
  }
  CHECK(rough_exp2(0.0f) == 1.0f);
  CHECK(rough_log2(1.0f) == 0.0f);
}

TEST_CASE("what occurs as often as others moves as they do, and the rare further by the power") {
  CHECK(pace_of(0.5, 3.0f, 3.0f) == 1.0f);
  CHECK(pace_of(0.5, 1.0f, 3.0f) == 2.0f);
  CHECK(pace_of(0.0, 1.0f, 3.0f) == 1.0f);
}

TEST_CASE(
    "the power rises where weights of the frequent are too bold, and falls where the rare are") {
  const double first = Rarity().power();
  CHECK(power_after(0.0) == first);
  CHECK(power_after(0.5) == 0.75);
  CHECK(power_after(-0.5) == 0.0);
  CHECK(power_after(0.5, 3) > first);
}

TEST_CASE("little information moves it little") {
  const double first = Rarity().power();
  const double much = power_after(0.05, 30, 0.01), little = power_after(0.05, 30, 100.0);
  CHECK(much > first);
  CHECK(little > first);
  CHECK(little - first < 0.05 * (much - first));
  CHECK(power_after(0.5, 30, 0.0) == first);  // no noise is known yet
}

TEST_CASE("what a common factor on all margins would do is no evidence") {
  // The tilted margins are partly the margins themselves, which are too shy.
  Rarity settled;
  settled.restore(std::vector<double>{0.4, -0.5, 2.0, 1.0});
  settled.learn({-0.5, 2.0}, 1.0, {-0.5, 1.0}, 0.01);
  CHECK(settled.power() == doctest::Approx(0.4).epsilon(1e-12));
}

TEST_CASE("weights are tilted around the mean logarithm of those that occur, weighed by size") {
  const std::vector<double> weights{1.0, -2.0, 0.5, 7.0}, often{1.0, 1.0, 2.0, 0.0};
  const std::vector<float> logs{0.0f, 3.0f, 1.0f, 50.0f};
  const double mean = (1.0 * 0.0 + 2.0 * 3.0 + 0.5 * 1.0) / 3.5;
  std::vector<double> tilted(4);
  tilt(weights, logs, often, tilted);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(tilted[i] == doctest::Approx((logs[i] - mean) * weights[i]));
  // Two classes: each key has one logarithm, and the size of both its weights.
  const std::vector<double> two{1.0, -1.0, 0.0, 2.0};
  tilt(two, std::span(logs).first(2), std::span(often).first(2), tilted);
  CHECK(tilted[0] == doctest::Approx(-1.5));
  CHECK(tilted[1] == doctest::Approx(1.5));
  CHECK(tilted[3] == doctest::Approx(3.0));
  tilt({}, {}, {}, {});
}

TEST_CASE("a power that was saved is the same again, within its bounds") {
  Rarity rarity, again;
  rarity.learn({0.3, 1.0}, 0.1, {0.2, 1.0}, 0.01);
  const auto numbers = rarity.numbers();
  again.restore(numbers);
  CHECK(again.numbers() == numbers);
  again.restore(std::vector<double>{9.0, 0.0, 0.0, 0.0});
  CHECK(again.power() == 0.75);
}

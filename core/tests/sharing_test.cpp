// What the rows of a batch have in common, and what becomes of the mean of their residuals.
#include "bear/direction/sharing.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

constexpr std::size_t kRows = 20;
const std::vector<double> kHalf{0.5};  // means of the labels of two classes

struct Given {
  std::vector<double> labels, weights;
  Targets targets() const { return {labels, weights}; }
};

Given equal_rows() { return {std::vector<double>(kRows), {}}; }

// Rows whose squared length is 1 and any two of which have `common` as their product move so.
std::vector<double> change_of(ConstReals residuals, double common) {
  double sum = 0.0;
  for (const double r : residuals) sum += r;
  std::vector<double> change;
  for (const double r : residuals) change.push_back((1.0 - common) * r + common * sum);
  return change;
}

// Residuals of labels drawn at random, the same share of weight for each row.
std::vector<double> draw(test::Random& random) {
  auto residuals = random.normals(kRows);
  for (double& r : residuals) r /= kRows;
  return residuals;
}

double share_after(double common, int batches = 200) {
  Sharing sharing;
  test::Random random(3);
  const Given given = equal_rows();
  for (int i = 0; i < batches; ++i) {
    auto residuals = draw(random);
    sharing.center(given.targets(), kHalf, residuals);
    sharing.learn(given.targets(), 1, residuals, change_of(residuals, common));
  }
  return sharing.share();
}

double sum_of(ConstReals numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += number;
  return sum;
}

}  // namespace

TEST_CASE("rows without a common feature keep the mean of their residuals") {
  CHECK(share_after(0.0, 0) == 0.0);
  CHECK(share_after(0.0) == 0.0);
}

TEST_CASE("the more rows have in common, the more of the mean is taken out, never all of it") {
  double before = 0.0;
  for (const double common : {0.01, 0.05, 0.2, 0.5}) {
    const double ratio = (1.0 - common) / (1.0 - common + kRows * common);
    const double share = share_after(common);
    CHECK(share == doctest::Approx(std::min(1.0 - std::pow(ratio, 1.5), 0.95)).epsilon(1e-9));
    CHECK(share > before);
    before = share;
  }
  CHECK(share_after(0.999) == 0.95);
}

TEST_CASE("each class loses that share of its own mean, the less the fewer rows it has") {
  Sharing sharing;
  test::Random random(5);
  const Given given = equal_rows();
  const auto first = draw(random);
  sharing.learn(given.targets(), 1, first, change_of(first, 0.3));
  REQUIRE(sharing.share() > 0.5);
  const auto before = random.normals(kRows * 3);
  auto after = before;
  const std::vector<double> labels{0.7, 0.3, 0.0};
  sharing.center(given.targets(), labels, after);
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) sum += before[i * 3 + c];
    const double rows = labels[c] * kRows, share = sharing.share() * rows / (rows + 1.0);
    for (std::size_t i = 0; i < kRows; ++i) {
      CHECK(after[i * 3 + c] ==
            doctest::Approx(before[i * 3 + c] - share * sum / kRows).epsilon(1e-12));
    }
  }
}

TEST_CASE("a row of weight two is two rows") {
  test::Random random(7);
  Sharing once, twice;
  Given heavy = equal_rows(), doubled{std::vector<double>(2 * kRows), {}};
  heavy.weights.assign(kRows, 2.0);
  for (int i = 0; i < 5; ++i) {
    const auto residuals = draw(random), change = change_of(residuals, 0.2);
    std::vector<double> halves, changes;
    for (std::size_t j = 0; j < kRows; ++j) {
      for (int copy = 0; copy < 2; ++copy) {
        halves.push_back(residuals[j] / 2.0);
        changes.push_back(change[j]);
      }
    }
    once.learn(heavy.targets(), 1, residuals, change);
    twice.learn(doubled.targets(), 1, halves, changes);
  }
  for (std::size_t i = 0; i < Sharing::kNumbers; ++i) {
    CHECK(once.numbers()[i] == doctest::Approx(twice.numbers()[i]).epsilon(1e-12));
  }
}

TEST_CASE("a row of no weight is no row, and one row alone keeps its residual") {
  test::Random random(9);
  Sharing sharing;
  Given given = equal_rows();
  given.weights.assign(kRows, 1.0);
  given.weights[3] = 0.0;
  auto residuals = draw(random);
  residuals[3] = 0.0;
  auto change = change_of(residuals, 0.2);
  sharing.learn(given.targets(), 1, residuals, change);
  Sharing blind = sharing;
  blind.restore(std::vector<double>(Sharing::kNumbers));
  change[3] = 1e9;
  blind.learn(given.targets(), 1, residuals, change);
  CHECK(blind.numbers() == sharing.numbers());
  sharing.center(given.targets(), kHalf, residuals);
  CHECK(residuals[3] == 0.0);

  given.weights.assign(kRows, 0.0);
  given.weights[0] = 1.0;
  std::vector<double> alone(kRows);
  alone[0] = 0.7;
  const auto numbers = sharing.numbers();
  sharing.center(given.targets(), kHalf, alone);
  sharing.learn(given.targets(), 1, alone, alone);
  CHECK(sum_of(alone) == 0.7);
  CHECK(sharing.numbers() == numbers);
}

TEST_CASE("a heavy row keeps as much of its residual as each of equal rows does") {
  Sharing sharing;
  test::Random random(3);
  const Given equal = equal_rows();
  for (int i = 0; i < 200; ++i) {
    const auto residuals = draw(random);
    sharing.learn(equal.targets(), 1, residuals, change_of(residuals, 0.9));
  }
  const double share = sharing.share();
  REQUIRE(share > 0.5);
  Given given = equal_rows();
  given.weights.assign(kRows, 1.0);
  std::vector<double> even(kRows), plain(kRows);
  even[4] = plain[4] = 1.0 / kRows;
  sharing.center(given.targets(), kHalf, even);
  sharing.center(equal.targets(), kHalf, plain);
  CHECK(even == plain);

  given.weights[4] = 180.0;  // of 199
  std::vector<double> heavy(kRows);
  heavy[4] = 180.0 / 199.0;
  sharing.center(given.targets(), kHalf, heavy);
  CHECK(heavy[4] == doctest::Approx((1.0 - share / kRows) * 180.0 / 199.0));
}

#include "bear/loss.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

struct Case {
  std::string name;
  std::unique_ptr<Loss> loss;
};

std::vector<Case> losses() {
  std::vector<Case> cases;
  cases.push_back({"squared", make_squared()});
  cases.push_back({"logistic", make_logistic()});
  cases.push_back({"softmax of 2", make_softmax(2)});
  cases.push_back({"softmax of 5", make_softmax(5)});
  return cases;
}

std::vector<double> labels_for(const Case& c, test::Random& random, std::size_t n) {
  std::vector<double> labels(n);
  for (double& label : labels) {
    label = c.name == "squared"
                ? random.normal()
                : static_cast<double>(random.below(std::max<std::size_t>(c.loss->classes(), 2)));
  }
  return labels;
}

double value_at(const Loss& loss, const std::vector<double>& margins, const Targets& targets) {
  std::vector<double> residual(margins.size());
  return loss.gradient(margins, targets, residual);
}

}  // namespace

TEST_CASE("gradients and curvatures agree with finite differences") {
  for (const auto& c : losses()) {
    CAPTURE(c.name);
    test::Random random(3);
    constexpr std::size_t kRows = 6;
    const std::size_t classes = c.loss->classes();
    const auto labels = labels_for(c, random, kRows);
    const std::vector<double> weights{1.0, 0.0, 2.5, 1.0, 0.5, 3.0};
    const Targets targets{labels, weights};
    const auto margins = random.normals(kRows * classes);
    std::vector<double> residual(margins.size()), blocks(kRows * classes * classes);
    c.loss->gradient(margins, targets, residual);
    c.loss->curvature(margins, targets, blocks);
    constexpr double kStep = 1e-6;
    for (std::size_t i = 0; i < margins.size(); ++i) {
      auto up = margins, down = margins;
      up[i] += kStep;
      down[i] -= kStep;
      const double slope =
          (value_at(*c.loss, up, targets) - value_at(*c.loss, down, targets)) / (2 * kStep);
      CHECK(residual[i] == doctest::Approx(slope).epsilon(1e-6));
      std::vector<double> r_up(margins.size()), r_down(margins.size());
      c.loss->gradient(up, targets, r_up);
      c.loss->gradient(down, targets, r_down);
      for (std::size_t b = 0; b < classes; ++b) {
        const std::size_t row = i / classes;
        const double bend = (r_up[row * classes + b] - r_down[row * classes + b]) / (2 * kStep);
        CHECK(blocks[i * classes + b] == doctest::Approx(bend).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("the curvature never exceeds its bound, along any direction") {
  for (const auto& c : losses()) {
    CAPTURE(c.name);
    test::Random random(4);
    const std::size_t classes = c.loss->classes();
    for (int trial = 0; trial < 500; ++trial) {
      auto margins = random.normals(classes);
      for (double& margin : margins) margin *= 3.0;
      const std::vector<double> label{0.0};
      std::vector<double> block(classes * classes);
      c.loss->curvature(margins, {label, {}}, block);
      const auto v = random.normals(classes);
      double bend = 0.0;
      for (std::size_t a = 0; a < classes; ++a) {
        for (std::size_t b = 0; b < classes; ++b) bend += v[a] * block[a * classes + b] * v[b];
      }
      REQUIRE(bend >= -1e-12);
      REQUIRE(bend <= c.loss->curvature_bound() * dot(v, v) * (1 + 1e-12));
    }
  }
}

TEST_CASE("extreme margins give finite losses, exact limits and probabilities") {
  for (const double margin : {0.0, 40.0, 800.0, 1e5, 1e15}) {
    for (const double sign : {1.0, -1.0}) {
      const double m = sign * margin;
      for (const double label : {0.0, 1.0}) {
        const std::vector<double> labels{label}, one{m}, two{0.0, m};
        std::vector<double> r1(1), r2(2);
        const double logistic = make_logistic()->gradient(one, {labels, {}}, r1);
        const double softmax = make_softmax(2)->gradient(two, {labels, {}}, r2);
        CHECK(std::isfinite(logistic));
        CHECK(logistic >= 0.0);
        CHECK(softmax == doctest::Approx(logistic));
        CHECK(r2[1] == doctest::Approx(r1[0]));
        const double miss = label > 0.5 ? -m : m;
        if (miss > 100.0) CHECK(logistic == doctest::Approx(miss));
      }
      std::vector<double> p1{m}, p2{0.0, m};
      make_logistic()->predict(p1);
      make_softmax(2)->predict(p2);
      CHECK(p1[0] == doctest::Approx(p2[1]));
      CHECK(p2[0] + p2[1] == doctest::Approx(1.0));
    }
  }
}

TEST_CASE("a right answer that is certain keeps a small loss, not zero") {
  const std::vector<double> labels{1.0}, margins{40.0};
  std::vector<double> residual(1);
  const double value = make_logistic()->gradient(margins, {labels, {}}, residual);
  CHECK(value == doctest::Approx(std::exp(-40.0)));
  CHECK(residual[0] == doctest::Approx(-std::exp(-40.0)));
}

TEST_CASE("rows of one batch may be far apart") {
  const std::vector<double> labels{0.0, 1.0}, margins{2000.0, 1999.0, -2000.0, -1999.0};
  std::vector<double> residual(4);
  const double value = make_softmax(2)->gradient(margins, {labels, {}}, residual);
  CHECK(value == doctest::Approx(std::log1p(std::exp(-1.0))));
  CHECK(residual[2] == doctest::Approx(0.5 / (1.0 + std::exp(1.0))));
}

TEST_CASE("weights act as repeated rows; no weight at all gives nothing") {
  for (const auto& c : losses()) {
    CAPTURE(c.name);
    test::Random random(5);
    const std::size_t classes = c.loss->classes();
    const auto labels = labels_for(c, random, 2);
    const auto margins = random.normals(2 * classes);
    const std::vector<double> weights{2.0, 1.0};
    std::vector<double> thrice(margins.begin(), margins.begin() + static_cast<long>(classes));
    thrice.insert(thrice.end(), margins.begin(), margins.end());
    const std::vector<double> repeated{labels[0], labels[0], labels[1]};
    CHECK(value_at(*c.loss, margins, {labels, weights}) ==
          doctest::Approx(value_at(*c.loss, thrice, {repeated, {}})));
    const std::vector<double> none{0.0, 0.0};
    std::vector<double> residual(margins.size(), 9.0), blocks(2 * classes * classes, 9.0);
    CHECK(c.loss->gradient(margins, {labels, none}, residual) == 0.0);
    c.loss->curvature(margins, {labels, none}, blocks);
    for (const double r : residual) CHECK(r == 0.0);
    for (const double b : blocks) CHECK(b == 0.0);
  }
}

TEST_CASE("the null value is the loss of zero margins") {
  for (const auto& c : losses()) {
    CAPTURE(c.name);
    test::Random random(6);
    const auto labels = labels_for(c, random, 7);
    const std::vector<double> zeros(7 * c.loss->classes());
    CHECK(c.loss->null_value({labels, {}}) ==
          doctest::Approx(value_at(*c.loss, zeros, {labels, {}})));
  }
}

TEST_CASE("labels a loss does not take are refused with their row") {
  using doctest::Contains;
  const std::vector<double> half{0.0, 0.5}, three{0.0, 3.0}, negative{-1.0}, nan{NAN},
      infinite{INFINITY};
  CHECK_THROWS_WITH(make_logistic()->check(half), Contains("0 or 1, got 0.5"));
  CHECK_THROWS_WITH(make_logistic()->check(half), Contains("at row 1"));
  CHECK_THROWS_WITH(make_softmax(3)->check(three), Contains("from 0 to 2, got 3"));
  CHECK_THROWS_WITH(make_softmax(3)->check(negative), Contains("got -1"));
  CHECK_THROWS_AS(make_softmax(3)->check(half), std::invalid_argument);
  for (const auto& c : losses()) {
    CHECK_THROWS_AS(c.loss->check(nan), std::invalid_argument);
    CHECK_THROWS_AS(c.loss->check(infinite), std::invalid_argument);
  }
  CHECK_THROWS_WITH(make_softmax(1), Contains("at least 2 classes, got 1"));
}

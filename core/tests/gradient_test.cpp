// Gradient and Newton; L-BFGS has a file of its own.
#include "bear/update/gradient.hpp"

#include <doctest/doctest.h>

#include "bear/update/newton.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

// Everything a direction sees, at random weights.
struct Problem {
  test::Rows rows;
  ActiveSet active{0};
  std::unique_ptr<Loss> loss;
  std::vector<double> margins, residual, gradient;

  Problem(test::Rows given, std::unique_ptr<Loss> with, test::Random& random, double spread = 1.0)
      : rows(std::move(given)), loss(std::move(with)) {
    active.assign(rows.view());
    margins = random.normals(rows.labels.size() * loss->classes());
    for (double& margin : margins) margin *= spread;
    residual.resize(margins.size());
    gradient.resize(active.size() * loss->classes());
    loss->gradient(margins, targets(), residual);
    active.gradient(residual, loss->classes(), gradient);
  }

  Targets targets() const { return {rows.labels, rows.weights}; }

  std::vector<double> direction(Direction& with) const {
    std::vector<double> z(gradient.size());
    with.direct({active, *loss, targets(), margins, residual, gradient}, z);
    return z;
  }

  // X' D X v, the Hessian of the batch times a vector.
  std::vector<double> hessian_times(const std::vector<double>& v) const {
    const std::size_t c = loss->classes(), n = rows.labels.size();
    std::vector<double> along(n * c), bent(n * c), blocks(n * c * c), out(v.size());
    active.margins(v, c, along);
    loss->curvature(margins, targets(), blocks);
    for (std::size_t i = 0; i < n * c; ++i) {
      for (std::size_t b = 0; b < c; ++b) bent[i] += blocks[i * c + b] * along[i / c * c + b];
    }
    active.gradient(bent, c, out);
    return out;
  }
};

std::unique_ptr<Loss> loss_number(int i) {
  return i == 0 ? make_squared() : i == 1 ? make_logistic() : make_softmax(3);
}

}  // namespace

TEST_CASE("the gradient is the gradient") {
  test::Random random(1);
  const Problem problem(test::random_rows(random, 5, 20, 0.4), make_squared(), random);
  const auto direction = std::make_unique<Direction>();
  CHECK(problem.direction(*direction) == problem.gradient);
  CHECK_FALSE(direction->wants_pair());
}

TEST_CASE("Newton solves H z = g where the batch speaks, with fewer and with more rows than keys") {
  test::Random random(2);
  for (int which = 0; which < 3; ++which) {
    for (const std::size_t n_rows : {1U, 6U, 40U}) {
      CAPTURE(which);
      CAPTURE(n_rows);
      const Problem problem(test::random_rows(random, n_rows, 12, 0.5), loss_number(which), random);
      const auto z = problem.direction(*std::make_unique<Newton>());
      const auto back = problem.hessian_times(z);
      const double scale = std::sqrt(dot(problem.gradient, problem.gradient));
      CHECK(test::largest_difference(back, problem.gradient) < 1e-6 * scale);
    }
  }
}

TEST_CASE("Newton's step has least norm: it is a combination of the rows") {
  test::Rows rows;
  rows.row({{1, 3.0F}, {2, 4.0F}}, 1.0);
  test::Random random(3);
  const Problem problem(rows, make_squared(), random);
  const auto z = problem.direction(*std::make_unique<Newton>());
  // Along (3, 4) / 25 times the residual; across it, nothing.
  CHECK(z[0] * 4.0 - z[1] * 3.0 == doctest::Approx(0.0));
  CHECK(3.0 * z[0] + 4.0 * z[1] == doctest::Approx(problem.residual[0]).epsilon(1e-6));
}

// Rows that depend on each other, with different labels: the dual system is singular in the
// rows and in the common shift of the classes at once.
TEST_CASE("a softmax Newton step has no common shift of the classes") {
  test::Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    test::Rows rows = test::random_rows(random, 3, 20, 0.4);
    rows.row({{50, -0.7F}}, 2.0);
    rows.row({{50, 1.24F}}, 0.0);
    rows.row({{50, 0.31F}}, 1.0);
    const Problem problem(rows, make_softmax(3), random, 0.0);
    const auto z = problem.direction(*std::make_unique<Newton>());
    for (std::size_t i = 0; i < z.size(); i += 3) {
      REQUIRE(std::abs(z[i] + z[i + 1] + z[i + 2]) < 1e-9);
    }
    const double scale = std::sqrt(dot(problem.gradient, problem.gradient));
    REQUIRE(test::largest_difference(problem.hessian_times(z), problem.gradient) < 1e-5 * scale);
  }
}

TEST_CASE("Newton copes with repeated rows, empty rows and no weight") {
  test::Random random(5);
  test::Rows rows;
  for (int i = 0; i < 4; ++i) rows.row({{1, 1.0F}, {7, -2.0F}}, 1.0);
  rows.row({}, 0.0);
  for (int which = 0; which < 3; ++which) {
    const Problem problem(rows, loss_number(which), random);
    for (const double value : problem.direction(*std::make_unique<Newton>()))
      CHECK(std::isfinite(value));
  }
  rows.weights.assign(5, 0.0);
  const Problem nothing(rows, make_logistic(), random);
  for (const double value : nothing.direction(*std::make_unique<Newton>())) CHECK(value == 0.0);
}

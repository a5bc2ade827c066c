#include "bear/update/lbfgs.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>

#include "helpers.hpp"

using namespace bear;

namespace {

// A vector over all keys there are: key -> one number per class.
using Vector = std::map<Key, std::vector<double>>;

Vector spread(const ActiveSet& active, ConstReals values, std::size_t classes) {
  Vector v;
  for (std::size_t a = 0; a < active.size(); ++a) {
    const auto row = values.subspan(a * classes, classes);
    v[active.keys()[a]] = {row.begin(), row.end()};
  }
  return v;
}

double inner(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (const auto& [key, row] : a) {
    const auto found = b.find(key);
    if (found != b.end()) sum += dot(row, found->second);
  }
  return sum;
}

void add_to(Vector& a, double c, const Vector& b) {
  for (const auto& [key, row] : b) {
    auto& at = a[key];
    at.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) at[i] += c * row[i];
  }
}

// The two loops of the textbook, over the last pairs; the newest is at the back.
Vector two_loops(Vector g, const std::deque<std::pair<Vector, Vector>>& pairs) {
  if (pairs.empty()) return g;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    const auto& [s, r] = pairs[i];
    alpha[i] = inner(s, g) / inner(s, r);
    add_to(g, -alpha[i], r);
  }
  Vector z;
  add_to(z,
         inner(pairs.back().first, pairs.back().second) /
             inner(pairs.back().second, pairs.back().second),
         g);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [s, r] = pairs[i];
    add_to(z, alpha[i] - inner(r, z) / inner(s, r), s);
  }
  return z;
}

struct Batch {
  test::Rows rows;
  ActiveSet active{0};

  Batch(test::Random& random, std::size_t pool) : rows(test::random_rows(random, 4, pool, 0.25)) {
    active.assign(rows.view());
  }
};

std::vector<double> direct(Lbfgs& lbfgs, const Batch& batch, ConstReals g) {
  static const auto loss = make_squared();
  std::vector<double> z(g.size());
  lbfgs.direct({batch.active, *loss, {}, {}, {}, g}, z);
  return z;
}

}  // namespace

// Pairs live on different, overlapping active sets; the ring wraps many times; every fifth pair
// bends downwards and every seventh is zero, so that some are damped and some are skipped.
TEST_CASE("the coefficient form equals the textbook two loops") {
  for (const std::size_t history : {1U, 2U, 5U, 8U}) {
    for (const std::size_t classes : {1U, 3U}) {
      CAPTURE(history);
      CAPTURE(classes);
      test::Random random(history * 10 + classes);
      Lbfgs lbfgs(history, classes);
      std::deque<std::pair<Vector, Vector>> pairs;
      Guards guards;
      double mean_curvature = 0.0;
      for (int i = 0; i < 80; ++i) {
        const Batch batch(random, 30);
        const auto g = random.normals(batch.active.size() * classes);
        const auto z = direct(lbfgs, batch, g);
        const auto wanted = two_loops(spread(batch.active, g, classes), pairs);
        double scale = 1.0;
        for (const double value : z) scale = std::max(scale, std::abs(value));
        for (std::size_t a = 0; a < batch.active.size(); ++a) {
          for (std::size_t c = 0; c < classes; ++c) {
            const double other = wanted.at(batch.active.keys()[a])[c];
            REQUIRE(std::abs(z[a * classes + c] - other) < 1e-10 * scale);
          }
        }

        auto s = random.normals(g.size()), r = random.normals(g.size());
        for (std::size_t k = 0; k < s.size(); ++k) {
          r[k] = 0.3 * r[k] + (i % 5 == 4 ? -1.0 : 2.0) * s[k];
          if (i % 7 == 6) s[k] = 0.0;
        }
        lbfgs.observe(batch.active, s, r, guards);
        const double ss = dot(s, s);
        if (ss == 0.0) continue;
        const double kappa = dot(r, s) / ss, seen = std::max(kappa, 0.0);
        mean_curvature += (mean_curvature == 0.0 ? 1.0 : 0.05) * (seen - mean_curvature);
        if (kappa < 0.2 * mean_curvature) {
          const double theta = 0.8 * mean_curvature / (mean_curvature - kappa);
          for (std::size_t k = 0; k < s.size(); ++k) {
            r[k] = theta * r[k] + (1.0 - theta) * mean_curvature * s[k];
          }
        }
        if (dot(r, s) <= 1e-10 * ss) continue;
        pairs.emplace_back(spread(batch.active, s, classes), spread(batch.active, r, classes));
        if (pairs.size() > history) pairs.pop_front();
        REQUIRE(lbfgs.size() == pairs.size());
      }
      CHECK(lbfgs.mean_curvature() == doctest::Approx(mean_curvature));
      CHECK(guards.flat_pairs == 11);
      CHECK(guards.damped_pairs > 0);
      CHECK(guards.flat_pairs + guards.rejected_pairs + guards.stored_pairs == 80);
    }
  }
}

TEST_CASE("without pairs the direction is the gradient") {
  for (const std::size_t history : {0U, 4U}) {
    test::Random random(1);
    Lbfgs lbfgs(history, 2);
    CHECK(lbfgs.wants_pair() == (history > 0));
    const Batch batch(random, 20);
    const auto g = random.normals(batch.active.size() * 2);
    CHECK(direct(lbfgs, batch, g) == g);
  }
}

TEST_CASE("on a quadratic, a full history solves it") {
  test::Random random(2);
  const Batch batch(random, 12);
  const std::size_t n = batch.active.size();
  REQUIRE(n >= 3);
  std::vector<double> curvatures(n);
  for (std::size_t i = 0; i < n; ++i) curvatures[i] = 1.0 + static_cast<double>(i);
  Lbfgs lbfgs(n, 1);
  Guards guards;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> s(n), r(n);
    s[i] = 0.7;
    r[i] = 0.7 * curvatures[i];
    direct(lbfgs, batch, s);
    lbfgs.observe(batch.active, s, r, guards);
  }
  REQUIRE(guards.stored_pairs == n);
  const auto g = random.normals(n);
  const auto z = direct(lbfgs, batch, g);
  for (std::size_t i = 0; i < n; ++i) CHECK(z[i] == doctest::Approx(g[i] / curvatures[i]));
}

TEST_CASE("guards: flat, not finite, damped and rejected pairs") {
  test::Random random(3);
  const Batch batch(random, 20);
  const std::size_t n = batch.active.size();
  Lbfgs lbfgs(3, 1);
  Guards guards;
  const std::vector<double> zero(n), one(n, 1.0), huge(n, 1e200);
  direct(lbfgs, batch, one);
  lbfgs.observe(batch.active, zero, one, guards);
  lbfgs.observe(batch.active, one, zero, guards);
  lbfgs.observe(batch.active, one, std::vector<double>(n, NAN), guards);
  lbfgs.observe(batch.active, huge, one, guards);
  CHECK(guards.flat_pairs == 4);
  lbfgs.observe(batch.active, one, std::vector<double>(n, -1.0), guards);
  CHECK(guards.rejected_pairs == 1);
  CHECK(lbfgs.size() == 0);
  lbfgs.observe(batch.active, one, one, guards);
  CHECK(guards.stored_pairs == 1);
  const std::uint64_t damped = guards.damped_pairs;
  lbfgs.observe(batch.active, one, std::vector<double>(n, -1.0), guards);
  CHECK(guards.damped_pairs == damped + 1);
  CHECK(guards.stored_pairs == 2);
}

TEST_CASE("after a reset it is as new, also for batches larger than before") {
  test::Random random(4);
  Lbfgs used(3, 1), fresh(3, 1);
  Guards guards;
  for (int i = 0; i < 7; ++i) {
    const Batch batch(random, 200);
    const auto s = random.normals(batch.active.size());
    direct(used, batch, s);
    used.observe(batch.active, s, s, guards);
  }
  // The last batch before the reset has keys with slots.
  const Batch again(random, 200);
  direct(used, again, random.normals(again.active.size()));
  used.reset();
  CHECK(used.size() == 0);
  CHECK(used.mean_curvature() == 0.0);
  for (int i = 0; i < 7; ++i) {
    const Batch batch(random, 40);
    const auto g = random.normals(batch.active.size());
    CHECK(direct(used, batch, g) == direct(fresh, batch, g));
    const auto s = random.normals(batch.active.size());
    used.observe(batch.active, s, s, guards);
    fresh.observe(batch.active, s, s, guards);
  }
}

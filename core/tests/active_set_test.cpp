#include "bear/active_set.hpp"

#include <doctest/doctest.h>

#include <set>

#include "helpers.hpp"

using namespace bear;

TEST_CASE("keys are unique, in order of appearance, and hashed as the hash says") {
  test::Rows rows;
  rows.row({{5, 1.0F}, {9, 2.0F}});
  rows.row({{1, 3.0F}, {9, 4.0F}});
  ActiveSet active(42);
  active.assign(rows.view());
  const std::vector<Key> keys(active.keys().begin(), active.keys().end());
  CHECK(keys == std::vector<Key>{5, 9, 1});
  for (std::size_t a = 0; a < keys.size(); ++a) CHECK(active.hashes()[a] == KeyHash(42)(keys[a]));
  for (std::size_t a = 0; a < keys.size(); ++a) CHECK(rows.keys[active.entry(a)] == keys[a]);
}

TEST_CASE("products with the renumbered batch equal those with the plain matrix") {
  test::Random random(1);
  const test::Rows rows = test::random_rows(random, 30, 50, 0.3);
  const BatchView part = rows.view().rows(7, 23);
  ActiveSet active(1);
  active.assign(part);
  const std::size_t n = part.n_rows(), m = active.size();
  std::vector<double> matrix(n * m);
  for (std::size_t i = 0; i < n; ++i) {
    for (auto e = static_cast<std::size_t>(part.indptr[i]);
         e < static_cast<std::size_t>(part.indptr[i + 1]); ++e) {
      for (std::size_t a = 0; a < m; ++a) {
        if (active.keys()[a] == part.keys[e]) matrix[i * m + a] = part.values[e];
      }
    }
  }
  for (const std::size_t classes : {1U, 3U}) {
    const auto w = random.normals(m * classes), r = random.normals(n * classes);
    std::vector<double> margins(n * classes), g(m * classes), wanted_m(n * classes),
        wanted_g(m * classes);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t c = 0; c < classes; ++c) {
          wanted_m[i * classes + c] += matrix[i * m + a] * w[a * classes + c];
          wanted_g[a * classes + c] += matrix[i * m + a] * r[i * classes + c];
        }
      }
    }
    active.margins(w, classes, margins);
    active.gradient(r, classes, g);
    CHECK(test::largest_difference(margins, wanted_m) < 1e-12);
    CHECK(test::largest_difference(g, wanted_g) < 1e-12);
  }
  std::vector<double> gram(n * n), wanted(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t a = 0; a < m; ++a)
        wanted[i * n + k] += matrix[i * m + a] * matrix[k * m + a];
    }
  }
  active.gram(gram);
  CHECK(test::largest_difference(gram, wanted) < 1e-12);
}

TEST_CASE("a set can be used again, also for nothing") {
  ActiveSet active(0);
  test::Random random(3);
  for (const std::size_t pool : {400U, 3U, 100U}) {
    const test::Rows rows = test::random_rows(random, 10, pool, 0.5);
    active.assign(rows.view());
    CHECK(active.size() == std::set<Key>(rows.keys.begin(), rows.keys.end()).size());
  }
  test::Rows empty;
  empty.row({});
  active.assign(empty.view());
  CHECK(active.size() == 0);
  double margin = 7.0;
  active.margins({}, 1, Reals(&margin, 1));
  CHECK(margin == 0.0);
}

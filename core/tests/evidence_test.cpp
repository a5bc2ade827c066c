// What is known of weights, by the noise in the labels.
#include "bear/direction/evidence.hpp"

#include <doctest/doctest.h>

#include "bear/learner.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

Evidence evidence_of(double constant, double model) {
  Evidence evidence;
  for (int batch = 0; batch < 10; ++batch) evidence.learn(constant, model, batch);
  return evidence;
}

constexpr std::size_t kFields = 4, kValues = 20;

// Root mean square of the error of selected weights of fields, after one pass over drawn labels.
double error_of(std::size_t batches) {
  // All of them selected: cells of one byte are not that exact.
  Learner learner(test::staged_recipe(kFields * kValues));
  test::Random random(6);
  const auto truth = random.normals(kFields * kValues);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    test::Rows rows;
    for (int i = 0; i < 20; ++i) {
      std::vector<std::pair<Key, float>> row;
      double margin = 0.0;
      for (std::size_t field = 0; field < kFields; ++field) {
        const std::size_t key = field * kValues + random.below(kValues);
        margin += 0.5 * truth[key];
        row.emplace_back(key, 1.0F);
      }
      rows.row(row, random.uniform() < 1.0 / (1.0 + std::exp(-margin)) ? 1.0 : 0.0);
    }
    learner.learn(rows.view(), {});
  }
  std::vector<Key> keys(truth.size());
  std::vector<double> found(truth.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  learner.query(keys, found);
  double squares = 0.0;  // fields may trade a constant among each other
  for (std::size_t field = 0; field < kFields; ++field) {
    double mean = 0.0;
    for (std::size_t i = field * kValues; i < (field + 1) * kValues; ++i) {
      mean += (found[i] - 0.5 * truth[i]) / kValues;
    }
    for (std::size_t i = field * kValues; i < (field + 1) * kValues; ++i) {
      squares += std::pow(found[i] - 0.5 * truth[i] - mean, 2.0);
    }
  }
  return std::sqrt(squares / static_cast<double>(keys.size()));
}

}  // namespace

TEST_CASE("nothing is known before a batch, nor without means, nor where nothing is noise") {
  const auto loss = make_logistic();
  const std::vector<double> even{0.5};
  CHECK(Evidence().of_one(*loss, even) == 0.0);
  CHECK(evidence_of(0.7, 0.7).of_one(*loss, {}) == 0.0);
  CHECK(evidence_of(0.7, 0.07).of_one(*loss, even) == 0.0);
}

TEST_CASE("of labels that are all noise, an occurrence tells what the loss bends") {
  const auto loss = make_logistic();
  const std::vector<double> even{0.5}, rare{0.01};
  CHECK(evidence_of(0.7, 0.7).of_one(*loss, even) == doctest::Approx(0.25));
  CHECK(evidence_of(0.7, 7.0).of_one(*loss, even) == doctest::Approx(0.25));
  CHECK(evidence_of(0.7, 0.35).of_one(*loss, even) == doctest::Approx(0.25 / 16.0));
  CHECK(evidence_of(0.05, 0.05).of_one(*loss, rare) < 0.0099);
}

TEST_CASE("two classes by softmax know as much of a margin as by logistic") {
  const std::vector<double> one{0.1}, two{0.1, 0.9}, three{0.2, 0.3, 0.5};
  CHECK(make_softmax(2)->curvature_at(two) ==
        doctest::Approx(2.0 * make_logistic()->curvature_at(one)));
  CHECK(make_softmax(3)->curvature_at(three) == doctest::Approx(0.31));
  CHECK(make_squared()->curvature_at(one) == 1.0);
}

TEST_CASE("numbers come back") {
  const Evidence evidence = evidence_of(0.7, 0.5);
  Evidence other;
  other.restore(evidence.numbers());
  CHECK(other.numbers() == evidence.numbers());
}

TEST_CASE("weights of drawn labels become the more exact the longer they are learned") {
  const double some = error_of(500), more = error_of(2000), most = error_of(8000);
  CHECK(more < 0.8 * some);
  CHECK(most < 0.8 * more);
}

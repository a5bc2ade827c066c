#include "bear/calibration.hpp"

#include <doctest/doctest.h>

#include "helpers.hpp"

using namespace bear;

namespace {

// Labels whose log-odds are slope * margin + offset.
void feed(Calibration& calibration, double slope, double offset, std::size_t rows) {
  test::Random random(7);
  const auto loss = make_logistic();
  std::vector<double> margins = random.normals(rows), labels(rows);
  const std::vector<double> noise = random.normals(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double logistic = 1.702 * noise[i];  // a normal distribution of nearly that form
    labels[i] = slope * margins[i] + offset + logistic > 0.0 ? 1.0 : 0.0;
  }
  for (std::size_t start = 0; start < rows; start += 20) {
    const std::size_t n = std::min<std::size_t>(20, rows - start);
    calibration.add(*loss, ConstReals(margins).subspan(start, n),
                    {ConstReals(labels).subspan(start, n), {}});
  }
}

}  // namespace

TEST_CASE("a calibration finds slope and offset") {
  Calibration calibration;
  feed(calibration, 2.0, -0.5, 20000);
  CHECK(calibration.map().slope == doctest::Approx(2.0).epsilon(0.06));
  CHECK(calibration.map().offset == doctest::Approx(-0.5).epsilon(0.1));
}

TEST_CASE("it is the identity before 200 examples that have a weight") {
  Calibration calibration;
  feed(calibration, 2.0, 0.0, 180);
  const auto loss = make_logistic();
  const std::vector<double> margins(19, 3.0), labels(19, 1.0), none(19, 0.0);
  calibration.add(*loss, margins, {labels, none});
  calibration.add(*loss, margins, {labels, {}});
  CHECK(calibration.map().slope == 1.0);
  CHECK(calibration.map().offset == 0.0);
  calibration.add(*loss, ConstReals(margins).first(1), {ConstReals(labels).first(1), {}});
  CHECK(calibration.ready());
  CHECK(calibration.map().slope > 1.0);
}

TEST_CASE("a map never turns the order of margins round") {
  Calibration calibration;
  feed(calibration, -3.0, 0.0, 2000);
  CHECK(calibration.map().slope > 0.0);
}

TEST_CASE("equal margins of classes say nothing about the slope") {
  Calibration calibration;
  const auto loss = make_softmax(3);
  const std::vector<double> margins(900, 1e15), labels(300, 2.0);
  calibration.add(*loss, margins, {labels, {}});
  CHECK(calibration.map().slope == 1.0);
}

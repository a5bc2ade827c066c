#include "bear/update/newton.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

constexpr double kRidge = 1e-9;  // of the mean diagonal: least norm, not regularisation

// Solves m x = b in place by elimination with row pivots; m is n x n, small.
void solve(std::vector<double>& m, Reals b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(&m[k * n], &m[k * n] + n, &m[pivot * n]);
      std::swap(b[k], b[pivot]);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      if (factor == 0.0) continue;
      for (std::size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= m[k * n + j] * b[j];
    b[k] /= m[k * n + k];
  }
}

// Softmax does not see a shift common to all classes, so a step of least norm has none; where
// rows of the batch depend on each other, rounding over the tiny ridge would put a large one in.
void take_out_shift(Reals z, std::size_t classes) {
  for (std::size_t i = 0; i < z.size(); i += classes) {
    const Reals row = z.subspan(i, classes);
    double sum = 0.0;
    for (const double value : row) sum += value;
    for (double& value : row) value -= sum / static_cast<double>(classes);
  }
}

}  // namespace

void Newton::direct(const Point& point, Reals z) {
  const std::size_t rows = point.active.n_rows();
  const std::size_t classes = point.loss.classes();
  const std::size_t n = rows * classes;
  std::vector<double> gram(rows * rows), blocks(rows * classes * classes), m(n * n);
  point.active.gram(gram);
  point.loss.curvature(point.margins, point.targets, blocks);
  double trace = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t a = 0; a < classes; ++a) {
        for (std::size_t b = 0; b < classes; ++b) {
          m[(i * classes + a) * n + k * classes + b] =
              blocks[(i * classes + a) * classes + b] * gram[i * rows + k];
        }
      }
    }
    for (std::size_t a = 0; a < classes; ++a) {
      trace += m[(i * classes + a) * n + i * classes + a];
    }
  }
  const double ridge = kRidge * (trace > 0.0 ? trace / static_cast<double>(n) : 1.0);
  for (std::size_t i = 0; i < n; ++i) m[i * n + i] += ridge;
  std::vector<double> a(point.residual.begin(), point.residual.end());
  solve(m, a);
  point.active.gradient(a, classes, z);
  if (classes > 1) take_out_shift(z, classes);
}

std::unique_ptr<Update> make_newton(const Parts& parts) {
  return std::make_unique<Gradient>(parts, std::make_unique<Newton>());
}

}  // namespace bear

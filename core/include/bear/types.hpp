// Spans the parts meet on. Working vectors are double; only what a model keeps is narrower.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bear/compat.hpp"
#include "bear/key.hpp"

namespace bear {

using Keys = std::span<const Key>;
using Reals = std::span<double>;
using ConstReals = std::span<const double>;

// Training left the finite numbers, or grew without bound; nothing was written.
class Diverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Beyond, training has diverged.
inline constexpr double kLargestWeight = 1e15;

// A quarter of what can be addressed.
constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max() / 4 + 1;

// a * b, or an exception that names what would not fit; for every size before it is allocated.
inline std::size_t checked_product(std::size_t a, std::size_t b, const char* what) {
  std::size_t product = 0;
  if (compat::multiply_overflows(a, b, product) || product > kMostBytes) {
    throw std::invalid_argument(std::string(what) + " must fit into memory, got " +
                                std::to_string(a) + " x " + std::to_string(b));
  }
  return product;
}

// Weights of one key, mostly a single one: a library call for each takes a tenth of a batch's time.
inline void clear_few(double* at, std::size_t n) {
  if (n == 1) {
    *at = 0.0;
  } else {
    std::fill_n(at, n, 0.0);
  }
}

inline void scale_few(double* at, std::size_t n, double factor) {
  if (n == 1) {
    *at *= factor;
  } else {
    for (std::size_t i = 0; i < n; ++i) at[i] *= factor;
  }
}

inline void copy_few(const double* from, double* to, std::size_t n) {
  if (n == 1) {
    *to = *from;
  } else {
    std::copy_n(from, n, to);
  }
}

inline double dot(ConstReals a, ConstReals b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double norm_of(ConstReals weights) {
  return weights.size() == 1 ? std::abs(weights[0]) : std::sqrt(dot(weights, weights));
}

// What counts of the weights of a key that has several: their norm, or the largest, which is what
// the key says for a class. Of one weight both are its magnitude.
enum class Size { norm, largest };

inline double size_of(ConstReals weights, Size size) {
  if (size == Size::norm || weights.size() == 1) return norm_of(weights);
  return std::max(*std::max_element(weights.begin(), weights.end()), 0.0);
}

}  // namespace bear

// Count Sketch: depth rows of width signed buckets. A weight is estimated by the median or the
// mean of its cells; both are exact where nothing collides. Depth one is feature hashing.
#pragma once

#include <algorithm>
#include <array>

#include "bear/storage/cells.hpp"

namespace bear {

constexpr std::size_t kMaxDepth = 16;

template <class Cell>
class CountSketch : public Storage {
 public:
  explicit CountSketch(const SketchShape& shape)
      : shape_(checked(shape)), cells_(shape.width * shape.depth, shape.classes) {}

  void locate(const ActiveSet& active, Places& places) const override {
    places.depth = shape_.depth;
    places.cells.resize(active.size() * shape_.depth);
    const auto hashes = active.hashes();
    for (std::size_t a = 0; a < hashes.size(); ++a) {
      for (std::size_t row = 0; row < shape_.depth; ++row) {
        places.cells[a * shape_.depth + row] = place(hashes[a], row);
      }
    }
  }

  void query(const Places& places, Reals weights) const override {
    const std::size_t n = places.cells.size() / shape_.depth;
    if (shape_.depth == 3 && shape_.classes == 1) {
      for (std::size_t a = 0; a < n; ++a) weights[a] = estimate3(places.cells.data() + 3 * a);
      return;
    }
    for (std::size_t a = 0; a < n; ++a) {
      query_one(places, a, weights.subspan(a * shape_.classes, shape_.classes));
    }
  }

  void query_one(const Places& places, std::size_t column, Reals weights) const override {
    estimate(places.cells.data() + column * shape_.depth, weights);
  }

  void add(const Places& places, ConstReals step) override {
    const std::size_t n = places.cells.size() / shape_.depth;
    for (std::size_t a = 0; a < n; ++a) {
      put(places.cells.data() + a * shape_.depth, 0,
          step.subspan(a * shape_.classes, shape_.classes), 1.0);
    }
  }

  void scale(double c) override { cells_.scale(c); }

  void merge(const Storage& other, double mine, double theirs) override {
    const auto* same = dynamic_cast<const CountSketch*>(&other);
    if (same == nullptr || same->shape_.seed != shape_.seed || same->shape_.width != shape_.width ||
        same->shape_.depth != shape_.depth) {
      throw std::invalid_argument("sketches must have one seed, width, depth and cell to merge");
    }
    cells_.merge(same->cells_, mine, theirs);
  }

  std::span<std::byte> bytes() override { return cells_.bytes(); }
  Fill fill() const override { return cells_.fill(); }

 protected:
  std::uint64_t place(std::uint64_t key_hash, std::size_t row) const {
    const std::uint64_t h = row_hash(key_hash, row);
    return 2 * (row * shape_.width + bucket_of(h, shape_.width)) + (negative(h) ? 1 : 0);
  }

  // The key's weights of all classes, from its cells.
  void estimate(const std::uint64_t* at, Reals weights) const {
    if (shape_.depth == 1) {
      for (std::size_t c = 0; c < weights.size(); ++c) weights[c] = signed_cell(*at, c);
      return;
    }
    for (std::size_t c = 0; c < weights.size(); ++c) {
      std::array<double, kMaxDepth> read{};
      for (std::size_t row = 0; row < shape_.depth; ++row) read[row] = signed_cell(at[row], c);
      weights[c] = shape_.query == Query::mean ? mean(read) : median(read);
    }
  }

  // The same for depth 3 and one class, without a loop.
  double estimate3(const std::uint64_t* at) const {
    const double a = signed_cell(at[0], 0), b = signed_cell(at[1], 0), c = signed_cell(at[2], 0);
    if (shape_.query == Query::mean) return (0.0 + a + b + c) / 3.0;
    const double low = b < a ? b : a, high = b < a ? a : b;
    const double upper = c < high ? c : high;
    return upper < low ? low : upper;
  }

  // factor * weights of the classes first, first + 1, ... into the key's cells.
  void put(const std::uint64_t* at, std::size_t first, ConstReals weights, double factor) {
    for (std::size_t row = 0; row < shape_.depth; ++row) {
      const double sign = (at[row] & 1) ? -factor : factor;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        cells_.add(at[row] / 2, first + i, sign * weights[i]);
      }
    }
  }

  const SketchShape& shape() const { return shape_; }

 private:
  static const SketchShape& checked(const SketchShape& shape) {
    if (shape.width < 1) throw std::invalid_argument("width must be at least 1, got 0");
    if (shape.depth < 1 || shape.depth > kMaxDepth) {
      throw std::invalid_argument("depth must be 1 to 16, got " + std::to_string(shape.depth));
    }
    checked_product(shape.width, shape.depth, "width x depth");
    return shape;
  }

  double signed_cell(std::uint64_t at, std::size_t c) const {
    const double value = cells_.get(at / 2, c);
    return (at & 1) ? -value : value;
  }

  double mean(const std::array<double, kMaxDepth>& read) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < shape_.depth; ++row) sum += read[row];
    return sum / static_cast<double>(shape_.depth);
  }

  // Of an even number of rows, the mean of the middle two.
  double median(std::array<double, kMaxDepth>& read) const {
    const auto begin = read.begin(), end = begin + static_cast<std::ptrdiff_t>(shape_.depth);
    std::sort(begin, end);
    const std::size_t half = shape_.depth / 2;
    return shape_.depth % 2 ? read[half] : 0.5 * (read[half - 1] + read[half]);
  }

  SketchShape shape_;
  Cells<Cell> cells_;
};

}  // namespace bear

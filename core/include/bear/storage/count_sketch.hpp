// Count Sketch: depth rows of width signed buckets. A weight is estimated by the median or the
// mean of its cells; both are exact where nothing collides. Depth one is feature hashing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "bear/storage/byte_cells.hpp"

namespace bear {

constexpr std::size_t kMaxDepth = 16;

template <class Cell>
class CountSketch : public Storage {
 public:
  explicit CountSketch(const SketchShape& shape)
      : shape_(checked(shape)),
        cells_(shape.width * shape.depth, shape.classes, shape.seed),
        writes_once_(Cells<Cell>::kWritesOnce) {}

  void locate(const ActiveSet& active, Places& places) const override {
    places.depth = shape_.depth;
    places.cells.resize(active.size() * shape_.depth);
    std::uint64_t* cell = places.cells.data();
    const std::size_t depth = shape_.depth, width = shape_.width;
    for (const std::uint64_t hash : active.hashes()) {
      *cell++ = place(hash, 0, width);
      for (std::size_t row = 1; row < depth; ++row) *cell++ = place(hash, row, width);
    }
    if (writes_once_) places.find_shared();
  }

  void query(const Places& places, Reals weights) const override {
    if (single() || (shape_.classes == 1 && shape_.query == Query::mean)) {
      return single_means(places.cells.data(), weights);
    }
    const std::size_t n = places.cells.size() / shape_.depth;
    for (std::size_t a = 0; a < n; ++a) {
      estimate(places.cells.data() + a * shape_.depth,
               weights.subspan(a * shape_.classes, shape_.classes));
    }
  }

  void query_one(const Places& places, std::size_t column, Reals weights) const override {
    estimate(places.cells.data() + column * shape_.depth, weights);
  }

  void add(const Places& places, ConstReals step) override {
    if constexpr (!Cells<Cell>::kWritesOnce) {
      if (!writes_once_) return cells_.add_signed(places.cells, shape_.depth, step);
    }
    push(places, step, block_);
    cells_.add_block(places.cells, block_, places.cells.size() - places.shared.size());
  }

  CountingCells* counting() override {
    if constexpr (kCounts) return &cells_;
    return nullptr;
  }
  const CountingCells* counting() const override {
    if constexpr (kCounts) return &cells_;
    return nullptr;
  }

  void scale(double c) override { cells_.scale(c); }

  std::span<std::byte> bytes() override { return cells_.bytes(); }
  std::span<const std::byte> raw() const override { return cells_.raw(); }
  double factor() const override { return cells_.factor(); }
  void set_factor(double factor) override { cells_.set_factor(factor); }
  std::vector<double> numbers() const override { return cells_.numbers(); }
  void restore(std::span<const double> numbers) override { cells_.restore(numbers); }
  double grain() const override { return cells_.grain(); }
  std::size_t used() const override { return cells_.used(); }
  Fill fill() const override { return cells_.fill(); }

 protected:
  static std::uint64_t place(std::uint64_t key_hash, std::size_t row, std::size_t width) {
    const std::uint64_t h = row_hash(key_hash, row);
    return 2 * (row * width + bucket_of(h, width)) + (negative(h) ? 1 : 0);
  }

  // The key's weights of all classes, from its cells.
  void estimate(const std::uint64_t* at, Reals weights) const {
    if (weights.size() > 1 && shape_.depth == 1) return read_cell(*at, weights);
    if (weights.size() > 1 && shape_.query == Query::mean) return means(at, weights);
    for (std::size_t c = 0; c < weights.size(); ++c) {
      weights[c] = combine([&](std::size_t row) { return signed_cell(at[row], c); });
    }
  }

  // factor * weights of the classes first, first + 1, ... into the key's cells.
  void put(const std::uint64_t* at, std::size_t first, ConstReals weights, double factor) {
    for (std::size_t row = 0; row < shape_.depth; ++row) {
      const double sign = (at[row] & 1) ? -factor : factor;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        cells_.add(compat::to_size(at[row] / 2), first + i, sign * weights[i]);
      }
    }
  }

  static constexpr bool kCounts = std::is_same_v<Cell, CountedByte>;
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
    return with_sign(at, cells_.get(compat::to_size(at / 2), c));
  }

  // Mean or median of what the rows read.
  template <class Read>
  double combine(Read read) const {
    if (shape_.depth == 1) return read(0);
    if (shape_.query == Query::median) return median(read);
    double sum = 0.0;
    for (std::size_t row = 0; row < shape_.depth; ++row) sum += read(row);
    return sum / static_cast<double>(shape_.depth);
  }

  // All classes of one cell, as they lie in memory.
  void read_cell(std::uint64_t place, Reals weights) const {
    const double unit = with_sign(place, cells_.unit());
    const Cell* const from = cells_.row(compat::to_size(place / 2));
    double* const to = weights.data();
    const std::size_t classes = weights.size();
    for (std::size_t c = 0; c < classes; ++c) to[c] = unit * static_cast<double>(from[c]);
  }

  // The sums that combine() makes, of all classes at once: row after row, as they lie in memory.
  void means(const std::uint64_t* at, Reals weights) const {
    double* const sums = weights.data();
    const std::size_t classes = weights.size();
    std::fill_n(sums, classes, 0.0);
    for (std::size_t row = 0; row < shape_.depth; ++row) {
      const double unit = with_sign(at[row], cells_.unit());
      const Cell* const from = cells_.row(compat::to_size(at[row] / 2));
      for (std::size_t c = 0; c < classes; ++c) sums[c] += unit * static_cast<double>(from[c]);
    }
    const auto depth = static_cast<double>(shape_.depth);
    for (std::size_t c = 0; c < classes; ++c) sums[c] /= depth;
  }

  // The same for many keys of one class; what the loops need is kept in registers, since a weight
  // that is stored might be a member.
  void single_means(const std::uint64_t* at, Reals weights) const {
    const Cell* const cells = cells_.row(0);
    const double unit = cells_.unit();
    const auto read = [=](std::uint64_t place) {
      return with_sign(place, unit * static_cast<double>(cells[place / 2]));
    };
    if (shape_.depth == 1) {
      for (double& weight : weights) weight = read(*at++);
      return;
    }
    const std::size_t depth = shape_.depth;
    for (double& weight : weights) {
      double sum = 0.0;
      for (const std::uint64_t* const end = at + depth; at != end; ++at) sum += read(*at);
      weight = sum / static_cast<double>(depth);
    }
  }

  static double median3(double a, double b, double c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  }

  // Of an even number of rows, the mean of the middle two. Three and five rows, the usual ones,
  // need no sort: half the time of a learner of depth five went into it.
  template <class Read>
  double median(Read row_value) const {
    if (shape_.depth == 3) return median3(row_value(0), row_value(1), row_value(2));
    if (shape_.depth == 5) {
      const double a = row_value(0), b = row_value(1), c = row_value(2), d = row_value(3);
      return median3(row_value(4), std::max(std::min(a, b), std::min(c, d)),
                     std::min(std::max(a, b), std::max(c, d)));
    }
    std::array<double, kMaxDepth> read{};
    for (std::size_t row = 0; row < shape_.depth; ++row) read[row] = row_value(row);
    const auto begin = read.begin(), end = begin + static_cast<std::ptrdiff_t>(shape_.depth);
    std::sort(begin, end);
    const std::size_t half = shape_.depth / 2;
    return shape_.depth % 2 ? read[half] : 0.5 * (read[half - 1] + read[half]);
  }

  // block[element of places.cells][class] = the signed sum of the steps of all keys in that cell;
  // where several elements stand for it, at the first of them, and zero at the others.
  void push(const Places& places, ConstReals step, std::vector<double>& block) const {
    const std::size_t classes = shape_.classes, depth = shape_.depth;
    block.resize(places.cells.size() * classes);
    if (single()) {
      for (std::size_t a = 0; a < step.size(); ++a) {
        block[a] = with_sign(places.cells[a], step[a]);
      }
    } else {
      for (std::size_t at = 0; at < places.cells.size(); ++at) {
        const double* from = step.data() + at / depth * classes;
        double* to = block.data() + at * classes;
        for (std::size_t c = 0; c < classes; ++c) to[c] = with_sign(places.cells[at], from[c]);
      }
    }
    take_from_shared(places, classes, block);
  }

  static void take_from_shared(const Places& places, std::size_t classes,
                               std::vector<double>& block) {
    for (const auto& [element, first] : places.shared) {
      for (std::size_t c = 0; c < classes; ++c) {
        block[first * classes + c] += std::exchange(block[element * classes + c], 0.0);
      }
    }
  }

  // One cell and one class: the usual sketch of one-byte cells, worth loops of its own.
  bool single() const { return shape_.depth == 1 && shape_.classes == 1; }

  SketchShape shape_;
  Cells<Cell> cells_;
  bool writes_once_;                   // each cell once per batch, instead of once per key
  mutable std::vector<double> block_;  // scratch of push()
};

}  // namespace bear

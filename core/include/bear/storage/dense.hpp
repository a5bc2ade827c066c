// One weight per possible key below a known dimension: the exact, O(p) storage of SGD and oLBFGS.
#pragma once

#include "bear/storage/cells.hpp"

namespace bear {

template <class Cell>
class Dense final : public Storage {
 public:
  Dense(std::size_t dimension, std::size_t classes)
      : dimension_(dimension), classes_(classes), cells_(dimension, classes) {}

  void check(Keys keys) const override {
    for (const Key key : keys) {
      if (key < dimension_) continue;
      throw std::invalid_argument("keys must be below the dimension, " +
                                  std::to_string(dimension_) + ", got " + std::to_string(key));
    }
  }

  void locate(const ActiveSet& active, Places& places) const override {
    check(active.keys());
    places.depth = 1;
    places.cells.clear();
    for (const Key key : active.keys()) places.cells.push_back(2 * key);
  }

  void query(const Places& places, Reals weights) const override {
    for (std::size_t a = 0; a < places.cells.size(); ++a) {
      query_one(places, a, weights.subspan(a * classes_, classes_));
    }
  }

  void query_one(const Places& places, std::size_t column, Reals weights) const override {
    for (std::size_t c = 0; c < classes_; ++c) {
      weights[c] = cells_.get(compat::to_size(places.cells[column] / 2), c);
    }
  }

  void add(const Places& places, ConstReals step) override {
    cells_.add_block(places.cells, step, places.cells.size());
  }

  void scale(double c) override { cells_.scale(c); }

  std::span<std::byte> bytes() override { return cells_.bytes(); }
  std::span<const std::byte> raw() const override { return cells_.raw(); }
  double factor() const override { return cells_.factor(); }
  void set_factor(double factor) override { cells_.set_factor(factor); }
  std::size_t used() const override { return cells_.used(); }
  Fill fill() const override { return cells_.fill(); }

 private:
  std::size_t dimension_;
  std::size_t classes_;
  Cells<Cell> cells_;
};

}  // namespace bear

// Count Sketch plus the exact weights of the selected keys, which live in the selection itself.
#pragma once

#include "bear/selection.hpp"
#include "bear/storage/count_sketch.hpp"

namespace bear {

template <class Cell>
class CachedSketch final : public CountSketch<Cell> {
  using Base = CountSketch<Cell>;

 public:
  CachedSketch(const SketchShape& shape, Selection& selection, bool subtract)
      : Base(shape), selection_(selection), subtract_(subtract), hash_(shape.seed) {}

  void query(const Places& places, Reals weights) const override {
    Base::query(places, weights);
    each_member(places, [&](std::size_t at, std::size_t group, std::int32_t slot) {
      const auto exact = selection_.top(group).weights(slot);
      copy_few(exact.data(), weights.data() + at, exact.size());
    });
  }

  void add(const Places& places, ConstReals step) override {
    rest_.assign(step.begin(), step.end());
    each_member(places, [&](std::size_t at, std::size_t group, std::int32_t slot) {
      TopK& top = selection_.top(group);
      top.update(slot, 1.0, step.subspan(at, top.width()));
      clear_few(rest_.data() + at, top.width());
    });
    Base::add(places, rest_);
  }

  void admit(Key key, std::size_t first, ConstReals weights) override {
    if (subtract_) Base::put(cells_of(key).data(), first, weights, -1.0);
  }

  void release(Key key, std::size_t first, ConstReals weights) override {
    const auto at = cells_of(key);
    std::vector<double> back(weights.begin(), weights.end());
    if (!subtract_) {
      std::vector<double> copy(this->shape().classes);
      Base::estimate(at.data(), copy);
      for (std::size_t i = 0; i < back.size(); ++i) back[i] -= copy[first + i];
    }
    Base::put(at.data(), first, back, 1.0);
  }

  bool exact() const override { return true; }

 private:
  std::array<std::uint64_t, kMaxDepth> cells_of(Key key) const {
    std::array<std::uint64_t, kMaxDepth> at{};
    for (std::size_t row = 0; row < this->shape().depth; ++row) {
      at[row] = Base::place(hash_(key), row, this->shape().width);
    }
    return at;
  }

  template <class Visit>
  void each_member(const Places& places, Visit visit) const {
    if (places.groups == 0) return;
    const std::size_t width = this->shape().classes / places.groups;
    for (const std::uint32_t i : places.chosen) {
      visit(i * width, places.group_of(i), places.members[i]);
    }
  }

  Selection& selection_;
  bool subtract_;
  KeyHash hash_;
  mutable std::vector<double> rest_;
};

}  // namespace bear

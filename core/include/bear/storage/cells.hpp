// Arrays of weights that dense storage and sketches are made of. One element per cell and class.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "bear/hash.hpp"
#include "bear/storage.hpp"

namespace bear {

// Fill of an array, given the weight each element stands for.
template <class Data, class Value>
Storage::Fill fill_of(const Data& data, Value value) {
  Storage::Fill fill{.cells = data.size()};
  double squares = 0.0;
  for (const auto element : data) {
    const double weight = std::abs(value(element));
    fill.used += weight != 0.0;
    fill.largest = std::max(fill.largest, weight);
    squares += weight * weight;
  }
  fill.rms = data.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(data.size()));
  return fill;
}

// The value, negated if the place (as Places has it) says so; by its sign bit, as half of them do.
inline double with_sign(std::uint64_t place, double value) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (place << 63));
}

// Floating-point cells with a lazy common factor.
template <class Cell>
class Cells {
 public:
  static constexpr bool kWritesOnce = false;  // whether a cell must be written once per batch
  static constexpr double kLeastFactor = 1e-20;
  static constexpr double kRounding = 1e-12;

  Cells(std::size_t n, std::size_t classes, std::uint64_t /*seed*/ = 0)
      : classes_(classes), data_(checked_product(n, classes, "cells x classes")) {}

  std::size_t size() const { return data_.size(); }

  double get(std::size_t cell, std::size_t c) const {
    return factor_ * static_cast<double>(data_[cell * classes_ + c]);
  }

  // The classes of a cell, each to be multiplied by the unit.
  const Cell* row(std::size_t cell) const { return data_.data() + cell * classes_; }
  double unit() const { return factor_; }
  double grain() const { return 0.0; }

  void add(std::size_t cell, std::size_t c, double amount) {
    Cell& at = data_[cell * classes_ + c];
    const double before = static_cast<double>(at), after = before + amount / factor_;
    // What is taken out again leaves nothing, and no rounding error that counts as a cell in use.
    at = std::abs(after) > kRounding * std::abs(before) ? static_cast<Cell>(after) : Cell{};
  }

  // step[key][class] to each of a key's `depth` places, as Places has them.
  void add_signed(std::span<const std::uint64_t> places, std::size_t depth, ConstReals step) {
    const std::size_t classes = classes_;
    const double factor = factor_;
    Cell* const data = data_.data();
    const double* from = step.data();
    for (std::size_t at = 0; at < places.size(); at += depth, from += classes) {
      for (const std::uint64_t place : places.subspan(at, depth)) {
        Cell* const to = data + place / 2 * classes;
        for (std::size_t c = 0; c < classes; ++c) {
          // Without L2 the factor is 1, and a quotient for each cell a tenth of all learning.
          const double amount = factor == 1.0 ? from[c] : from[c] / factor;
          to[c] = static_cast<Cell>(static_cast<double>(to[c]) + with_sign(place, amount));
        }
      }
    }
  }

  void scale(double c) {
    factor_ *= c;
    // Far from 1 the quotients above would leave the range of the cells: weights go up to 1e15
    // and float to 3e38. One pass over the cells per ~70 halvings.
    if (factor_ < kLeastFactor) settle();
  }

  // Puts the common factor into the cells.
  void settle() {
    if (factor_ == 1.0) return;
    for (auto& cell : data_) cell = static_cast<Cell>(factor_ * static_cast<double>(cell));
    factor_ = 1.0;
  }

  std::span<std::byte> bytes() {
    settle();
    return std::as_writable_bytes(std::span(data_));
  }

  std::span<const std::byte> raw() const { return std::as_bytes(std::span(data_)); }
  double factor() const { return factor_; }
  void set_factor(double factor) {
    if (!(factor >= kLeastFactor && factor <= 1.0)) {
      throw std::invalid_argument("the common factor of cells must be from 1e-20 to 1");
    }
    factor_ = factor;
  }

  // amounts[i][class] to the cell of places[i], as Places has them. So many of the cells are
  // distinct, and of those that are not only the first has amounts.
  void add_block(std::span<const std::uint64_t> places, ConstReals amounts,
                 std::size_t /*distinct*/) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t c = 0; c < classes_; ++c)
        add(compat::to_size(places[i] / 2), c, amounts[i * classes_ + c]);
    }
  }

  std::size_t used() const { return fill().used; }
  std::vector<double> numbers() const { return {}; }
  void restore(std::span<const double>) {}

  Storage::Fill fill() const {
    return fill_of(data_, [this](Cell cell) { return factor_ * static_cast<double>(cell); });
  }

 private:
  std::size_t classes_;
  double factor_ = 1.0;
  std::vector<Cell> data_;
};

}  // namespace bear

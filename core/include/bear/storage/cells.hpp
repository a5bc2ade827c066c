// An array of weights with a lazy common factor; what dense storage and sketches are made of.
#pragma once

#include <cmath>

#include "bear/storage.hpp"

namespace bear {

template <class Cell>
class Cells {
 public:
  Cells(std::size_t n, std::size_t classes)
      : classes_(classes), data_(checked_product(n, classes, "cells x classes")) {}

  std::size_t size() const { return data_.size(); }

  double get(std::size_t cell, std::size_t c) const {
    return factor_ * static_cast<double>(data_[cell * classes_ + c]);
  }

  void add(std::size_t cell, std::size_t c, double amount) {
    Cell& at = data_[cell * classes_ + c];
    at = static_cast<Cell>(static_cast<double>(at) + amount / factor_);
  }

  void scale(double c) {
    factor_ *= c;
    // Far from 1 the quotients above would leave the range of the cells: weights go up to 1e15
    // and float to 3e38. One pass over the cells per ~70 halvings.
    if (factor_ < 1e-20) settle();
  }

  // Puts the common factor into the cells.
  void settle() {
    if (factor_ == 1.0) return;
    for (auto& cell : data_) cell = static_cast<Cell>(factor_ * static_cast<double>(cell));
    factor_ = 1.0;
  }

  void merge(const Cells& other, double mine, double theirs) {
    if (other.size() != size() || other.classes_ != classes_) {
      throw std::invalid_argument("storages must have one shape to merge, got " +
                                  std::to_string(size()) + " and " + std::to_string(other.size()) +
                                  " cells");
    }
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = static_cast<Cell>(mine * factor_ * static_cast<double>(data_[i]) +
                                   theirs * other.factor_ * static_cast<double>(other.data_[i]));
    }
    factor_ = 1.0;
  }

  std::span<std::byte> bytes() {
    settle();
    return std::as_writable_bytes(std::span(data_));
  }

  Storage::Fill fill() const {
    Storage::Fill fill{.cells = data_.size()};
    double squares = 0.0;
    for (const auto cell : data_) {
      const double value = std::abs(factor_ * static_cast<double>(cell));
      fill.used += value != 0.0;
      fill.largest = std::max(fill.largest, value);
      squares += value * value;
    }
    fill.rms = data_.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(data_.size()));
    return fill;
  }

 private:
  std::size_t classes_;
  double factor_ = 1.0;
  std::vector<Cell> data_;
};

}  // namespace bear

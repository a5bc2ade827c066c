// One-byte cells: whole multiples of one quantum that doubles when too many cells saturate.
#pragma once

#include "bear/storage/cells.hpp"

namespace bear {

// A quarter of the bytes of float buys four times the cells, which is worth far more than the
// digits lost. Writes are rounded up or down at random in proportion, so that the mean of many
// small steps is kept; the draw is a hash of seed, write number and cell, so that the same run
// gives the same bytes.
template <>
class Cells<std::int8_t> {
 public:
  Cells(std::size_t n, std::size_t classes, std::uint64_t seed)
      : classes_(classes),
        seed_(mix64(seed ^ 0x726f756e64696e67ULL)),
        data_(checked_product(n, classes, "cells x classes")) {}

  std::size_t size() const { return data_.size(); }
  std::size_t used() const { return used_; }

  double get(std::size_t cell, std::size_t c) const {
    return quantum_ * static_cast<double>(data_[cell * classes_ + c]);
  }

  void add(std::size_t cell, std::size_t c, double amount) {
    if (amount == 0.0) return;
    start(std::abs(amount));
    ++writes_;
    write(cell * classes_ + c, amount);
  }

  void add_block(std::span<const std::uint64_t> cells, ConstReals amounts) {
    double largest = 0.0;
    for (const double amount : amounts) largest = std::max(largest, std::abs(amount));
    if (largest == 0.0) return;
    start(largest);
    ++writes_;
    std::size_t clipped = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      for (std::size_t c = 0; c < classes_; ++c) {
        clipped += write(cells[i] * classes_ + c, amounts[i * classes_ + c]);
      }
    }
    if (static_cast<double>(clipped) > kClippedShare * static_cast<double>(amounts.size())) {
      double_quantum();
    }
  }

  void scale(double c) {
    quantum_ *= c;
    if (quantum_ > 0.0) return;
    // A new quantum would bring back what was forgotten.
    std::fill(data_.begin(), data_.end(), std::int8_t{0});
    used_ = 0;
  }

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(data_)); }

  std::span<const std::byte> raw() const { return std::as_bytes(std::span(data_)); }
  double factor() const { return 1.0; }
  void set_factor(double factor) {
    if (factor != 1.0) throw std::invalid_argument("one-byte cells have no common factor");
  }

  std::vector<double> numbers() const { return {quantum_, static_cast<double>(writes_)}; }

  void restore(std::span<const double> numbers) {
    if (numbers.size() != 2 || !(numbers[0] >= 0.0) || !std::isfinite(numbers[0]) ||
        !(numbers[1] >= 0.0) || !(numbers[1] < 9e15)) {
      throw std::invalid_argument("one-byte cells need their quantum and number of writes");
    }
    quantum_ = numbers[0];
    writes_ = static_cast<std::uint64_t>(numbers[1]);
    used_ = static_cast<std::size_t>(
        std::count_if(data_.begin(), data_.end(), [](std::int8_t q) { return q != 0; }));
  }

  Storage::Fill fill() const {
    return fill_of(data_, [this](std::int8_t q) { return quantum_ * q; });
  }

 private:
  static constexpr double kTop = 127.0;
  static constexpr double kClippedShare = 0.001;
  static constexpr double kSlack = 1e-6;  // the amount that set the quantum is not too large for it

  // The first write decides the quantum: its largest amount fills a cell.
  void start(double largest) {
    if (quantum_ == 0.0) quantum_ = largest / kTop;
  }

  // Adds and rounds; returns whether the cell was too small for it.
  bool write(std::size_t at, double amount) {
    const double exact = static_cast<double>(data_[at]) + amount / quantum_;
    const int q = round_down(exact + draw(at));
    used_ += static_cast<std::size_t>(q != 0);
    used_ -= static_cast<std::size_t>(data_[at] != 0);
    data_[at] = static_cast<std::int8_t>(q);
    return std::abs(exact) > kTop + kSlack;
  }

  // The floor, within the range of a cell: above zero a conversion does it, without a call.
  static int round_down(double x) {
    return static_cast<int>(std::clamp(x, -kTop, kTop) + kTop) - static_cast<int>(kTop);
  }

  // Uniform in [0, 1).
  double draw(std::size_t at) const {
    return static_cast<double>(mix64((seed_ + writes_ * kGolden) ^ (at * kGolden)) >> 11) * 0x1p-53;
  }

  void double_quantum() {
    quantum_ *= 2.0;
    ++writes_;
    used_ = 0;
    for (std::size_t at = 0; at < data_.size(); ++at) {
      const double q = std::floor(0.5 * static_cast<double>(data_[at]) + draw(at));
      data_[at] = static_cast<std::int8_t>(q);
      used_ += static_cast<std::size_t>(q != 0.0);
    }
  }

  std::size_t classes_;
  std::uint64_t seed_;
  double quantum_ = 0.0;
  std::uint64_t writes_ = 0;
  std::size_t used_ = 0;
  std::vector<std::int8_t> data_;
};

}  // namespace bear

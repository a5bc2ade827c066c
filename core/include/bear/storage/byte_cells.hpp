// One-byte cells: whole multiples of one quantum that doubles when too many cells saturate.
#pragma once

#include <cstring>

#include "bear/storage/cells.hpp"
#include "bear/storage/counted_byte.hpp"

namespace bear {

// How a byte stands for a whole number: the largest there is, the number in a byte, a number near x
// (at random in proportion by a draw from [0, 1)), and a byte with another number.
template <class Byte>
struct Digits;

template <>
struct Digits<std::int8_t> {
  static constexpr int kTop = 127;
  static int read(std::int8_t byte) { return byte; }
  static int round(double x, double draw) { return round_down(x + draw); }
  static std::int8_t write(std::int8_t, int whole) { return static_cast<std::int8_t>(whole); }

 private:
  // The floor, within the range of a cell: above zero a conversion does it, without a call.
  static int round_down(double x) {
    constexpr double top = kTop;
    return static_cast<int>(std::min(std::max(x, -top), top) + top) - kTop;
  }
};

template <>
struct Digits<CountedByte> {
  static constexpr int kTop = CountedByte::kTop;
  static int read(CountedByte byte) { return byte.whole(); }
  static int round(double x, double draw) {
    constexpr double top = kTop;
    x = std::min(std::max(x, -top), top);
    const std::size_t range = CountedByte::range(std::abs(x));
    // Above zero a conversion is the floor, and what is too fine for the spacing is cut off.
    const int above = static_cast<int>(x + 2.0 * top + draw * kSpacing[range]);
    return (above & kWhole[range]) - 2 * kTop;
  }
  static CountedByte write(CountedByte byte, int whole) { return byte.with(whole); }

 private:
  // By range: tables, because a branch on it cannot be foreseen.
  static constexpr std::array<double, 4> kSpacing{1.0, 2.0, 4.0, 4.0};
  static constexpr std::array<int, 4> kWhole{-1, -2, -4, -4};
};

// A quarter of the bytes of float buys four times the cells, which is worth far more than the
// digits lost. Writes are rounded up or down at random in proportion, so that the mean of many
// small steps is kept; the draw is made of seed, write number and place, so that the same run
// gives the same bytes.
template <class Byte>
class ByteCells {
  using Number = Digits<Byte>;

 public:
  static constexpr bool kWritesOnce = true;

  ByteCells(std::size_t n, std::size_t classes, std::uint64_t seed)
      : classes_(classes),
        seed_(mix64(seed ^ 0x726f756e64696e67ULL)),
        data_(checked_product(n, classes, "cells x classes")) {}

  std::size_t size() const { return data_.size(); }
  std::size_t used() const { return used_; }

  double get(std::size_t cell, std::size_t c) const {
    return quantum_ * static_cast<double>(data_[cell * classes_ + c]);
  }

  const Byte* row(std::size_t cell) const { return data_.data() + cell * classes_; }
  double unit() const { return quantum_; }
  double grain() const { return quantum_; }

  void add(std::size_t cell, std::size_t c, double amount) {
    if (amount == 0.0) return;
    if (quantum_ == 0.0) start({&amount, 1});
    ++writes_;
    Writer writer(*this);
    const std::size_t at = cell * classes_ + c;
    writer.write(at, amount, inner(random_bits(salt(), at)));
    used_ = writer.used;
  }

  // As for other cells. Most amounts are a small part of a quantum and, three times in four, change
  // nothing: whether one does is drawn before its cell is looked at.
  void add_block(std::span<const std::uint64_t> places, ConstReals amounts, std::size_t distinct) {
    if (quantum_ == 0.0 && !start(amounts)) return;
    ++writes_;
    std::size_t clipped = 0;
    Writer writer(*this);
    if (classes_ == 1) {
      list_moved(amounts, writer);
      for (const std::uint32_t i : moved_) {
        clipped += writer.write(compat::to_size(places[i] / 2), amounts[i], writer.draw(i));
      }
    } else {
      for (std::size_t i = 0; i < places.size(); ++i) {
        const ConstReals own = amounts.subspan(i * classes_, classes_);
        clipped +=
            write_classes(compat::to_size(places[i] / 2) * classes_, own, i * classes_, writer);
      }
    }
    used_ = writer.used;
    if (static_cast<double>(clipped) > kClippedShare * static_cast<double>(distinct * classes_)) {
      double_quantum();
    }
  }

  // Of cells that are all zero.
  void set_grain(double quantum) { quantum_ = quantum; }

  // Twice the quantum: every cell is halved, odd ones up or down with even chance. Most doublings
  // come early, when most cells are empty: eight of those are passed at once.
  void double_quantum() {
    quantum_ *= 2.0;
    ++writes_;
    std::size_t used = 0;
    Byte* const data = data_.data();
    const std::uint64_t from = salt();
    for (std::size_t at = 0, n = data_.size(); at < n;) {
      std::uint64_t eight = 1;
      if (n - at >= 8) std::memcpy(&eight, data + at, 8);
      if (eight == 0) {
        at += 8;
        continue;
      }
      for (const std::size_t end = std::min(at + 8, n); at < end; ++at) {
        const int half = Number::round(0.5 * Number::read(data[at]), draw(from, at));
        data[at] = Number::write(data[at], half);
        used += static_cast<std::size_t>(half != 0);
      }
    }
    used_ = used;
  }

  void scale(double c) {
    quantum_ *= c;
    if (quantum_ > 0.0) return;
    // A new quantum would bring back what was forgotten.
    std::fill(data_.begin(), data_.end(), Byte{});
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
        std::count_if(data_.begin(), data_.end(), [](Byte q) { return Number::read(q) != 0; }));
  }

  Storage::Fill fill() const {
    return fill_of(data_, [this](Byte q) { return quantum_ * static_cast<double>(q); });
  }

 protected:
  std::uint64_t salt() const { return seed_ + writes_ * kGolden; }
  static std::uint64_t random_bits(std::uint64_t salt, std::uint64_t at) {
    return mix64(salt ^ (at * kGolden));
  }
  // Uniform in [0, 1).
  static double draw(std::uint64_t salt, std::uint64_t at) {
    return uniform(random_bits(salt, at));
  }

  void change_used(std::ptrdiff_t more) {
    used_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(used_) + more);
  }
  std::size_t classes() const { return classes_; }
  std::vector<Byte>& data() { return data_; }
  const std::vector<Byte>& data() const { return data_; }

 private:
  static constexpr double kTop = Number::kTop;
  static constexpr double kClippedShare = 0.001;
  static constexpr double kSlack = 1e-6;  // the amount that set the quantum is not too large for it

  // Uniform in (0, 1), without its ends: one minus it is the same.
  static double inner(std::uint64_t bits) {
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
  }

  // The first write decides the quantum: its largest amount fills a cell. False without any.
  bool start(ConstReals amounts) {
    for (const double amount : amounts) quantum_ = std::max(quantum_, std::abs(amount));
    quantum_ /= kTop;
    return quantum_ > 0.0;
  }

  // What one round of writes needs, in registers: a byte that is stored might be part of anything,
  // so members would be read again after each.
  struct Writer {
    explicit Writer(ByteCells& cells)
        : quantum(cells.quantum_),
          salt(mix64(cells.salt())),
          used(cells.used_),
          data(cells.data_.data()) {}

    // Of one amount after the other: far apart, so that they spread evenly.
    double draw(std::size_t i) const { return inner(salt + i * kGolden); }

    // Whether an amount may change its cell. Numbers are at least a quantum apart.
    bool moves(double amount, double drawn) const { return drawn * quantum < std::abs(amount); }

    // Adds and rounds; returns whether the cell was too small for it.
    bool write(std::size_t at, double amount, double drawn) {
      const int before = Number::read(data[at]);
      const double exact = static_cast<double>(before) + amount / quantum;
      const int after = Number::round(exact, amount < 0.0 ? drawn : 1.0 - drawn);
      used += static_cast<std::size_t>(after != 0);
      used -= static_cast<std::size_t>(before != 0);
      data[at] = Number::write(data[at], after);
      return std::abs(exact) > kTop + kSlack;
    }

    double quantum;
    std::uint64_t salt;
    std::size_t used;
    Byte* data;
  };

  // Which amounts change something cannot be foreseen, so nothing branches on it.
  void list_moved(ConstReals amounts, const Writer& writer) {
    moved_.resize(amounts.size());
    std::uint32_t* const to = moved_.data();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      to[moved] = static_cast<std::uint32_t>(i);
      moved += writer.moves(amounts[i], writer.draw(i));
    }
    moved_.resize(moved);
  }

  // The classes of one cell; of the selected all amounts are zero.
  static std::size_t write_classes(std::size_t at, ConstReals amounts, std::size_t number,
                                   Writer& writer) {
    std::size_t clipped = 0;
    for (std::size_t c = 0; c < amounts.size(); ++c) {
      const double drawn = writer.draw(number + c);
      if (writer.moves(amounts[c], drawn)) clipped += writer.write(at + c, amounts[c], drawn);
    }
    return clipped;
  }

  std::size_t classes_;
  std::uint64_t seed_;
  double quantum_ = 0.0;
  std::uint64_t writes_ = 0;
  std::size_t used_ = 0;
  std::vector<Byte> data_;
  std::vector<std::uint32_t> moved_;  // by list_moved()
};

template <>
class Cells<std::int8_t> : public ByteCells<std::int8_t> {
 public:
  using ByteCells::ByteCells;
};

// These count how often keys of the eight bytes around a cell were met: its word, the one that its
// first byte lies in, or the last whole one. What is left over of fewer than eight counts nothing.
template <>
class Cells<CountedByte> : public ByteCells<CountedByte> {
 public:
  using ByteCells::ByteCells;

  // For the posterior, which reads and writes cells in loops of its own: the bytes, the word of the
  // cell that begins at one of them, and how many numbers stopped or began to be zero.
  static constexpr int kTop = CountedByte::kTop;
  CountedByte* first() { return data().data(); }
  std::size_t word_of(std::size_t at) const {
    return std::min(at & ~(Counter::kBytes - 1), (words() - 1) * Counter::kBytes);
  }
  bool counting() const { return words() > 0; }
  void add_used(std::ptrdiff_t more) { change_used(more); }

  // Near x, up or down at random in proportion by a draw from [0, 1).
  static int rounded(float x, float draw) {
    x = std::min(std::max(x, -static_cast<float>(kTop)), static_cast<float>(kTop));
    const int coarse = std::min(static_cast<int>(std::abs(x)) >> 5, 2);
    const float spacing = static_cast<float>(1 << coarse);
    const int above = static_cast<int>(x + 2.0F * static_cast<float>(kTop) + draw * spacing);
    return (above & -(1 << coarse)) - 2 * kTop;
  }

  std::vector<double> counts() const {
    std::vector<double> all(words());
    for (std::size_t word = 0; word < all.size(); ++word) {
      all[word] = Counter::count_of(data().data() + word * Counter::kBytes);
    }
    return all;
  }

  void set_counts(ConstReals counts) {
    if (counts.size() != words()) throw std::invalid_argument("counts must be one per word");
    for (std::size_t word = 0; word < counts.size(); ++word) {
      Counter counter(data().data() + word * Counter::kBytes);
      counter.set(counts[word], draw(salt() ^ kMeeting, word));
    }
  }

 private:
  static constexpr std::uint64_t kMeeting = 0x6d656574696e6773ULL;

  std::size_t words() const { return data().size() / Counter::kBytes; }
};

}  // namespace bear

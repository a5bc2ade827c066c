// A byte with seven bits of a weight and one of a counter.
//
// Most weights are near zero, so digits that are fine there and coarse further out say as much in
// seven bits as whole numbers from -127 to 127 do in eight. The bit that is left over is not one
// cell's: those of eight bytes in a row are one counter, of how often keys of these cells were met.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "bear/types.hpp"

namespace bear {

struct CountedByte {
  std::uint8_t bits = 0;  // sign, six bits of magnitude, counter

  static constexpr int kTop = 124;
  // Numbers of a size below 32 are 1 apart, below 64 they are 2, and above 4.
  static constexpr std::size_t range(double size) { return static_cast<std::size_t>(size) / 32; }

  constexpr int whole() const { return kWhole[bits]; }
  explicit constexpr operator double() const { return static_cast<double>(whole()); }

  // Another number in the place of this one, of those there are; the counter stays.
  constexpr CountedByte with(int number) const {
    return {static_cast<std::uint8_t>(kBits[static_cast<std::size_t>(number + kTop)] | (bits & 1))};
  }

 private:
  static constexpr std::array<std::int8_t, 256> whole_numbers() {
    std::array<std::int8_t, 256> all{};
    for (int bits = 0; bits < 256; ++bits) {
      const int code = bits >> 1 & 63;
      const int size = code < 32 ? code : code < 48 ? 2 * (code - 16) : 4 * (code - 32);
      all[static_cast<std::size_t>(bits)] = static_cast<std::int8_t>(bits & 0x80 ? -size : size);
    }
    return all;
  }

  static constexpr std::array<std::uint8_t, 2 * kTop + 1> all_bits() {
    std::array<std::uint8_t, 2 * kTop + 1> all{};
    for (int number = -kTop; number <= kTop; ++number) {
      const int size = number < 0 ? -number : number;
      const int code = size < 32 ? size : size < 64 ? 16 + size / 2 : 32 + size / 4;
      all[static_cast<std::size_t>(number + kTop)] =
          static_cast<std::uint8_t>((number < 0 ? 0x80 : 0) | code << 1);
    }
    return all;
  }

  static const std::array<std::int8_t, 256> kWhole;
  static const std::array<std::uint8_t, 2 * kTop + 1> kBits;
};

inline constexpr std::array<std::int8_t, 256> CountedByte::kWhole = CountedByte::whole_numbers();
inline constexpr std::array<std::uint8_t, 2 * CountedByte::kTop + 1> CountedByte::kBits =
    CountedByte::all_bits();

static_assert(sizeof(CountedByte) == 1);

// The eight spare bits of a word of counted bytes: a Morris counter. Level v stands for
// (r^v - 1) / (r - 1) occurrences, and is left for the next with the chance that keeps the mean.
class Counter {
 public:
  static constexpr std::size_t kBytes = 8;
  static constexpr int kMostLevel = 255;
  static constexpr double kRatio = 1.08;  // counts to 4e9 within a fifth

  explicit Counter(CountedByte* word) : word_(word) {}

  static double count_of(const CountedByte* word) { return kCounts[level_of(word)]; }

  // So many more, with a draw from [0, 1).
  void add(double times, double draw) { write(raised(level_of(word_), times, draw)); }
  void set(double count, double draw) { move(0, count, draw); }

  // The same by level: which it is, what it stands for, and the one for so many more.
  static std::size_t level_of(const CountedByte* word) {
    // The lowest bits of eight bytes, side by side: bit 8 i goes to 56 + i, and no two sums meet.
    return (load(word) & kLowest) * 0x0102040810204080ULL >> 56;
  }
  static double count_at(std::size_t level) { return kCounts[level]; }
  static std::size_t raised(std::size_t level, double times, double draw) {
    const double chance = times * kChances[level];
    if (!(chance > 1.0)) return level + (draw < chance);
    const double count = kCounts[level] + times;
    while (level < kMostLevel && count >= kCounts[level + 1]) ++level;
    return level + (draw < (count - kCounts[level]) * kChances[level]);
  }
  void write(std::size_t level) {
    std::uint64_t bytes = load(word_) & ~kLowest;
    // Bit i of the level is left standing in byte i, and made its lowest.
    const std::uint64_t own = level * kLowest & 0x8040201008040201ULL;
    bytes |= (own + 0x7f * kLowest) >> 7 & kLowest;
    std::memcpy(static_cast<void*>(word_), &bytes, kBytes);
  }

 private:
  void move(std::size_t level, double count, double draw) {
    write(raised(level, count - kCounts[level], draw));
  }

  static constexpr std::uint64_t kLowest = 0x0101010101010101ULL;
  static std::uint64_t load(const CountedByte* word) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, word, kBytes);
    return bytes;
  }

  static constexpr std::array<double, kMostLevel + 1> counts() {
    std::array<double, kMostLevel + 1> all{};
    for (std::size_t v = 1; v < all.size(); ++v) all[v] = all[v - 1] * kRatio + 1.0;
    return all;
  }
  // That one occurrence more leads to the next level; the last is never left.
  static constexpr std::array<double, kMostLevel + 1> chances() {
    std::array<double, kMostLevel + 1> all{};
    for (std::size_t v = 0; v < kMostLevel; ++v) all[v] = v == 0 ? 1.0 : all[v - 1] / kRatio;
    return all;
  }
  static const std::array<double, kMostLevel + 1> kCounts, kChances;

  CountedByte* word_;
};

inline constexpr std::array<double, Counter::kMostLevel + 1> Counter::kCounts = Counter::counts();
inline constexpr std::array<double, Counter::kMostLevel + 1> Counter::kChances = Counter::chances();

}  // namespace bear

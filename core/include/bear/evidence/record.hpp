// What is known about one selected feature since it was selected.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bear/hash.hpp"

namespace bear::evidence {

// The rows of a feature with the smallest hashes: two features share as many of them as their rows
// have in common. A row is known by its number, the lower half, and the run or part of one that
// numbered it. The first few also keep where they stand in the data.
struct Sample {
  static constexpr std::size_t kRows = 16, kPlaced = 4;

  std::uint32_t size = 0;
  std::array<std::uint64_t, kRows> rows{};
  std::array<std::uint64_t, kPlaced> places{};
  std::uint64_t limit = ~std::uint64_t{0};  // hash of the last row, once there are enough

  static std::uint64_t hash(std::uint64_t row) { return mix64(row + kGolden); }

  void add(std::uint64_t row, std::uint64_t own, std::uint64_t place) {
    if (own >= limit) return;
    std::size_t at = size;
    while (at > 0 && hash(rows[at - 1]) > own) --at;
    if (at > 0 && rows[at - 1] == row) return;
    size = std::min<std::uint32_t>(size + 1, kRows);
    for (std::size_t i = size - 1; i > at; --i) rows[i] = rows[i - 1];
    rows[at] = row;
    find_limit();
    if (at >= kPlaced) return;
    for (std::size_t i = kPlaced - 1; i > at; --i) places[i] = places[i - 1];
    places[at] = place;
  }

  void find_limit() { limit = size == kRows ? hash(rows[kRows - 1]) : ~std::uint64_t{0}; }
};

struct Record {
  std::uint64_t key = 0;
  double log_e = 0.0;
  float shift = 0.0F,
        variance = 0.0F;    // sums that steer the bet: of score minus mean, and variance
  float stake = 0.0F;       // 0 until the test starts
  float mean = 0.0F;        // of the feature's values: splits a column every row has
  std::uint32_t label = 0;  // the class that is tested, where there are several
  bool live = false;
  std::uint64_t rows = 0;   // that had the feature
  std::uint64_t since = 0;  // rows of the run before it was selected
  Sample sample;

  bool tested() const { return stake > 0.0F; }
};

// The bank of all tests: what they are staked with, and what is left of it.
struct Bank {
  double cash = 1.0;
  std::uint64_t begun = 0;

  float stake(std::size_t slots) {
    const auto amount = static_cast<float>(cash / static_cast<double>(2 * slots + begun));
    cash -= static_cast<double>(amount);
    ++begun;
    return amount;
  }
  // Of a test that stops. Never more than the stake: then no set of tests could fall below 0.
  void take_back(const Record& record);
};

}  // namespace bear::evidence

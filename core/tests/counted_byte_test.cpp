#include "bear/storage/counted_byte.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "bear/storage/byte_cells.hpp"
#include "helpers.hpp"

using namespace bear;

TEST_CASE("every number of its spacing is kept, whatever the counter's bit") {
  for (int number = -CountedByte::kTop; number <= CountedByte::kTop; ++number) {
    const int size = std::abs(number), spacing = size < 32 ? 1 : size < 64 ? 2 : 4;
    if (size % spacing != 0) continue;
    CAPTURE(number);
    for (const std::uint8_t bit : {std::uint8_t{0}, std::uint8_t{1}}) {
      const CountedByte byte = CountedByte{bit}.with(number);
      CHECK(byte.whole() == number);
      CHECK(static_cast<double>(byte) == number);
      CHECK((byte.bits & 1) == bit);
    }
  }
  // No byte is read as more than there is, should a file hold any.
  for (int bits = 0; bits < 256; ++bits) {
    CHECK(std::abs(CountedByte{static_cast<std::uint8_t>(bits)}.whole()) <= CountedByte::kTop);
  }
}

TEST_CASE("rounding is to one of the two numbers around, in proportion") {
  using Number = Digits<CountedByte>;
  test::Random random(3);
  for (const double x :
       {-200.0, -124.0, -123.0, -99.5, -64.1, -63.0, -33.3, -32.0, -31.9, -0.2,  0.0,
        0.7,    31.2,   31.99,  32.5,  62.7,  63.9,  64.0,  121.0, 123.9, 124.0, 500.0}) {
    CAPTURE(x);
    const double inside = std::min(std::max(x, -124.0), 124.0);
    double mean = 0.0;
    for (int i = 0; i < 4000; ++i) {
      const int found = Number::round(x, random.uniform());
      REQUIRE(CountedByte{}.with(found).whole() == found);
      REQUIRE(std::abs(found - inside) < 4.0);
      mean += found / 4000.0;
    }
    CHECK(std::abs(mean - inside) < 0.16);  // five standard errors where numbers are 4 apart
  }
}

TEST_CASE("a counter counts, within a fifth, and leaves the numbers alone") {
  test::Random random(5);
  for (const double times : {1.0, 2.5, 20.0}) {
    CAPTURE(times);
    double mean = 0.0;
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<CountedByte> word(Counter::kBytes);
      for (std::size_t i = 0; i < word.size(); ++i) word[i] = word[i].with(static_cast<int>(i) - 4);
      CHECK(Counter::count_of(word.data()) == 0.0);
      for (int i = 0; i < 400; ++i) Counter(word.data()).add(times, random.uniform());
      for (std::size_t i = 0; i < word.size(); ++i)
        CHECK(word[i].whole() == static_cast<int>(i) - 4);
      mean += Counter::count_of(word.data()) / 200.0;
    }
    // One counter is off by a fifth, the mean of 200 by a seventieth.
    CHECK(std::abs(mean / (400.0 * times) - 1.0) < 0.07);
  }
}

TEST_CASE("a counter takes any count, and stays at the most it can") {
  std::vector<CountedByte> word(Counter::kBytes);
  Counter(word.data()).set(1.0, 0.99);
  CHECK(Counter::count_of(word.data()) == 1.0);
  Counter(word.data()).set(1e300, 0.5);
  const double most = Counter::count_of(word.data());
  CHECK(most > 4e9);
  Counter(word.data()).add(1e300, 0.0);
  CHECK(Counter::count_of(word.data()) == most);
  Counter(word.data()).set(0.0, 0.0);
  CHECK(Counter::count_of(word.data()) == 0.0);
}

TEST_CASE("cells count by the word that their first byte lies in") {
  Cells<CountedByte> cells(7, 3, 1);  // 21 bytes: two words, and five bytes that are in none
  REQUIRE(cells.counting());
  CHECK(cells.word_of(2 * 3) == 0);
  for (std::size_t cell = 3; cell < 7; ++cell) CHECK(cells.word_of(cell * 3) == 8);
  Counter(cells.first() + cells.word_of(9)).add(5.0, 0.5);
  const auto counts = cells.counts();
  CHECK(counts[0] == 0.0);
  CHECK(counts[1] > 0.0);
  cells.set_counts(std::vector<double>{1.0, 0.0});
  CHECK(cells.counts() == std::vector<double>{1.0, 0.0});
  CHECK_THROWS_AS(cells.set_counts(std::vector<double>{1.0}), std::invalid_argument);
}

TEST_CASE("too few cells for a word count nothing") {
  const volatile std::size_t few =
      7;  // the compiler warns of what is never reached with a constant
  Cells<CountedByte> cells(few, 1, 1);
  CHECK_FALSE(cells.counting());
  CHECK(cells.counts().empty());
}

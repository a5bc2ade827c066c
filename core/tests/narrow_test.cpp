#include "bear/narrow.hpp"

#include <doctest/doctest.h>

#include "bear/storage/byte_cells.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

Recipe recipe_of(Precision precision, std::size_t classes) {
  Recipe recipe;
  recipe.storage = Recipe::StorageKind::cached;
  recipe.update =
      precision == Precision::int8 ? Recipe::UpdateKind::posterior : Recipe::UpdateKind::gradient;
  recipe.width = 50;
  recipe.precision = precision;
  recipe.loss = Recipe::LossKind::softmax;
  recipe.classes = classes;
  return recipe;
}

// Rows of two classes of which one row in three is of the other, in room for more.
test::Rows two_classes() {
  test::Random random(3);
  test::Rows rows = test::random_rows(random, 200, 100, 0.1);
  for (std::size_t i = 0; i < rows.labels.size(); ++i) rows.labels[i] = i % 3 == 0 ? 1.0 : 4.0;
  return rows;
}

std::unique_ptr<Learner> narrowed(Learner& wide, const std::vector<std::size_t>& classes) {
  Recipe recipe = wide.recipe();
  recipe.classes = classes.size();
  auto narrow = std::make_unique<Learner>(recipe);
  const auto cells = narrow_cells(wide, classes);
  const auto to = narrow->storage().bytes();
  REQUIRE(cells.size() == to.size());
  std::copy(cells.begin(), cells.end(), to.begin());
  narrow->storage().restore(wide.storage().numbers());
  return narrow;
}

}  // namespace

TEST_CASE("weights of the classes that stay are as they were") {
  const test::Rows rows = two_classes();
  for (const Precision precision : {Precision::float32, Precision::float64, Precision::int8}) {
    for (const std::size_t classes : {5U, 9U, 20U}) {
      CAPTURE(classes);
      Learner wide(recipe_of(precision, classes));
      wide.learn(rows.view(), {});
      const auto narrow = narrowed(wide, {1, 4});
      std::vector<Key> keys(100);
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
      std::vector<double> before(keys.size() * classes), after(keys.size() * 2);
      wide.query(keys, before);
      narrow->query(keys, after);
      double largest = 0.0;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        CHECK(after[2 * i] == before[classes * i + 1]);
        CHECK(after[2 * i + 1] == before[classes * i + 4]);
        largest = std::max(largest, std::abs(after[2 * i]));
      }
      CHECK(largest > 0.01);
    }
  }
}

TEST_CASE("what was counted is not lost: it adds up to about the same, word by word") {
  for (const std::size_t classes : {5U, 8U, 20U}) {
    CAPTURE(classes);
    Learner wide(recipe_of(Precision::int8, classes));
    wide.learn(two_classes().view(), {});
    const auto narrow = narrowed(wide, {1, 4});
    const auto counts = narrow->storage().counting()->counts();
    REQUIRE(counts.size() == 12);  // of 50 cells, four to a word, and two that are left over
    // Of eight and more bytes every cell has a word, which is the one it begins in.
    if (classes < 8) continue;
    const auto before = wide.storage().counting()->counts();
    for (std::size_t word = 0; word < counts.size(); ++word) {
      double sum = 0.0;
      const std::size_t last = word + 1 == counts.size() ? 50 : 4 * (word + 1);
      for (std::size_t cell = 4 * word; cell < last; ++cell) {
        sum += before[std::min(cell * classes / 8, before.size() - 1)];
      }
      CHECK(counts[word] == doctest::Approx(sum).epsilon(0.09));
      CHECK(sum > 0.0);
    }
  }
}

TEST_CASE("a class that there is not is refused") {
  Learner wide(recipe_of(Precision::int8, 3));
  CHECK_THROWS_AS(narrow_cells(wide, {0, 3}), std::invalid_argument);
}

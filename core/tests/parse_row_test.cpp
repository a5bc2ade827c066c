#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bear/parse/row.hpp"

using namespace bear::parse;
using bear::Key;

namespace bear::parse {

struct RowProbe {
  static void add(Row& row, Key key, std::string_view name) {
    std::copy(name.begin(), name.end(), row.text_.room(name.size() + copy_slack));
    row.add_written(name.size(), 1);
    row.hashed_.push(key);
  }
};

}  // namespace bear::parse

namespace {

struct Made {
  Row::Finished finished;
  std::vector<Key> keys;
  std::vector<float> values;
};

Made make(const std::vector<std::pair<Key, float>>& entries,
          Duplicates duplicates = Duplicates::sum) {
  Row row{Options{}};
  Block block;
  row.start(block);
  for (const auto& [key, value] : entries) CHECK(row.add(key, value) == Row::Added::yes);
  Made made{row.finish(duplicates), {}, {}};
  made.keys.assign(block.keys.begin(), block.keys.end());
  made.values.assign(block.values.begin(), block.values.end());
  return made;
}

}  // namespace

TEST_CASE("a row is sorted by key") {
  const Made made = make({{5, 1}, {2, 2}, {~Key{0}, 3}, {3, 4}});
  CHECK(made.keys == std::vector<Key>{2, 3, 5, ~Key{0}});
  CHECK(made.values == std::vector<float>{2, 4, 1, 3});
}

TEST_CASE("long rows are sorted the same way") {
  for (const std::size_t n : {25u, 300u, 5000u}) {
    for (const int shift : {0, 40}) {  // keys that spread over the buckets, and keys that do not
      std::vector<std::pair<Key, float>> entries;
      for (std::size_t i = 0; i < n; ++i)
        entries.emplace_back(bear::mix64(i) >> shift, static_cast<float>(i + 1));
      const Made made = make(entries);
      std::sort(entries.begin(), entries.end());
      REQUIRE(made.keys.size() == n);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(made.keys[i] == entries[i].first);
        CHECK(made.values[i] == entries[i].second);
      }
    }
  }
}

TEST_CASE("equal keys add up, the same in any order") {
  std::vector<std::pair<Key, float>> entries = {{7, 1e8F}, {7, 1.5F}, {7, -1e8F}, {7, 3e-5F},
                                                {1, 2},    {9, 1},    {9, -1}};
  const Made first = make(entries);
  CHECK(first.keys == std::vector<Key>{1, 7});  // the sum for 9 is 0: absent
  std::sort(entries.begin(), entries.end());
  do {
    const Made made = make(entries);
    CHECK(made.keys == first.keys);
    CHECK(made.values == first.values);
  } while (std::next_permutation(entries.begin(), entries.end()));
}

TEST_CASE("equal keys are refused when they must not be") {
  CHECK(make({{7, 1}, {8, 1}, {7, 2}}, Duplicates::refuse).finished == Row::Finished::duplicate);
  CHECK(make({{7, 1}, {7, 2}}, Duplicates::refuse).finished == Row::Finished::duplicate);
  CHECK(make({{7, 1}, {6, 2}}, Duplicates::refuse).finished == Row::Finished::yes);
}

TEST_CASE("equal names count once where asked, and add up elsewhere in the row") {
  Row row{Options{}};
  Block block;
  row.start(block);
  const auto add = [&](std::string_view name) { CHECK(row.add(name, 1, 1) == Row::Added::yes); };
  for (const std::string_view name : {"n", "n", "both"}) add(name);
  row.count_once(true);
  row.count_once(true);
  for (const std::string_view name : {"w", "both", "w", "w", "both"}) add(name);
  row.count_once(false);
  for (const std::string_view name : {"n", "both"}) add(name);
  CHECK(row.finish(Duplicates::sum) == Row::Finished::yes);
  CHECK(row.duplicates() == 7);
  std::vector<std::pair<std::string, float>> made;
  for (std::size_t i = 0; i < block.keys.size(); ++i) {
    made.emplace_back(block.names[i], block.values[i]);
  }
  std::sort(made.begin(), made.end());
  CHECK(made == std::vector<std::pair<std::string, float>>{{"both", 3}, {"n", 3}, {"w", 1}});
}

TEST_CASE("a sum beyond float32 is an error") {
  const float large = std::numeric_limits<float>::max();
  CHECK(make({{7, large}, {7, large}}).finished == Row::Finished::out_of_range);
  CHECK(make({{7, large}, {7, -large}, {7, 1}}).finished == Row::Finished::yes);
}

TEST_CASE("names follow their entries, and two names on one key are counted") {
  Row row{Options{}};
  Block block;
  row.start(block);
  row.use_space("n^");
  for (const std::string_view name : {"c", "a", "b", "a"})
    CHECK(row.add(name, 1, 1) == Row::Added::yes);
  CHECK(row.finish(Duplicates::sum) == Row::Finished::yes);
  CHECK(row.duplicates() == 1);
  CHECK(row.collisions() == 0);
  REQUIRE(block.names.size() == 3);
  const bear::NameHash hash(0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(block.keys[i] == hash(block.names[i]));

  Block clash;
  row.start(clash);
  for (const std::string_view name : {"x", "y", "x"}) RowProbe::add(row, 4, name);
  CHECK(row.finish(Duplicates::sum) == Row::Finished::yes);
  CHECK(row.duplicates() == 2);
  CHECK(row.collisions() == 1);
  CHECK(clash.names.size() == 1);
}

TEST_CASE("the number of features is limited") {
  Options options;
  options.max_features = 3;
  Row row{options};
  Block block;
  row.start(block);
  for (Key key = 1; key <= 3; ++key) CHECK(row.add(key, 1) == Row::Added::yes);
  CHECK(row.add(Key{9}, 0) == Row::Added::yes);  // absent, so not a feature
  CHECK(row.add(Key{9}, 1) == Row::Added::too_many);
}

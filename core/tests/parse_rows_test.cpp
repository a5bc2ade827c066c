#include <doctest/doctest.h>

#include <string>

#include "bear/parse/rows.hpp"
#include "bear/parse/table.hpp"

using namespace bear::parse;

TEST_CASE("rows are put in order of their keys, repeated features add up, zeros are dropped") {
  RowBuilder builder(2, 7, true, 100, 100);
  builder.add(1, 0, "c=", "x", 1);
  builder.add(0, 0, "c=", "y", 2);
  builder.use_name("n");
  builder.add_used(0, 1, 0.5);
  builder.add_used(0, 1, 0.25);
  builder.add_used(1, 1, 0);
  builder.add(1, 2, "m^", "u", 1);
  builder.add(1, 2, "m^", "u", -1);
  const Rows rows = builder.finish();
  REQUIRE(rows.indptr == std::vector<std::int64_t>{0, 2, 3});
  CHECK(rows.keys[0] < rows.keys[1]);
  const bear::NameHash hash(7);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name(rows.name_data.begin() + static_cast<long>(rows.name_offsets[i]),
                           rows.name_data.begin() + static_cast<long>(rows.name_offsets[i + 1]));
    CHECK(rows.keys[i] == hash(name));
    CHECK(rows.values[i] == (name == "n" ? 0.75F : name == "c=y" ? 2.0F : 1.0F));
  }
}

TEST_CASE("a row with an error is left out, and its first column is told") {
  RowBuilder builder(3, 0, false, 5, 2);
  builder.add(0, 4, "c=", "too long", 1);
  builder.use_name("n");
  builder.add_used(0, 2, 1e300);
  builder.add_used(1, 2, 1);
  for (const char* name : {"a", "b", "c"}) builder.add(2, 0, "", name, 1);
  const Rows rows = builder.finish();
  CHECK(rows.kept == std::vector<std::size_t>{1});
  REQUIRE(rows.errors.size() == 2);
  CHECK(std::string(rows.errors[0].code) == "TAB-VALUE-RANGE");
  CHECK(rows.errors[0].column == 2);
  CHECK(std::string(rows.errors[1].code) == "TAB-FEATURES");
  CHECK(rows.name_offsets.empty());
}

TEST_CASE("cells as numbers") {
  double value = 0;
  CHECK(cell_number("", value) == NumberKind::absent);
  CHECK(cell_number("  ", value) == NumberKind::absent);
  CHECK(cell_number(" +1.5e1 ", value) == NumberKind::number);
  CHECK(value == 15.0);
  CHECK(cell_number("1e400", value) == NumberKind::out_of_range);
  CHECK(cell_number("-Inf", value) == NumberKind::not_finite);
  for (const char* mark : {"NA", "N/A", "n/a", "null", "NULL", "None", " NA\t"})
    CHECK(cell_number(mark, value) == NumberKind::absent);
  for (const char* text : {"1,5", "0x1", "1 2", "-", "abc", "1e", "na", "none", "Null", "-NA"})
    CHECK(cell_number(text, value) == NumberKind::text);
}

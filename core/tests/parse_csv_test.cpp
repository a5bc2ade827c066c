#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bear/parse/csv.hpp"

using namespace bear::parse;
using namespace std::string_literals;

namespace {

struct Told {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> errors;
  std::int64_t lines = 0;
};

// Reads a table in chunks of a fixed size, `rows` rows at a time.
Told read_all(const std::string& text, std::size_t chunk, std::size_t rows, std::size_t columns,
              std::size_t max_record = 1000) {
  CsvTable table(',', max_record);
  table.expect_columns(columns);
  Told told;
  std::size_t at = 0;
  while (!table.done() || table.n_rows() > 0) {
    while (!table.read(rows, 1000)) {
      const std::size_t size = std::min(chunk, text.size() - at);
      table.feed({text.data() + at, size}, at + size == text.size());
      at += size;
    }
    for (std::size_t r = 0; r < table.n_rows(); ++r) {
      auto& row = told.rows.emplace_back();
      for (std::size_t c = 0; c < table.row_columns(r); ++c) row.emplace_back(table.cell(r, c));
    }
    for (const RecordError& e : table.errors())
      told.errors.push_back(std::string(e.code) + ":" + std::to_string(e.line) + ":" +
                            std::to_string(e.column));
    told.lines += table.counts().lines;
    table.drop(table.n_rows());
  }
  return told;
}

}  // namespace

TEST_CASE("a record that is not all there yet stays when the rows before it are dropped") {
  for (const std::string start : {"3,", "3,\"a", "3", "3,\r"}) {
    CAPTURE(start);
    CsvTable whole(',', 100), cut(',', 100);
    const std::string rest = start.back() == '\r' ? "\n" : start == "3,\"a" ? "b\"\n" : "5,4\n";
    whole.feed(start + rest, true);
    REQUIRE(whole.read(10, 1000));
    cut.feed("1,2\n10,20\n" + start, false);
    CHECK(!cut.read(10, 1000));
    REQUIRE(cut.n_rows() == 2);
    cut.drop(1);
    CHECK(cut.cell(0, 1) == "20");
    cut.drop(1);
    cut.feed(rest, true);
    REQUIRE(cut.read(10, 1000));
    REQUIRE(cut.n_rows() == 1);
    REQUIRE(cut.row_columns(0) == whole.row_columns(0));
    for (std::size_t c = 0; c < whole.row_columns(0); ++c)
      CHECK(cut.cell(0, c) == whole.cell(0, c));
    CHECK(cut.line_of(0) == 3);
  }
}

TEST_CASE("cells, quotes and line ends") {
  const Told told = read_all("a,\"b,\"\"c\"\"\"\r\n\"x\r\ny\",\n\n,z", 1000, 10, 2);
  CHECK(told.rows ==
        std::vector<std::vector<std::string>>{{"a", "b,\"c\""}, {"x\ny", ""}, {"", "z"}});
  CHECK(told.errors.empty());
  CHECK(told.lines == 4);
}

TEST_CASE("chunks and row counts do not matter") {
  const std::string text =
      "\xef\xbb\xbf"
      "a,b\nc\n\"q\"r,1\n\"long, long\",2\r\n1,2,3\n\0,1\nx\ry,1\n"s +
      std::string(80, 'w') + ",1\nlast,\"open\n1,2\n";
  const Told whole = read_all(text, text.size(), 100, 2, 60);
  CHECK(whole.rows.size() == 2);
  CHECK(whole.errors.size() == 7);
  for (std::size_t chunk = 1; chunk < text.size(); ++chunk) {
    for (const std::size_t rows : {1U, 2U, 7U}) {
      const Told told = read_all(text, chunk, rows, 2, 60);
      REQUIRE(told.rows == whole.rows);
      REQUIRE(told.errors == whole.errors);
      REQUIRE(told.lines == whole.lines);
    }
  }
}

TEST_CASE("rows are dropped from the front") {
  CsvTable table(',', 100);
  table.feed("a,b\nc,d\ne,f\n", true);
  REQUIRE(table.read(3, 1000));
  table.drop(1);
  REQUIRE(table.n_rows() == 2);
  CHECK(table.cell(0, 1) == "d");
  CHECK(table.cell(1, 0) == "e");
  CHECK(table.line_of(1) == 3);
}

TEST_CASE("an endless record is refused without being kept") {
  CsvTable table(',', 1000);
  const std::string part(100, 'x');
  for (int i = 0; i < 100; ++i) {
    table.feed(part, false);
    REQUIRE_FALSE(table.read(1, 1000));
  }
  table.feed("\na,b\n", true);
  REQUIRE(table.read(1, 1000));
  REQUIRE(table.errors().size() == 1);
  CHECK(std::string(table.errors()[0].code) == "COM-LINE-LONG");
  CHECK(table.cell(0, 0) == "a");
}

TEST_CASE("cells of text give n-grams, counted or not") {
  CsvTable table(',', 1000);
  table.feed("a b a,1\n,2\nB,3\n", true);
  REQUIRE(table.read(10, 1000));
  for (const bool counts : {true, false}) {
    NgramOptions options;
    options.counts = counts;
    RowBuilder builder(3, 7, true, 100, 100);
    add_ngrams(table, {0, true, "t"}, options, 0, 3, builder);
    const Rows rows = builder.finish();
    CHECK(rows.indptr == std::vector<std::int64_t>{0, 2, 2, 3});
    std::vector<std::string> told;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string name(rows.name_data.begin() + static_cast<long>(rows.name_offsets[i]),
                             rows.name_data.begin() + static_cast<long>(rows.name_offsets[i + 1]));
      told.push_back(name + "=" + std::to_string(static_cast<int>(rows.values[i])));
    }
    std::sort(told.begin(), told.end());
    CHECK(told == std::vector<std::string>{counts ? "t^a=2" : "t^a=1", "t^b=1", "t^b=1"});
  }
}

// Tables of any bytes: nothing crashes, every record is accounted for, chunks do not matter.
#include "bear/parse/csv.hpp"

#include <cmath>
#include <tuple>

#include "check.hpp"

namespace bear::parse::testing {

struct TableTold {
  std::vector<std::string> cells;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> errors;
  std::vector<Key> keys;
  std::size_t rows = 0;
  CsvCounts counts;
  bool operator==(const TableTold& other) const {
    return cells == other.cells && errors == other.errors && keys == other.keys &&
           rows == other.rows && counts.lines == other.counts.lines &&
           counts.blank == other.counts.blank && counts.skipped == other.counts.skipped;
  }
};

inline void add_features(const CsvTable& table, TableTold& told) {
  RowBuilder builder(table.n_rows(), 1, true, 20, 5);
  table.add_column({0, true, "a"}, 0, table.n_rows(), builder);
  table.add_column({1, false, "b"}, 0, table.n_rows(), builder);
  const Rows rows = builder.finish();
  require(rows.kept.size() + rows.errors.size() == table.n_rows(), "every row is kept or an error");
  for (const float value : rows.values) require(std::isfinite(value) && value != 0, "values");
  told.keys.insert(told.keys.end(), rows.keys.begin(), rows.keys.end());
}

inline TableTold read_table(std::string_view text, std::size_t chunk) {
  CsvTable table(',', 100);
  table.expect_columns(2);
  TableTold told;
  std::size_t at = 0;
  do {
    while (!table.read(3, 50)) {
      const std::size_t size = std::min(chunk, text.size() - at);
      table.feed(text.substr(at, size), at + size == text.size());
      at += size;
    }
    add_features(table, told);
    for (std::size_t row = 0; row < table.n_rows(); ++row)
      for (std::size_t c = 0; c < 2; ++c) told.cells.emplace_back(table.cell(row, c));
    for (const RecordError& e : table.errors()) told.errors.emplace_back(e.line, e.column, e.code);
    told.rows += table.n_rows();
    told.counts.lines += table.counts().lines;
    told.counts.blank += table.counts().blank;
    told.counts.skipped += table.counts().skipped;
    table.drop(table.n_rows());
  } while (!table.done());
  return told;
}

}  // namespace bear::parse::testing

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace bear::parse::testing;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TableTold whole = read_table(text, size + 1);
  const auto lines = static_cast<std::size_t>(whole.counts.lines);
  const auto blank = static_cast<std::size_t>(whole.counts.blank);
  require(lines == whole.rows + blank + whole.errors.size(), "every record is accounted for");
  require(static_cast<std::size_t>(whole.counts.skipped) == whole.errors.size(), "skipped");
  for (const auto& [line, column, code] : whole.errors)
    require(line >= 1 && column >= 1, "errors have a place");
  require(read_table(text, second_options(text) ? 1 : 7) == whole, "chunks do not matter");
  return 0;
}

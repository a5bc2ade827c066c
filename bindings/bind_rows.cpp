// Tables (CSV, Arrow) to batch arrays.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bear/parse/arrow.hpp"
#include "bear/parse/csv.hpp"
#include "bear/parse/rows.hpp"

using namespace nb::literals;

namespace {

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// (column, kind, name): a kind is 0 for numbers, 1 for categories, 2 for text, 3 for times and 4
// for times without the number of the day.
using Use = std::tuple<std::size_t, int, nb::bytes>;
using Uses = std::vector<Use>;
// (words from, to, characters from, to, lower case, counts), as NgramOptions
using NgramNumbers = std::tuple<int, int, int, int, bool, bool>;
constexpr int kText = 2, kTime = 3, kClock = 4;

struct Build {
  std::uint64_t seed;
  bool names;
  std::size_t max_name_bytes;
  std::size_t max_features;
  bear::parse::NgramOptions ngrams;
};

struct Wanted {
  bear::parse::ColumnUse use;
  int kind;
};

bear::parse::Rows build_rows(const bear::parse::Table& table, std::size_t first, std::size_t last,
                             const std::vector<Wanted>& columns, const Build& how) {
  if (first > last || last > table.n_rows()) throw std::invalid_argument("rows out of range");
  bear::parse::RowBuilder builder(last - first, how.seed, how.names, how.max_name_bytes,
                                  how.max_features);
  for (const auto& [use, kind] : columns) {
    if (kind == kTime || kind == kClock)
      add_moments(table, use, kind == kTime, first, last, builder);
    else if (kind == kText)
      add_ngrams(table, use, how.ngrams, first, last, builder);
    else
      table.add_column(use, first, last, builder);
  }
  return builder.finish();
}

nb::dict rows_to_dict(bear::parse::Rows&& rows, std::size_t first) {
  nb::dict out;
  std::vector<std::int64_t> kept(rows.kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = static_cast<std::int64_t>(rows.kept[i] + first);
  nb::list errors;
  for (const bear::parse::RowError& e : rows.errors)
    errors.append(nb::make_tuple(e.row + first, e.column, e.code, e.message, to_bytes(e.excerpt)));
  std::vector<std::uint8_t> name_data(rows.name_data.begin(), rows.name_data.end());
  const bool names = !rows.name_offsets.empty();
  out["kept"] = give(std::move(kept));
  out["indptr"] = give(std::move(rows.indptr));
  out["keys"] = give(std::move(rows.keys));
  out["values"] = give(std::move(rows.values));
  if (names) {
    out["name_data"] = give(std::move(name_data));
    out["name_offsets"] = give(std::move(rows.name_offsets));
  }
  out["errors"] = errors;
  return out;
}

// What the columns of a table are used for, once for all its rows. Numbers come first, in the order
// of their keys: rows of numbers alone need no sorting then.
class TableUses {
 public:
  TableUses(const Uses& uses, std::uint64_t seed) : seed(seed) {
    std::vector<std::pair<bear::Key, std::size_t>> numbers;
    const bear::NameHash hash(seed);
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (std::get<1>(uses[i]) == 0) numbers.emplace_back(hash(name_of(uses[i])), i);
    std::sort(numbers.begin(), numbers.end());
    wanted.reserve(uses.size());
    for (const auto& [key, i] : numbers) add(uses[i]);
    for (const Use& use : uses)
      if (std::get<1>(use) != 0) add(use);
  }

  std::vector<Wanted> wanted;
  std::uint64_t seed;

 private:
  static std::string name_of(const Use& use) {
    const nb::bytes& name = std::get<2>(use);
    return {name.c_str(), name.size()};
  }
  void add(const Use& use) {
    const int kind = std::get<1>(use);
    wanted.push_back({{std::get<0>(use), kind != 0, name_of(use)}, kind});
  }
};

// Rows first to last as arrays; see Rows.
nb::dict table_rows(const bear::parse::Table& table, std::size_t first, std::size_t last,
                    const TableUses& uses, bool names, std::size_t max_name_bytes,
                    std::size_t max_features, const NgramNumbers& n) {
  const bear::parse::NgramOptions ngrams{std::get<0>(n), std::get<1>(n), std::get<2>(n),
                                         std::get<3>(n), std::get<4>(n), std::get<5>(n)};
  bear::parse::Rows rows;
  {
    nb::gil_scoped_release free;
    rows = build_rows(table, first, last, uses.wanted,
                      {uses.seed, names, max_name_bytes, max_features, ngrams});
  }
  return rows_to_dict(std::move(rows), first);
}

// Numbers of a column: (values, kinds), kinds as in NumberKind, NaN where there is no number.
nb::tuple table_numbers(const bear::parse::Table& table, std::size_t column, std::size_t first,
                        std::size_t last) {
  std::vector<double> values(last - first, std::numeric_limits<double>::quiet_NaN());
  std::vector<std::uint8_t> kinds(last - first);
  for (std::size_t row = first; row < last; ++row) {
    double value = 0.0;
    bear::parse::NumberKind kind = table.number(row, column, value);
    if (kind == bear::parse::NumberKind::marked) kind = bear::parse::NumberKind::number;
    kinds[row - first] = static_cast<std::uint8_t>(kind);
    if (kind == bear::parse::NumberKind::number) values[row - first] = value;
  }
  return nb::make_tuple(give(std::move(values)), give(std::move(kinds)));
}

// How many cells of each column are of each kind, as NumberKind numbers them, and how many numbers
// are 0: a row of counts a column.
Out<std::int64_t> count_kinds(const bear::parse::Table& table,
                              const std::vector<std::size_t>& columns, std::size_t first,
                              std::size_t last) {
  if (first > last || last > table.n_rows()) throw std::invalid_argument("rows out of range");
  constexpr std::size_t kKinds = 8;
  std::vector<std::int64_t> counts(columns.size() * kKinds);
  {
    nb::gil_scoped_release free;
    for (std::size_t row = first; row < last; ++row)
      for (std::size_t i = 0; i < columns.size(); ++i) {
        double value = 1.0;
        const bear::parse::NumberKind kind = table.number(row, columns[i], value);
        ++counts[i * kKinds + static_cast<std::size_t>(kind)];
        const bool number =
            kind == bear::parse::NumberKind::number || kind == bear::parse::NumberKind::marked;
        if (number && value == 0.0) ++counts[i * kKinds + kKinds - 1];
      }
  }
  return give(std::move(counts), {columns.size(), kKinds});
}

// Of each column whether its cells are dates or times (1), and whether they rise or fall (2).
std::vector<int> find_times(const bear::parse::Table& table,
                            const std::vector<std::size_t>& columns, std::size_t first,
                            std::size_t last) {
  if (first > last || last > table.n_rows()) throw std::invalid_argument("rows out of range");
  std::vector<int> out;
  out.reserve(columns.size());
  for (const std::size_t column : columns)
    out.push_back(static_cast<int>(bear::parse::find_moments(table, column, first, last)));
  return out;
}

// Texts of a column as a list of bytes; empty where absent.
nb::list table_texts(const bear::parse::Table& table, std::size_t column, std::size_t first,
                     std::size_t last) {
  nb::list out;
  std::string text;
  for (std::size_t row = first; row < last; ++row) {
    if (!table.text(row, column, text)) text.clear();
    out.append(to_bytes(text));
  }
  return out;
}

nb::list record_errors(const bear::parse::CsvTable& table) {
  nb::list out;
  for (const bear::parse::RecordError& e : table.errors())
    out.append(nb::make_tuple(e.line, e.column, e.code, e.message, to_bytes(e.excerpt)));
  return out;
}

// An Arrow stream taken over from its capsule, and the record batch it stands at.
class ArrowReader {
 public:
  explicit ArrowReader(nb::handle capsule) {
    auto* from =
        static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (from == nullptr) throw nb::python_error();
    if (from->release == nullptr) throw std::invalid_argument("the Arrow stream is used up");
    stream_ = *from;
    from->release = nullptr;
    if (stream_.get_schema(&stream_, &schema_) != 0) {
      const std::string why = last_error();
      stream_.release(&stream_);
      throw std::invalid_argument(why);
    }
  }
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;
  ~ArrowReader() {
    if (array_.release != nullptr) array_.release(&array_);
    if (schema_.release != nullptr) schema_.release(&schema_);
    if (stream_.release != nullptr) stream_.release(&stream_);
  }

  // Moves to the next record batch; false at the end.
  bool next() {
    table_.reset();
    if (array_.release != nullptr) array_.release(&array_);
    array_ = {};
    if (stream_.get_next(&stream_, &array_) != 0) throw std::invalid_argument(last_error());
    if (array_.release == nullptr) return false;
    table_ = std::make_unique<bear::parse::ArrowTable>(schema_, array_);
    return true;
  }

  const bear::parse::Table& table() const {
    if (!table_) throw std::invalid_argument("no record batch: call next() first");
    return *table_;
  }

  // (name, shape, whether its values are categories) of each column.
  nb::list columns() const {
    nb::list out;
    for (std::int64_t i = 0; i < schema_.n_children; ++i) {
      const ArrowSchema& child = *schema_.children[i];
      out.append(nb::make_tuple(to_bytes(child.name == nullptr ? "" : child.name),
                                static_cast<int>(bear::parse::column_shape(child)),
                                child.dictionary != nullptr));
    }
    return out;
  }

 private:
  std::string last_error() {
    const char* why = stream_.get_last_error(&stream_);
    return why == nullptr ? "the Arrow stream failed" : why;
  }

  ArrowArrayStream stream_{};
  ArrowSchema schema_{};
  ArrowArray array_{};
  std::unique_ptr<bear::parse::ArrowTable> table_;
};

void bind_csv(nb::module_& m) {
  using bear::parse::CsvTable;
  nb::class_<CsvTable>(m, "CsvTable", "Rows of a comma- or tab-separated table, from chunks.")
      .def(
          "__init__",
          [](CsvTable* self, const std::string& delimiter, std::size_t max_record_bytes,
             const std::string& decimal) {
            if (delimiter.size() != 1 || decimal.size() != 1) {
              throw std::invalid_argument("delimiter and decimal must be one byte each");
            }
            new (self) CsvTable(delimiter[0], max_record_bytes, decimal[0]);
          },
          "delimiter"_a, "max_record_bytes"_a, "decimal"_a = ".")
      .def(
          "feed",
          [](CsvTable& self, nb::bytes chunk, bool final) {
            const std::string_view view(chunk.c_str(), chunk.size());
            nb::gil_scoped_release free;
            self.feed(view, final);
          },
          "chunk"_a, "final"_a)
      .def("read", &CsvTable::read, "max_rows"_a, "max_bytes"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("drop", &CsvTable::drop, "rows"_a)
      .def("expect_columns", &CsvTable::expect_columns, "columns"_a)
      .def(
          "cells",
          [](const CsvTable& self, std::size_t row) {
            if (row >= self.n_rows()) throw std::invalid_argument("row out of range");
            nb::list out;
            for (std::size_t i = 0; i < self.row_columns(row); ++i)
              out.append(to_bytes(self.cell(row, i)));
            return out;
          },
          "row"_a)
      .def(
          "lines",
          [](const CsvTable& self, std::size_t first, std::size_t last) {
            if (first > last || last > self.n_rows())
              throw std::invalid_argument("rows out of range");
            std::vector<std::int64_t> out(last - first);
            for (std::size_t i = first; i < last; ++i) out[i - first] = self.line_of(i);
            return give(std::move(out));
          },
          "first"_a, "last"_a)
      .def("end_of", &CsvTable::end_of, "row"_a)
      .def("end_line_of", &CsvTable::end_line_of, "row"_a)
      .def("column_of", &CsvTable::column_of, "row"_a, "column"_a)
      .def("rows",
           [](const CsvTable& t, std::size_t a, std::size_t b, const TableUses& u, bool names,
              std::size_t max_name, std::size_t max_features, const NgramNumbers& n) {
             return table_rows(t, a, b, u, names, max_name, max_features, n);
           })
      .def("times", [](const CsvTable& t, const std::vector<std::size_t>& c, std::size_t a,
                       std::size_t b) { return find_times(t, c, a, b); })
      .def("kinds", [](const CsvTable& t, const std::vector<std::size_t>& c, std::size_t a,
                       std::size_t b) { return count_kinds(t, c, a, b); })
      .def("numbers", [](const CsvTable& t, std::size_t c, std::size_t a,
                         std::size_t b) { return table_numbers(t, c, a, b); })
      .def("texts", [](const CsvTable& t, std::size_t c, std::size_t a,
                       std::size_t b) { return table_texts(t, c, a, b); })
      .def_prop_ro("errors", &record_errors)
      .def_prop_ro("counts",
                   [](const CsvTable& self) {
                     const bear::parse::CsvCounts& c = self.counts();
                     return nb::make_tuple(c.lines, c.blank, c.skipped);
                   })
      .def_prop_ro("n_rows", &CsvTable::n_rows)
      .def_prop_ro("line", &CsvTable::line)
      .def_prop_ro("done", &CsvTable::done)
      .def_prop_ro("had_bom", &CsvTable::had_bom)
      .def_prop_ro("no_final_newline", &CsvTable::no_final_newline);
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<TableUses>(m, "TableUses", "What the columns of a table are used for.")
      .def(nb::init<const Uses&, std::uint64_t>(), "uses"_a, "seed"_a);
  bind_csv(m);
  nb::class_<ArrowReader>(m, "ArrowReader", "Record batches of an Arrow stream as tables.")
      .def(nb::init<nb::handle>(), "capsule"_a)
      .def("next", &ArrowReader::next)
      .def_prop_ro("columns", &ArrowReader::columns)
      .def_prop_ro("n_rows", [](const ArrowReader& r) { return r.table().n_rows(); })
      .def("rows",
           [](const ArrowReader& r, std::size_t a, std::size_t b, const TableUses& u, bool names,
              std::size_t max_name, std::size_t max_features, const NgramNumbers& n) {
             return table_rows(r.table(), a, b, u, names, max_name, max_features, n);
           })
      .def("times", [](const ArrowReader& r, const std::vector<std::size_t>& c, std::size_t a,
                       std::size_t b) { return find_times(r.table(), c, a, b); })
      .def("kinds", [](const ArrowReader& r, const std::vector<std::size_t>& c, std::size_t a,
                       std::size_t b) { return count_kinds(r.table(), c, a, b); })
      .def("numbers", [](const ArrowReader& r, std::size_t c, std::size_t a,
                         std::size_t b) { return table_numbers(r.table(), c, a, b); })
      .def("texts", [](const ArrowReader& r, std::size_t c, std::size_t a, std::size_t b) {
        return table_texts(r.table(), c, a, b);
      });
}

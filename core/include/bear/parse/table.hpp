// What the readers of tables have in common: cells become features, labels and weights.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bear/parse/moment.hpp"
#include "bear/parse/ngram.hpp"
#include "bear/parse/rows.hpp"

namespace bear::parse {

// truth: true or false, which features have as 1 and 0, while a label keeps it apart. marked: a
// number with a sign of money or per cent, or with commas between its thousands.
enum class NumberKind { absent, number, not_finite, out_of_range, text, truth, marked };

inline bool has_value(NumberKind kind) {
  return kind == NumberKind::number || kind == NumberKind::truth || kind == NumberKind::marked;
}

// A cell as a number, spaces around it left out. An empty cell, and exactly "NA", "N/A",
// "n/a", "null", "NULL" or "None", is absent; "true" and "false" in small letters, with a capital
// or all in capitals are truth; "$1,200", "5 %" and "13,540" are marked; hexadecimal and decimal
// commas are text.
NumberKind cell_number(std::string_view cell, double& value);

// How one column becomes features: `name` for numbers, `name=value` for text and items of lists,
// `name^key` for maps and lists of pairs; see add_ngrams for text that is split.
struct ColumnUse {
  std::size_t column;
  bool categorical;
  std::string name;
};

// Why a cell of a numeric column cannot be used.
RowError number_error(NumberKind kind, std::size_t row, const ColumnUse& use,
                      std::string_view cell);

class Table {
 public:
  virtual ~Table() = default;
  virtual std::size_t n_rows() const = 0;
  // A cell as a number, for labels and sample weights.
  virtual NumberKind number(std::size_t row, std::size_t column, double& value) const = 0;
  // A cell as text, for labels; false = absent.
  virtual bool text(std::size_t row, std::size_t column, std::string& out) const = 0;
  // A cell as a date or time.
  virtual NumberKind moment(std::size_t row, std::size_t column, Moment& out) const;
  // Features of one column for rows first to last; `out` counts rows from `first`.
  virtual void add_column(const ColumnUse& use, std::size_t first, std::size_t last,
                          RowBuilder& out) const = 0;
};

// Features `name^ngram` of a column of text for rows first to last, as JSON Lines name them.
void add_ngrams(const Table& table, const ColumnUse& use, const NgramOptions& options,
                std::size_t first, std::size_t last, RowBuilder& out);

// Features of a column of dates or times: `name^hour=13`, `name^weekday=mon`, `name^month=5`, and
// with `days` the number `name^day` of days since 1970.
void add_moments(const Table& table, const ColumnUse& use, bool days, std::size_t first,
                 std::size_t last, RowBuilder& out);

// Whether the cells of a column are dates or times, and whether they rise nearly always, or fall.
enum class Moments { none, some, rising };
Moments find_moments(const Table& table, std::size_t column, std::size_t first, std::size_t last);

}  // namespace bear::parse

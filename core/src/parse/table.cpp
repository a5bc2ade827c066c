#include "bear/parse/table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "bear/parse/number.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {
namespace {

// How other programs write that a number is missing.
bool is_missing_mark(std::string_view cell) {
  constexpr std::string_view marks[] = {"NA", "N/A", "n/a", "null", "NULL", "None"};
  return std::find(std::begin(marks), std::end(marks), cell) != std::end(marks);
}

bool is_any(std::string_view cell, std::string_view a, std::string_view b, std::string_view c) {
  return cell == a || cell == b || cell == c;
}

}  // namespace

NumberKind cell_number(std::string_view cell, double& value) {
  while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  if (cell.empty()) return NumberKind::absent;
  if (read_number(cell, value))
    return std::isfinite(value) ? NumberKind::number : NumberKind::out_of_range;
  if (is_missing_mark(cell)) return NumberKind::absent;
  const bool yes = is_any(cell, "true", "True", "TRUE");
  if (yes || is_any(cell, "false", "False", "FALSE")) {
    value = yes ? 1.0 : 0.0;
    return NumberKind::truth;
  }
  if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
  return is_non_finite_word(cell) ? NumberKind::not_finite : NumberKind::text;
}

RowError number_error(NumberKind kind, std::size_t row, const ColumnUse& use,
                      std::string_view cell) {
  const std::string got = ", got " + quoted(cell);
  const std::string column = "value of column " + quoted(use.name);
  if (kind == NumberKind::not_finite)
    return {row, use.column, "TAB-VALUE-FINITE", column + " must be finite" + got, {}};
  if (kind == NumberKind::out_of_range)
    return {row, use.column, "TAB-VALUE-RANGE", column + " exceeds float32 range" + got, {}};
  return {row, use.column, "TAB-VALUE", column + " must be a number" + got, {}};
}

void add_ngrams(const Table& table, const ColumnUse& use, const NgramOptions& options,
                std::size_t first, std::size_t last, RowBuilder& out) {
  Ngrams ngrams(options);
  const std::string prefix = use.name + "^";
  std::string text;
  std::vector<std::string> seen;
  for (std::size_t row = first; row < last; ++row) {
    if (!table.text(row, use.column, text)) continue;
    const auto add = [&](std::string_view name) {
      out.add(row - first, use.column, {}, name, 1.0);
      return true;
    };
    if (options.counts) {  // the builder sums
      ngrams.each(text, prefix, add);
      continue;
    }
    seen.clear();
    ngrams.each(text, prefix, [&](std::string_view name) {
      seen.emplace_back(name);
      return true;
    });
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::string& name : seen) add(name);
  }
}

}  // namespace bear::parse

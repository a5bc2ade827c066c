#include "bear/parse/table.hpp"

#include <cmath>

#include "bear/parse/number.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

NumberKind cell_number(std::string_view cell, double& value) {
  while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  if (cell.empty()) return NumberKind::absent;
  if (read_number(cell, value))
    return std::isfinite(value) ? NumberKind::number : NumberKind::out_of_range;
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

}  // namespace bear::parse

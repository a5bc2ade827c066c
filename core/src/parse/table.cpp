#include "bear/parse/table.hpp"

namespace bear {

RowError number_error(NumberKind kind, std::size_t row, const ColumnUse& use,
                      std::string_view cell) {
  const std::string column = " in numeric column '" + use.name + "'";
  const std::string excerpt(cell.substr(0, 40));
  if (kind == NumberKind::not_finite)
    return {row, use.column, "TAB-VALUE-FINITE", "a value that is not finite" + column, excerpt};
  if (kind == NumberKind::out_of_range)
    return {row, use.column, "TAB-VALUE-RANGE", "a value above the range of float32" + column,
            excerpt};
  return {row, use.column, "TAB-VALUE", "a value that is not a number" + column, excerpt};
}

}  // namespace bear

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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes a sign of money from the front, or from the back with the blanks before it.
bool take_money(std::string_view& text, bool front) {
  constexpr std::string_view signs[] = {"$", "\xc2\xa3", "\xe2\x82\xac", "\xc2\xa5"};
  for (const std::string_view sign : signs) {
    if (text.size() < sign.size()) continue;
    if (text.substr(front ? 0 : text.size() - sign.size(), sign.size()) != sign) continue;
    if (front)
      text.remove_prefix(sign.size());
    else
      text.remove_suffix(sign.size());
    return true;
  }
  return false;
}

// Takes the commas between thousands out: "1,234,567.8". False where they stand elsewhere, as in
// "1,5" or "0,123", which are decimals of another country.
bool ungroup(std::string_view digits, std::string& out) {
  std::size_t run = 0;
  bool grouped = false;
  std::size_t at = 0;
  for (; at < digits.size() && (is_digit(digits[at]) || digits[at] == ','); ++at) {
    if (digits[at] != ',') {
      out += digits[at];
      ++run;
      continue;
    }
    if (run == 0 || run > 3 || (grouped && run != 3) || (!grouped && digits[0] == '0'))
      return false;
    grouped = true;
    run = 0;
  }
  if (grouped && run != 3) return false;
  out += digits.substr(at);
  return out.find(',') == std::string::npos;
}

// "$1,200.50", "-5 %" or "13,540"; false for what has no such mark.
bool read_marked(std::string_view cell, double& value) {
  const std::size_t whole = cell.size();
  bool negative = false;
  const auto take_sign = [&] {
    if (cell.empty() || (cell.front() != '-' && cell.front() != '+')) return false;
    negative = cell.front() == '-';
    cell.remove_prefix(1);
    return true;
  };
  const bool has_sign = take_sign();
  bool marked = take_money(cell, true);
  while (marked && !cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  if (marked && !has_sign) take_sign();
  if (!marked && !cell.empty() && cell.back() == '%') {
    cell.remove_suffix(1);
    marked = true;
  } else if (!marked) {
    marked = take_money(cell, false);
  }
  while (marked && !cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  if (cell.empty() || whole > 64 || !(is_digit(cell.front()) || cell.front() == '.')) return false;
  marked = marked || cell.find(',') != std::string_view::npos;
  std::string plain;
  if (!marked || !ungroup(cell, plain) || !read_number(plain, value)) return false;
  if (negative) value = -value;
  return true;
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
  if (read_marked(cell, value))
    return std::isfinite(value) ? NumberKind::marked : NumberKind::out_of_range;
  if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
  return is_non_finite_word(cell) ? NumberKind::not_finite : NumberKind::text;
}

NumberKind Table::moment(std::size_t row, std::size_t column, Moment& out) const {
  std::string text;
  if (!this->text(row, column, text)) return NumberKind::absent;
  std::string_view cell = text;
  while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  if (cell.empty() || is_missing_mark(cell)) return NumberKind::absent;
  return read_moment(cell, out) ? NumberKind::number : NumberKind::text;
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

void add_moments(const Table& table, const ColumnUse& use, bool days, std::size_t first,
                 std::size_t last, RowBuilder& out) {
  constexpr const char* weekdays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  const std::string prefix = use.name + "^";
  Moment moment;
  for (std::size_t row = first; row < last; ++row) {
    const NumberKind kind = table.moment(row, use.column, moment);
    if (kind == NumberKind::absent) continue;
    if (kind != NumberKind::number) {
      std::string shown;
      table.text(row, use.column, shown);
      out.fail(
          {row - first,
           use.column,
           "TAB-TIME",
           "value of column " + quoted(use.name) + " must be a date or time, got " + quoted(shown),
           {}});
      continue;
    }
    const auto add = [&](const std::string& name, double value) {
      out.add(row - first, use.column, prefix, name, value);
    };
    if (moment.hour >= 0) add("hour=" + std::to_string(moment.hour), 1.0);
    add(std::string("weekday=") + weekdays[moment.weekday], 1.0);
    add("month=" + std::to_string(moment.month), 1.0);
    if (days) add("day", static_cast<double>(moment.day));
  }
}

Moments find_moments(const Table& table, std::size_t column, std::size_t first, std::size_t last) {
  constexpr std::size_t kLeast = 50;  // of fewer nothing is said
  constexpr double kNearlyAll = 0.95;
  std::size_t found = 0, rises = 0, falls = 0;
  std::int64_t before = 0;
  Moment moment;
  for (std::size_t row = first; row < last; ++row) {
    const NumberKind kind = table.moment(row, column, moment);
    if (kind == NumberKind::absent) continue;
    if (kind != NumberKind::number) return Moments::none;
    if (found > 0 && moment.seconds != before) ++(moment.seconds > before ? rises : falls);
    before = moment.seconds;
    ++found;
  }
  if (found == 0) return Moments::none;
  const double most = kNearlyAll * static_cast<double>(rises + falls);
  const bool one_way = static_cast<double>(std::max(rises, falls)) >= most;
  return found >= kLeast && rises + falls > 0 && one_way ? Moments::rising : Moments::some;
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

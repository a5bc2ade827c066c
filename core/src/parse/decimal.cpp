#include "bear/parse/decimal.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace bear {
namespace {

std::string_view trim(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

// from_chars does not tell an overflow from an underflow: whether the first digit that is not 0
// stands left of the point, once the exponent has moved it, does.
bool is_large(std::string_view number) {
  const auto e = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, e);
  const auto first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto point = digits.find('.') == std::string_view::npos ? digits.size() : digits.find('.');
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  if (e == std::string_view::npos) return place > 0;
  std::string_view exponent = number.substr(e + 1);
  if (!exponent.empty() && exponent.front() == '+') exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (read.ec == std::errc::result_out_of_range) return exponent.front() != '-';
  return place + power > 0;
}

}  // namespace

NumberKind read_number(std::string_view cell, double& value) {
  cell = trim(cell);
  if (cell.empty()) return NumberKind::absent;
  if (cell.front() == '+' && cell.size() > 1 && cell[1] != '-') cell.remove_prefix(1);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || error == std::errc::invalid_argument)
    return NumberKind::text;
  if (error == std::errc::result_out_of_range) {
    value = 0.0;
    return is_large(cell) ? NumberKind::out_of_range : NumberKind::number;
  }
  return std::isfinite(value) ? NumberKind::number : NumberKind::not_finite;
}

}  // namespace bear

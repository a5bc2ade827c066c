#include "bear/parse/moment.hpp"

#include <array>
#include <cstdio>

namespace bear::parse {
namespace {

constexpr std::int64_t kDaySeconds = 86400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Days since 1970-01-01 of a day of the Gregorian calendar, by eras of 400 years from March on.
std::int64_t day_number(std::int64_t year, int month, int day) {
  if (month <= 2) --year;
  const std::int64_t era = floor_div(year, 400);
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct Date {
  std::int64_t year;
  int month, day;
};

Date date_of(std::int64_t number) {
  number += 719468;
  const std::int64_t era = floor_div(number, 146097);
  const std::int64_t of_era = number - era * 146097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const auto shifted = static_cast<int>((5 * of_year + 2) / 153);
  const int day = static_cast<int>(of_year) - (153 * shifted + 2) / 5 + 1;
  const int month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

// Takes so many digits off the front; -1 where there are fewer.
int take_digits(std::string_view& text, std::size_t n) {
  if (text.size() < n) return -1;
  int value = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(n);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// "Z", "+02", "+02:00", "+0200" or nothing.
bool is_offset(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return true;
  if (!take(text, '+') && !take(text, '-')) return false;
  const int hours = take_digits(text, 2);
  if (text.empty()) return hours >= 0 && hours < 24;
  take(text, ':');
  const int minutes = take_digits(text, 2);
  return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 && text.empty();
}

}  // namespace

bool read_moment(std::string_view text, Moment& out) {
  const int year = take_digits(text, 4);
  if (year < 0 || !take(text, '-')) return false;
  const int month = take_digits(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return false;
  const int day = take_digits(text, 2);
  const std::int64_t number = day_number(year, month, day);
  if (day < 1 || date_of(number).day != day) return false;
  out = moment_of(number * kDaySeconds, false);
  if (text.empty()) return true;
  if (!take(text, 'T') && !take(text, ' ')) return false;
  const int hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return false;
  const int minute = take_digits(text, 2);
  if (minute < 0 || minute > 59) return false;
  int second = 0;
  if (take(text, ':')) {
    second = take_digits(text, 2);
    if (second < 0 || second > 60) return false;
    if (take(text, '.')) {
      std::size_t digits = 0;
      while (take_digits(text, 1) >= 0) ++digits;
      if (digits == 0) return false;
    }
  }
  take(text, ' ');
  if (!is_offset(text)) return false;
  out.hour = hour;
  out.seconds += hour * 3600 + minute * 60 + second;
  return true;
}

Moment moment_of(std::int64_t seconds, bool has_time) {
  Moment out;
  out.seconds = seconds;
  out.day = floor_div(seconds, kDaySeconds);
  out.month = date_of(out.day).month;
  out.weekday = static_cast<int>((out.day % 7 + 10) % 7);  // the first day was a Thursday
  if (has_time) out.hour = static_cast<int>((seconds - out.day * kDaySeconds) / 3600);
  return out;
}

std::string moment_text(const Moment& moment) {
  const Date date = date_of(moment.day);
  std::array<char, 48> text{};
  int n = std::snprintf(text.data(), text.size(), "%04lld-%02d-%02d",
                        static_cast<long long>(date.year), date.month, date.day);
  if (moment.hour >= 0) {
    const auto rest = static_cast<int>(moment.seconds - moment.day * kDaySeconds);
    n += std::snprintf(text.data() + n, text.size() - static_cast<std::size_t>(n),
                       "T%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
  }
  return {text.data(), static_cast<std::size_t>(n)};
}

}  // namespace bear::parse

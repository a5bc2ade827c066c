// Dates and times as ISO 8601 writes them, and what they tell of the habits of a week and a year.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bear::parse {

// As a clock on the wall shows it: an offset from UTC, where there is one, changes nothing.
struct Moment {
  std::int64_t day = 0;      // since 1970-01-01
  std::int64_t seconds = 0;  // since 1970-01-01 00:00
  int month = 1;
  int weekday = 0;  // from Monday
  int hour = -1;    // -1: a date without a time
};

// "2024-05-01", "2024-05-01T13:45", "2024-05-01 13:45:10.5+02:00"; false for anything else. Days
// that no calendar has are none.
bool read_moment(std::string_view text, Moment& out);

// Moment of some seconds since 1970-01-01 00:00; of a date alone without an hour.
Moment moment_of(std::int64_t seconds, bool has_time);

// As read_moment takes it.
std::string moment_text(const Moment& moment);

}  // namespace bear::parse

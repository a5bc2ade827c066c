// Decimal numbers as written in tables: the same whatever the locale, nothing but digits.
#pragma once

#include <string_view>

namespace bear {

enum class NumberKind { absent, number, not_finite, out_of_range, text };

// A number with an optional sign and exponent, between optional spaces. Hexadecimal, digit
// grouping and decimal commas are text; a number too small for a double is zero.
NumberKind read_number(std::string_view cell, double& value);

}  // namespace bear

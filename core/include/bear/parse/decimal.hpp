// The double nearest to a decimal number of any length, exactly.
#pragma once

namespace bear::parse {

// [at, end) is digits with at most one point, and an exponent or none. Too large: infinity; too
// small: 0. Takes about as many steps as there are digits, up to 800 of them, times 50: for numbers
// that the short path of read_number() leaves over, where the library has no std::from_chars.
double exact_decimal(const char* at, const char* end);

}  // namespace bear::parse

// Just enough UTF-8 for words: reading code points, lower case, what a word is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "bear/parse/buffer.hpp"

namespace bear::parse {

// The code point at the start of [at, end), which is not empty, and how many bytes it has. A byte
// that is not part of well-formed UTF-8 stands for itself, as code point bad_byte.
inline constexpr std::uint32_t bad_byte = 0xffffffff;
std::size_t decode(const char* at, const char* end, std::uint32_t& code_point);

void append_utf8(std::uint32_t code_point, Buffer<char>& out);

// Lower case of ASCII, Latin, Greek and Cyrillic letters that have two bytes; others are copied.
// The result has the same number of bytes.
void append_lower(std::string_view text, Buffer<char>& out);

constexpr bool in_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'';
}

// Letters, digits and the apostrophe in ASCII; beyond it everything but punctuation and spaces.
bool in_word(std::uint32_t code_point);

}  // namespace bear::parse

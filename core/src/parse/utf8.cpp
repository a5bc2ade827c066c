#include "bear/parse/utf8.hpp"

#include <algorithm>

namespace bear::parse {

namespace {

std::uint32_t tail(char c) { return static_cast<unsigned char>(c) & 0x3fu; }
bool is_tail(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::uint32_t lower(std::uint32_t c) {
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 0x20;
  // Latin Extended-A: pairs of an even capital and its odd small letter, or the other way round.
  if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177))
    return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return c + (c & 1);
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 0x20;
  if (c >= 0x410 && c <= 0x42f) return c + 0x20;
  if (c >= 0x400 && c <= 0x40f) return c + 0x50;
  return c;
}

}  // namespace

std::size_t decode(const char* at, const char* end, std::uint32_t& code_point) {
  const auto first = static_cast<unsigned char>(*at);
  code_point = first;
  if (first < 0x80) return 1;
  const std::ptrdiff_t left = end - at;
  if (first >= 0xc2 && first < 0xe0 && left >= 2 && is_tail(at[1])) {
    code_point = (first & 0x1fu) << 6 | tail(at[1]);
    return 2;
  }
  if (first >= 0xe0 && first < 0xf0 && left >= 3 && is_tail(at[1]) && is_tail(at[2])) {
    code_point = (first & 0xfu) << 12 | tail(at[1]) << 6 | tail(at[2]);
    if (code_point >= 0x800 && (code_point < 0xd800 || code_point > 0xdfff)) return 3;
  }
  if (first >= 0xf0 && left >= 4 && is_tail(at[1]) && is_tail(at[2]) && is_tail(at[3])) {
    code_point = (first & 7u) << 18 | tail(at[1]) << 12 | tail(at[2]) << 6 | tail(at[3]);
    if (first < 0xf8 && code_point >= 0x10000 && code_point <= 0x10ffff) return 4;
  }
  code_point = bad_byte;
  return 1;
}

void append_utf8(std::uint32_t c, Buffer<char>& out) {
  const auto put = [&out](std::uint32_t byte) { out.push(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

void append_lower(std::string_view text, Buffer<char>& out) {
  const char* at = text.data();
  const char* end = at + text.size();
  char* to = out.extend(text.size());
  while (at != end) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x80) {
      *to++ = static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 0x20 : byte);
      ++at;
      continue;
    }
    std::uint32_t c;
    const std::size_t n = decode(at, end, c);
    if (n == 2) {
      const std::uint32_t small = lower(c);
      to[0] = static_cast<char>(0xc0 | small >> 6);
      to[1] = static_cast<char>(0x80 | (small & 0x3f));
    } else {
      std::copy_n(at, n, to);
    }
    at += n;
    to += n;
  }
}

bool in_word(std::uint32_t c) {
  if (c < 0x80) return in_ascii_word(static_cast<char>(c));
  if (c < 0xc0) return c == 0xaa || c == 0xb5 || c == 0xba;
  const bool punctuation = c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
                           (c >= 0x2e00 && c <= 0x2e7f) || (c >= 0x3000 && c <= 0x303f) ||
                           c == 0xfeff;
  return !punctuation;
}

}  // namespace bear::parse

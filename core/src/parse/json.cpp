#include "bear/parse/json.hpp"

#include "bear/parse/number.hpp"
#include "bear/parse/utf8.hpp"

namespace bear::parse {

namespace {

const char* digits_from(const char* at, const char* end) {
  while (at != end && detail::is_digit(*at)) ++at;
  return at;
}

// Where the number ends by JSON's grammar, nullptr when there is none.
const char* scan_number(const char* at, const char* end) {
  if (at != end && *at == '-') ++at;
  const char* whole = at;
  at = digits_from(at, end);
  if (at == whole || (*whole == '0' && at - whole > 1)) return nullptr;
  if (at != end && *at == '.') {
    const char* fraction = ++at;
    at = digits_from(at, end);
    if (at == fraction) return nullptr;
  }
  if (at != end && (*at | 0x20) == 'e') {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    const char* exponent = at;
    at = digits_from(at, end);
    if (at == exponent) return nullptr;
  }
  return at;
}

}  // namespace

void JsonReader::skip_space() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
}

JsonReader::Kind JsonReader::kind() {
  skip_space();
  if (at_ == end_) return Kind::other;
  switch (*at_) {
    case '"':
      return Kind::string;
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return *at_ == '-' || detail::is_digit(*at_) ? Kind::number : Kind::other;
  }
}

bool JsonReader::take(char c) {
  skip_space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

bool JsonReader::expect(char c, const char* error) { return take(c) || fail(error); }

bool JsonReader::read_string(Buffer<char>& out) {
  if (!expect('"', "expected a string")) return false;
  while (at_ != end_) {
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte == '"') {
      ++at_;
      return true;
    }
    if (byte == '\\') {
      if (!read_escape(out)) return false;
      continue;
    }
    if (byte < 0x20) return fail("control byte in a string");
    std::uint32_t c;
    const std::size_t n = decode(at_, end_, c);
    if (c == bad_byte) return fail("string is not UTF-8");
    out.append(at_, n);
    at_ += n;
  }
  return fail("string does not end");
}

bool JsonReader::read_escape(Buffer<char>& out) {
  static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  if (end_ - at_ < 2) return fail("string does not end");
  const std::size_t simple = letters.find(at_[1]);
  if (simple != std::string_view::npos) {
    out.push(meanings[simple]);
    at_ += 2;
    return true;
  }
  std::uint32_t c = 0, low = 0;
  if (at_[1] != 'u') return fail("unknown escape in a string");
  if (!read_hex(c)) return false;
  if (c >= 0xd800 && c <= 0xdfff) {
    const bool high = c < 0xdc00;
    if (!high || end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') return fail("lone surrogate");
    if (!read_hex(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return fail("lone surrogate");
    c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(c, out);
  return true;
}

// The four digits after \u.
bool JsonReader::read_hex(std::uint32_t& value) {
  if (end_ - at_ < 6) return fail("\\u needs four hexadecimal digits");
  for (int i = 2; i < 6; ++i) {
    const char c = at_[i];
    const char letter = static_cast<char>(c | 0x20);
    if (detail::is_digit(c)) {
      value = value * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      value = value * 16 + static_cast<std::uint32_t>(letter - 'a' + 10);
    } else {
      return fail("\\u needs four hexadecimal digits");
    }
  }
  at_ += 6;
  return true;
}

bool JsonReader::read_number(std::string_view& text) {
  const char* stop = scan_number(at_, end_);
  if (stop == nullptr) return fail("not a number of JSON");
  text = {at_, static_cast<std::size_t>(stop - at_)};
  at_ = stop;
  return true;
}

bool JsonReader::read_literal(std::string_view word) {
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word))
    return fail("expected true, false or null");
  at_ += word.size();
  return true;
}

bool JsonReader::read_boolean(bool& value) {
  value = at_ != end_ && *at_ == 't';
  return read_literal(value ? "true" : "false");
}

bool JsonReader::read_null() { return read_literal("null"); }

bool JsonReader::skip_string() {
  skipped_.clear();
  return read_string(skipped_);
}

bool JsonReader::skip_value(int depth) {
  if (depth == max_depth) return fail("nested too deeply");
  std::string_view number;
  bool boolean;
  switch (kind()) {
    case Kind::string:
      return skip_string();
    case Kind::number:
      return read_number(number);
    case Kind::boolean:
      return read_boolean(boolean);
    case Kind::null:
      return read_null();
    case Kind::array:
      return each_element([&] { return skip_value(depth + 1); });
    case Kind::object:
      return each_member([&] { return skip_string(); }, [&] { return skip_value(depth + 1); });
    default:
      return fail("expected a value");
  }
}

}  // namespace bear::parse

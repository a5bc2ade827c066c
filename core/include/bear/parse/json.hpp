// A strict reader of JSON (RFC 8259) within one line: the caller asks for what it expects.
#pragma once

#include <cstdint>
#include <string_view>

#include "bear/parse/buffer.hpp"

namespace bear::parse {

class JsonReader {
 public:
  enum class Kind { string, number, boolean, null, array, object, other };

  JsonReader(const char* at, const char* end) : at_(at), end_(end) {}

  const char* at() const { return at_; }
  // After a function returned false: what is wrong there.
  const char* error() const { return error_; }

  void skip_space();
  // The kind of the value that comes next.
  Kind kind();
  // True and past it, if `c` comes next.
  bool take(char c);
  bool expect(char c, const char* error);
  bool at_end() {
    skip_space();
    return at_ == end_;
  }

  // Appends the decoded string.
  bool read_string(Buffer<char>& out);
  // The number as written.
  bool read_number(std::string_view& text);
  bool read_boolean(bool& value);
  bool read_null();
  // Any value, nested no deeper than max_depth.
  bool skip_value(int depth = 0);

  // Calls member() with the reader before each value of an object (after name(), which reads the
  // name and the colon is taken here), or element() before each of an array.
  template <class Name, class Member>
  bool each_member(Name&& name, Member&& member);
  template <class Element>
  bool each_element(Element&& element);

  static constexpr int max_depth = 64;

 private:
  bool fail(const char* error) {
    error_ = error;
    return false;
  }
  bool read_literal(std::string_view word);
  bool read_escape(Buffer<char>& out);
  bool read_hex(std::uint32_t& value);
  bool skip_string();

  const char* at_;
  const char* end_;
  const char* error_ = "";
  Buffer<char> skipped_;
};

template <class Name, class Member>
bool JsonReader::each_member(Name&& name, Member&& member) {
  if (!expect('{', "expected {")) return false;
  if (take('}')) return true;
  do {
    skip_space();
    if (!name() || !expect(':', "expected a colon after a name")) return false;
    skip_space();
    if (!member()) return false;
  } while (take(','));
  return expect('}', "expected a comma or }");
}

template <class Element>
bool JsonReader::each_element(Element&& element) {
  if (!expect('[', "expected [")) return false;
  if (take(']')) return true;
  do {
    skip_space();
    if (!element()) return false;
  } while (take(','));
  return expect(']', "expected a comma or ]");
}

}  // namespace bear::parse

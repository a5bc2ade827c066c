#include <doctest/doctest.h>

#include "bear/parse/text.hpp"
#include "bear/parse/utf8.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

std::string grams(std::string_view text, NgramOptions ngrams) {
  AllOptions options;
  options.labelled = false;
  options.ngrams = ngrams;
  return features(run("text", std::string(text) + "\n", options).rows.at(0));
}

std::string lowered(std::string_view text) {
  Buffer<char> out;
  append_lower(text, out);
  return {out.data(), out.size()};
}

}  // namespace

TEST_CASE("text: words and their n-grams") {
  CHECK(grams("New York, new  york!", {1, 1, 0, 0, true}) == "new=2 york=2");
  CHECK(grams("New York, new  york!", {1, 2, 0, 0, true}) == "new york=2 new=2 york new=1 york=2");
  CHECK(grams("New York, new  york!", {1, 1, 0, 0, true, false}) == "new=1 york=1");
  CHECK(grams("a b c d", {3, 3, 0, 0, true}) == "a b c=1 b c d=1");
  CHECK(grams("New new", {1, 1, 0, 0, false}) == "New=1 new=1");
  CHECK(grams("don't e-mail 42x", {1, 1, 0, 0, true}) == "42x=1 don't=1 e=1 mail=1");
  CHECK(grams("one", {2, 3, 0, 0, true}) == "");
  CHECK(grams("\xc3\x84rger \xe2\x80\x9cquoted\xe2\x80\x9d", {1, 1, 0, 0, true}) ==
        "quoted=1 \xc3\xa4rger=1");
  CHECK(grams("\xe9t\xe9 x", {1, 1, 0, 0, true}) == "x=1 \xe9t\xe9=1");
}

TEST_CASE("text: characters") {
  CHECK(grams("abab", {0, 0, 2, 2, true}) == "#ab=2 #ba=1");
  CHECK(grams("a \t b", {0, 0, 2, 3, true}) == "# b=1 #a =1 #a b=1");
  CHECK(grams("\xc3\xa4\xe2\x82\xac\xff", {0, 0, 1, 2, true}) ==
        "#\xc3\xa4=1 #\xc3\xa4\xe2\x82\xac=1 #\xe2\x82\xac=1 #\xe2\x82\xac\xff=1 #\xff=1");
  CHECK(grams("ab", {1, 1, 2, 2, true}) == "#ab=1 ab=1");
}

TEST_CASE("text: labels") {
  const Parsed parsed = run("text", "pos\tgood film\n\tno label\nneg\t\nno tab\n\n");
  CHECK(parsed.code() == "TXT-LABEL");
  REQUIRE(parsed.rows.size() == 3);
  CHECK(parsed.rows[0].label_name == "pos");
  CHECK(parsed.rows[1].label_name == "");
  CHECK(parsed[Count::unlabelled] == 1);
  CHECK(parsed[Count::empty] == 1);
  CHECK(parsed[Count::blank] == 1);
  CHECK(run("text", std::string_view("1\ta\0b\n", 6)).code() == "COM-NUL");
  CHECK(run("text", "1\ta\r2\tb\n").code() == "COM-CR");
}

TEST_CASE("text: limits") {
  AllOptions options;
  options.common.max_name_bytes = 5;
  CHECK(run("text", "1\tabcde\n", options).errors.empty());
  CHECK(run("text", "1\tabcdef\n", options).code() == "COM-NAME-LONG");
  options.common.max_features = 2;
  CHECK(run("text", "1\ta b\n", options).errors.empty());
  CHECK(run("text", "1\ta b c\n", options).code() == "COM-FEATURES");
}

TEST_CASE("lower case keeps the length of a text") {
  CHECK(lowered("ABC xyz 09_") == "abc xyz 09_");
  CHECK(lowered("\xc3\x80\xc3\x9e\xc3\x97\xc3\x9f") == "\xc3\xa0\xc3\xbe\xc3\x97\xc3\x9f");
  CHECK(lowered("\xc4\x80\xc4\x81\xc5\xbd\xc4\xb9") == "\xc4\x81\xc4\x81\xc5\xbe\xc4\xba");
  CHECK(lowered("\xce\x91\xce\xa9\xd0\x90\xd0\xaf\xd0\x81") ==
        "\xce\xb1\xcf\x89\xd0\xb0\xd1\x8f\xd1\x91");
  CHECK(lowered("\xe2\x84\xaa\xff\xc3") == "\xe2\x84\xaa\xff\xc3");
}

TEST_CASE("code points are decoded, and bytes that are none stand alone") {
  const auto first = [](std::string_view text, std::size_t& n) {
    std::uint32_t c = 0;
    n = decode(text.data(), text.data() + text.size(), c);
    return c;
  };
  std::size_t n = 0;
  CHECK(first("\xf0\x9f\x98\x80", n) == 0x1f600);
  CHECK(n == 4);
  CHECK(first("\xe2\x82\xac", n) == 0x20ac);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "\xf0\x80\x80\x80"}) {
    CHECK(first(bad, n) == bad_byte);
    CHECK(n == 1);
  }
}

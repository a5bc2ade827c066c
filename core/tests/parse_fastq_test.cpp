#include <doctest/doctest.h>

#include "bear/parse/fastq.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

Parsed fastq(std::string_view text, std::size_t window = 0) {
  AllOptions options;
  options.kmers = {2, false, false, true, window, 0};
  return run("fastq", text, options);
}

std::string place(std::string_view text) {
  const Parsed parsed = fastq(text);
  CAPTURE(text);
  CHECK(parsed.balanced());
  REQUIRE(parsed.errors.size() == 1);
  const Trouble& t = parsed.errors[0];
  return t.code + ":" + std::to_string(t.line) + ":" + std::to_string(t.column);
}

const std::string good = "@g\nACGT\n+\nIIII\n";

}  // namespace

TEST_CASE("fastq: records") {
  const Parsed parsed = fastq("@one x\nACGT\n+one x\n@+!~\n@two\nAC\n+\nII\n\n@zero\n\n+\n\n");
  CHECK(parsed.errors.empty());
  REQUIRE(parsed.rows.size() == 3);
  CHECK(parsed.rows[0].tag == "one x");
  CHECK(features(parsed.rows[0]) == "1=1 6=1 11=1");
  CHECK(parsed.rows[1].line == 5);
  CHECK(features(parsed.rows[2]) == "");
  CHECK(parsed[Count::records] == 3);
  CHECK(parsed[Count::empty] == 1);
}

TEST_CASE("fastq: windows") {
  const Parsed parsed = fastq("@one\nACGTAC\n+\nIIIIII\n@two\nAC\n+\nII\n", 4);
  REQUIRE(parsed.rows.size() == 3);
  CHECK(features(parsed.rows[1]) == "1=1");
  CHECK(parsed.rows[1].tag == "one");
  CHECK(parsed.rows[2].tag == "two");
}

TEST_CASE("fastq: what is refused, by code, line and column") {
  CHECK(place(">a\nACGT\n") == "FQ-HEADER:1:1");
  CHECK(place("1 | a\n") == "FQ-HEADER:1:1");
  CHECK(place("@a\nAC GT\n+\nIIIII\n" + good) == "FQ-LETTER:2:3");
  CHECK(place("@a\nAC\tGT\n+\nIIIII\n" + good) == "FQ-LETTER:2:3");
  CHECK(place("@a\nACGT\nACGT\n+\nIIII\nIIII\n" + good) == "FQ-PLUS:3:1");
  CHECK(place("@a\nACGT\nIIII@\n" + good) == "FQ-PLUS:3:1");
  CHECK(place("@a\nACGT\n+b\nIIII\n" + good) == "FQ-TITLE-DIFFERS:3:1");
  CHECK(place("@a\nACGT\n+\nIII\n" + good) == "FQ-LENGTH:4:1");
  CHECK(place("@a\nACGT\n+\nIIIII\n" + good) == "FQ-LENGTH:4:1");
  CHECK(place("@a\nACGT\n+\n" + good) == "FQ-LENGTH:4:1");
  CHECK(place("@a\nACGT\n+\n\n" + good) == "FQ-LENGTH:4:1");
  CHECK(place("@a\nACGT\n+\nIIII\nIIII\n" + good) == "FQ-HEADER:5:1");
  CHECK(place("@a\nACGT\n+\nII I\n" + good) == "FQ-QUALITY:4:3");
  CHECK(place("@a\nACGT\n+\nII\tI\n" + good) == "FQ-QUALITY:4:3");
  CHECK(place("@a\nACGT\n+\nII\x7fI\n" + good) == "FQ-QUALITY:4:3");
  CHECK(place("@a\nACGT\n+\nII\x1bI\n" + good) == "FQ-QUALITY:4:3");
  CHECK(place("@a\nACGT\n+\nII\xff"
              "I\n" +
              good) == "FQ-QUALITY:4:3");
  CHECK(place(std::string("@a\nACGT\n+\nII\0I\n", 15) + good) == "COM-NUL:4:3");
  CHECK(place(std::string("@\0\nACGT\n+\nIIII\n", 15) + good) == "COM-NUL:1:2");
  CHECK(place("@a\rACGT\r+\rIIII\r") == "COM-CR:1:3");
  CHECK(place(good + "@a") == "FQ-TRUNCATED:5:1");
  CHECK(place(good + "@a\nAC") == "FQ-TRUNCATED:6:1");
  CHECK(place(good + "@a\nACGT\n+") == "FQ-TRUNCATED:7:1");
  CHECK(place(good + "@a\nACGT\n+\nII") == "FQ-LENGTH:8:1");
}

TEST_CASE(
    "fastq: reading continues at the next record, also after qualities that look like titles") {
  for (const std::string bad :
       {"@a\nAC GT\n+\n@IIII\n", "@a\nACGT\n+\n@II\n", "@a\nACGT\n+x\n@III\n", "@a\nACGT\n+\n",
        "junk\n", "@a\nACGT\nACGT\n+\n@III\n@III\n", "@a\nACGT\n+\nII@\x01\n"}) {
    const Parsed parsed = fastq(good + bad + "@h\nAC\n+\n@I\n" + good);
    CAPTURE(bad);
    CHECK(parsed.errors.size() == 1);
    REQUIRE(parsed.rows.size() == 3);
    CHECK(parsed.rows[1].tag == "h");
  }
}

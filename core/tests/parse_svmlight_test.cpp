#include <doctest/doctest.h>

#include "bear/parse/svmlight.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

std::string svm(std::string_view line) {
  const Parsed parsed = run("svmlight", std::string(line) + "\n");
  CAPTURE(line);
  CHECK(parsed.balanced());
  return parsed.errors.empty() ? features(parsed.rows.at(0)) : parsed.code();
}

std::string place(std::string_view line) {
  const Parsed parsed = run("svmlight", std::string(line) + "\n");
  REQUIRE(parsed.errors.size() == 1);
  return parsed.errors[0].code + ":" + std::to_string(parsed.errors[0].column);
}

}  // namespace

TEST_CASE("svmlight: features") {
  CHECK(svm("+1 1:0.5 3:2") == "1=0.5 3=2");
  CHECK(svm("1 3:2 1:.5") == "1=0.5 3=2");
  CHECK(svm("  -1\t0:1   7:1e-3  ") == "0=1 7=0.001");
  CHECK(svm("1 1:0 2:1 3:0.0") == "2=1");
  CHECK(svm("1") == "");
  CHECK(svm("1 qid:3 1:1") == "1=1");
  CHECK(svm("1 1:1 # 2:1 any \xff bytes") == "1=1");
  CHECK(svm("1 1:1#close") == "1=1");
  CHECK(svm("1 1:1 4294967297:1") == "1=1 4294967297=1");
  CHECK(svm("1 9223372036854775809:1 18446744073709551615:1") ==
        "9223372036854775809=1 18446744073709551615=1");
  CHECK(svm("1 007:1") == "7=1");
}

TEST_CASE("svmlight: labels, comments, blank lines, query ids") {
  const Parsed parsed = run("svmlight", "# head\n1 qid:1 1:1\n\n  \n-1.5 qid:22 2:1\n #x\n");
  CHECK(parsed.errors.empty());
  CHECK(parsed.rows.at(1).label == -1.5);
  CHECK(parsed.rows.at(1).line == 5);
  CHECK(parsed[Count::comment] == 2);
  CHECK(parsed[Count::blank] == 2);
  CHECK(parsed[Count::qid] == 2);
  CHECK(parsed[Count::lines] == 6);
  const Parsed named = run("svmlight", "spam 1:1\nham 2:1\n");
  CHECK(named.rows.at(1).label_name == "ham");
}

TEST_CASE("svmlight: what is refused, by code and column") {
  CHECK(place("1:1 2:1") == "LSV-LABEL:1");
  CHECK(place("nan 1:1") == "LSV-LABEL:1");
  CHECK(place("1,2 1:1") == "LSV-MULTILABEL:1");
  CHECK(place("1 5:") == "LSV-VALUE-MISSING:4");
  CHECK(place("1 5") == "LSV-FEATURE:3");
  CHECK(place("1 5 : 1") == "LSV-FEATURE:3");
  CHECK(place("1 -5:1") == "LSV-INDEX:3");
  CHECK(place("1 +5:1") == "LSV-INDEX:3");
  CHECK(place("1 a:1") == "LSV-INDEX:3");
  CHECK(place("1 :1") == "LSV-INDEX:3");
  CHECK(place("1 1:1 qid:2") == "LSV-INDEX:7");
  CHECK(place("1 qid:x 1:1") == "LSV-QID:3");
  CHECK(place("1 qid: 1:1") == "LSV-QID:3");
  CHECK(place("1 18446744073709551616:1") == "LSV-IDX-RANGE:3");
  CHECK(place("1 36893488147419103233:1") == "LSV-IDX-RANGE:3");
  CHECK(place("1 1:nan") == "LSV-VALUE:5");
  CHECK(place("1 1:inf") == "LSV-VALUE:5");
  CHECK(place("1 1:foo") == "LSV-VALUE:5");
  CHECK(place("1 1:0x1") == "LSV-VALUE:5");
  CHECK(place("1 1:1,5") == "LSV-VALUE:5");
  CHECK(place("1 1:1:1") == "LSV-VALUE:5");
  CHECK(place("1 1:1e308") == "LSV-VALUE-RANGE:5");
  CHECK(place("1 1:-1e400") == "LSV-VALUE-RANGE:5");
  CHECK(place("1 1:1 2:2 1:3") == "LSV-DUPLICATE:11");
  CHECK(place("1 1:1 1:1") == "LSV-DUPLICATE:7");
  CHECK(place(std::string_view("1 1:1\0", 6)) == "COM-NUL:6");
  CHECK(place(std::string_view("1\0 1:1", 6)) == "COM-NUL:2");
  CHECK(place(std::string_view("1 1:1 # a\0", 10)) == "COM-NUL:10");
  CHECK(place(std::string_view("# a\0", 4)) == "COM-NUL:4");
  CHECK(place("1 1:1\r1 2:2") == "COM-CR:6");
  CHECK(place("\xff 1:1 2") == "LSV-FEATURE:7");
  CHECK(place(">seq") == "COM-FORMAT:1");
  CHECK(place("@read") == "COM-FORMAT:1");
  CHECK(place("{\"a\":1}") == "COM-FORMAT:1");
  CHECK(place("1 |f a:1") == "COM-FORMAT:1");
}

TEST_CASE("svmlight: duplicates add up when asked") {
  AllOptions options;
  options.duplicates = Duplicates::sum;
  const Parsed parsed = run("svmlight", "1 1:1 2:2 1:3\n", options);
  CHECK(features(parsed.rows.at(0)) == "1=4 2=2");
  CHECK(parsed[Count::duplicates] == 1);
  CHECK(run("svmlight", "1 1:3e38 1:3e38\n", options).code() == "LSV-VALUE-RANGE");
}

TEST_CASE("svmlight: the number of features is limited on both sides") {
  AllOptions options;
  options.common.max_features = 2;
  CHECK(run("svmlight", "1 1:1 2:1\n", options).errors.empty());
  CHECK(run("svmlight", "1 1:1 2:1 3:1\n", options).code() == "COM-FEATURES");
}

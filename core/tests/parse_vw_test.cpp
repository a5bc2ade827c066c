#include <doctest/doctest.h>

#include <cmath>

#include "bear/parse/vw.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

std::string vw(std::string_view line) {
  const Parsed parsed = run("vw", std::string(line) + "\n");
  CAPTURE(line);
  CHECK(parsed.balanced());
  return parsed.errors.empty() ? features(parsed.rows.at(0)) : parsed.code();
}

std::string place(std::string_view line) {
  const Parsed parsed = run("vw", std::string(line) + "\n");
  REQUIRE(parsed.errors.size() == 1);
  return parsed.errors[0].code + ":" + std::to_string(parsed.errors[0].column);
}

}  // namespace

TEST_CASE("vw: features, namespaces, weights and categories") {
  CHECK(vw("1 | a b:2 c:-.5e1") == "a=1 b=2 c=-5");
  CHECK(vw("1 |ns a b:2") == "ns^a=1 ns^b=2");
  CHECK(vw("1 |ns:0.5 a b:2 city:paris") == "ns^a=0.5 ns^b=1 ns^city^paris=1");
  CHECK(vw("1 |a x|b x y") == "a^x=1 b^x=1 b^y=1");
  CHECK(vw("1 |f :3 :0 :4 x") == "f^0=3 f^2=4 f^x=1");
  CHECK(vw("1 | :3 |g :5") == "0=3 g^0=5");
  CHECK(vw("1 | url:http://x.y:80/z") == "url^http://x.y:80/z=1");
  CHECK(vw("1 | a:0 b:0.0 c:1e-60") == "");
  CHECK(vw("1 |") == "");
  CHECK(vw("1 ||| a") == "a=1");
  CHECK(vw("1 |a\tb\t c:2\t") == "a^b=1 a^c=2");
  CHECK(vw("1 | -5:1 7:1 007:1") == "-5=1 007=1 7=1");
  CHECK(vw("1 |n:0 a b:3 c:red") == "n^c^red=1");
  CHECK(vw("1 | a a:2 a:-1") == "a=2");
  CHECK(vw("1 | a a:-1") == "");
  CHECK(vw("1 | \xff\xfe\xe9:2") == "\xff\xfe\xe9=2");
  CHECK(vw("1 | 99999999999999999999:1") == "99999999999999999999=1");
}

TEST_CASE("vw: keys are hashes of the printed names") {
  AllOptions options;
  options.common.seed = 11;
  const Parsed parsed = run("vw", "1 |ns a:2 | b\n", options);
  const bear::NameHash hash(11);
  for (const Entry& e : parsed.rows.at(0).entries) CHECK(e.key == hash(e.name));
  options.common.names = false;
  const Parsed bare = run("vw", "1 |ns a:2 | b\n", options);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(bare.rows.at(0).entries.at(i).key == parsed.rows.at(0).entries.at(i).key);
}

TEST_CASE("vw: label, importance and tag") {
  const Parsed parsed = run("vw",
                            "1 2 'tag | a\n-1.5 tag| a\n0 0 | a\n | a\n 'only | a\nonly| a\n"
                            "\t+1 | a\n1\t| a\n1 0.5\t'tab| a\n");
  REQUIRE(parsed.errors.empty());
  REQUIRE(parsed.rows.size() == 9);
  const double labels[] = {1, -1.5, 0, NAN, NAN, NAN, 1, 1, 1};
  const double weights[] = {2, 1, 0, 1, 1, 1, 1, 1, 0.5};
  const char* tags[] = {"tag", "tag", "", "", "only", "only", "", "", "tab"};
  for (std::size_t i = 0; i < 9; ++i) {
    CAPTURE(i);
    CHECK((std::isnan(labels[i]) ? std::isnan(parsed.rows[i].label)
                                 : parsed.rows[i].label == labels[i]));
    CHECK(parsed.rows[i].weight == weights[i]);
    CHECK(parsed.rows[i].tag == tags[i]);
  }
  CHECK(parsed[Count::examples] == 6);
  CHECK(parsed[Count::unlabelled] == 3);
  CHECK(run("vw", "1| a\n")[Warning::tag_number] == 1);
  CHECK(run("vw", "'1| a\n")[Warning::tag_number] == 0);
}

TEST_CASE("vw: the first label decides whether labels are numbers or names") {
  const Parsed named = run("vw", "| x\ndet | the\n| a\nnoun | cat\n3 | b\n");
  CHECK(named.totals.label_kind == LabelKind::name);
  REQUIRE(named.rows.size() == 4);
  CHECK(named.rows[0].label_name == "");
  CHECK(named.rows[1].label_name == "det");
  CHECK(named.rows[2].label_name == "");
  CHECK(named.rows[3].label_name == "noun");
  CHECK(named.code() == "VW-LABEL");
  CHECK(run("vw", "1 | a\ndet | b\n").code() == "VW-LABEL");
  CHECK(run("vw", "det\n1 | a\n").code() == "VW-NO-BAR");  // a refused line decides nothing

  AllOptions options;
  options.common.labels = Labels::name;
  const Parsed names = run("vw", "1 | a\nnan | b\ndet | c\n", options);
  CHECK(names.errors.empty());
  CHECK(names.rows.at(0).label_name == "1");
  options.common.labels = Labels::number;
  CHECK(run("vw", "det | a\n1 | b\n", options).code() == "VW-LABEL");
}

TEST_CASE("vw: what is refused, by code and column") {
  CHECK(place("no bar here") == "VW-NO-BAR:1");
  CHECK(place("1 | a:") == "VW-VALUE-MISSING:6");
  CHECK(place("1 | a: b:1") == "VW-VALUE-MISSING:6");
  CHECK(place("1 | a:|b") == "VW-VALUE-MISSING:6");
  CHECK(place("1 | a:nan") == "VW-VALUE:7");
  CHECK(place("1 | a:-inf") == "VW-VALUE:7");
  CHECK(place("1 | a:Infinity") == "VW-VALUE:7");
  CHECK(place("1 | a:1,5") == "VW-VALUE:7");
  CHECK(place("1 | a:0x1F") == "VW-VALUE:7");
  CHECK(place("1 | a:1.5abc") == "VW-VALUE:7");
  CHECK(place("1 | a:1:2") == "VW-VALUE:7");
  CHECK(place("1 | :red") == "VW-VALUE:6");
  CHECK(place("1 | b a:1e308") == "VW-VALUE-RANGE:7");
  CHECK(place("1 | b a:1e400") == "VW-VALUE-RANGE:7");
  CHECK(place("1 |n:1e30 a:1e30") == "VW-VALUE-RANGE:11");
  CHECK(place("1 | a:3e38 a:3e38") == "VW-VALUE-RANGE:1");
  CHECK(place("1 |n:x a") == "VW-SPACE-WEIGHT:5");
  CHECK(place("1 |n: a") == "VW-SPACE-WEIGHT:5");
  CHECK(place("1 |n:nan a") == "VW-SPACE-WEIGHT:5");
  CHECK(place("1 |n:1e999 a") == "VW-SPACE-WEIGHT:5");
  CHECK(place("1 |:2 a") == "VW-SPACE-WEIGHT:4");
  CHECK(place("nan | a") == "VW-LABEL:1");
  CHECK(place("1e999 | a") == "VW-LABEL:1");
  CHECK(place("1 -1 | a") == "VW-WEIGHT:3");
  CHECK(place("1 nan | a") == "VW-WEIGHT:3");
  CHECK(place("1 x | a") == "VW-WEIGHT:3");
  CHECK(place("1 1e39 | a") == "VW-WEIGHT:3");
  CHECK(place("1 1 0.5 | a") == "VW-INITIAL:5");
  CHECK(place("1 1 0.5 'tag | a") == "VW-INITIAL:5");
  CHECK(place("1 1 x | a") == "VW-LABEL:5");
  CHECK(place("1 2 3 4 5 6 | a") == "VW-LABEL:1");
  CHECK(place("1:0:0.5 | a") == "VW-BANDIT:1");
  CHECK(place("1:1.0 2:0.0 3:2.0 4:1 5:1 | a") == "VW-COST:1");
  CHECK(place("1:2.0 2:0 | a") == "VW-COST:1");
  CHECK(place("0,1 | a") == "VW-MULTILABEL:1");
  CHECK(place("shared | a") == "VW-SHARED:1");
  CHECK(place("ccb shared | a") == "VW-MULTILINE:1");
  CHECK(place("junk\t1 | a") == "VW-TAB:5");
  CHECK(place("1\t2 | a") == "VW-TAB:2");
  CHECK(place(std::string_view("1 | a\0b", 7)) == "COM-NUL:6");
  CHECK(place(std::string_view("1\0 | a", 6)) == "COM-NUL:2");
  CHECK(place(std::string_view("1 |n\0 a", 7)) == "COM-NUL:5");
  CHECK(place(std::string_view("1 | a:r\0d", 9)) == "COM-NUL:8");
  CHECK(place("1 | a\r1 | b") == "COM-CR:6");
  CHECK(place(">gi|5|ref") == "COM-FORMAT:1");
  CHECK(place("@read|1") == "COM-FORMAT:1");
  CHECK(place("{\"a|b\": 1}") == "COM-FORMAT:1");
}

TEST_CASE("vw: limits hold on both sides") {
  AllOptions options;
  options.common.max_name_bytes = 4;
  CHECK(run("vw", "1 |n ab\n", options).errors.empty());
  CHECK(run("vw", "1 |n abc\n", options).code() == "COM-NAME-LONG");
  CHECK(run("vw", "1 |abcde\n", options).code() == "COM-NAME-LONG");
  const std::string_view more = "1 |n b b b b b b b b b b b b b b\n";
  CHECK(run("vw", "1 |abcd e\n" + std::string(more), options).code() == "COM-NAME-LONG");
  CHECK(run("vw", "1 abcd| a\n", options).errors.empty());
  CHECK(run("vw", "1 abcde| a\n", options).code() == "COM-NAME-LONG");
  CHECK(run("vw", "abcd | a\n", options).errors.empty());
  CHECK(run("vw", "abcde | a\n", options).code() == "COM-NAME-LONG");
  options.common.max_features = 2;
  CHECK(run("vw", "1 | a b c:0\n", options).errors.empty());
  CHECK(run("vw", "1 | a b c\n", options).code() == "COM-FEATURES");
}

TEST_CASE("vw: an error leaves the rows around it alone") {
  const Parsed good = run("vw", "1 | a b\n-1 | c\n");
  const Parsed mixed = run("vw", "1 | a b\n1 | x y z:oops z:1e400\n-1 | c\n");
  REQUIRE(mixed.rows.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(features(mixed.rows[i]) == features(good.rows[i]));
  CHECK(mixed[Count::skipped] == 1);
  CHECK(mixed.rows[1].line == 3);
}

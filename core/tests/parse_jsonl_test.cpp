#include <doctest/doctest.h>

#include <cmath>

#include "bear/parse/jsonl.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

AllOptions fields() {
  AllOptions options;
  options.ngrams = {1, 2, 0, 0, true};
  options.fields.text_fields = {"text"};
  options.fields.weight_field = "w";
  options.fields.tag_field = "id";
  options.fields.skip_fields = {"raw"};
  return options;
}

std::string json(std::string_view line) {
  const Parsed parsed = run("jsonl", std::string(line) + "\n", fields());
  CAPTURE(line);
  CHECK(parsed.balanced());
  return parsed.errors.empty() ? features(parsed.rows.at(0)) : parsed.code();
}

std::string place(std::string_view line) {
  const Parsed parsed = run("jsonl", std::string(line) + "\n", fields());
  CAPTURE(line);
  REQUIRE(parsed.errors.size() == 1);
  return parsed.errors[0].code + ":" + std::to_string(parsed.errors[0].column);
}

}  // namespace

TEST_CASE("jsonl: every kind of field") {
  CHECK(json(R"({"a": 2.5, "b": -1e2, "z": 0, "n": null})") == "a=2.5 b=-100");
  CHECK(json(R"({"t": true, "f": false})") == "t=1");
  CHECK(json(R"({"city": "paris", "e": ""})") == "city=paris=1 e==1");
  CHECK(json(R"({"tags": ["x", "y", "x", 3, 4.50, true, null]})") ==
        "tags=1=1 tags=3=1 tags=4.50=1 tags=x=2 tags=y=1");
  CHECK(json(R"({"m": {"a": 1, "b": "red", "c": null, "d": true, "e": 0}})") ==
        "m^a=1 m^b=red=1 m^d=1");
  CHECK(json(R"({"text": "New york new"})") ==
        "text^new york=1 text^new=2 text^york new=1 text^york=1");
  CHECK(json(R"({"text": ["a b", null, "b"]})") == "text^a b=1 text^a=1 text^b=2");
  CHECK(json(R"({"raw": [[{"deep": [1, "x", true, null]}], {}], "a": 1})") == "a=1");
  CHECK(json(R"( { } )") == "");
  CHECK(json(R"({"a": [], "b": {}})") == "");
  CHECK(json(R"({"a": 1, "a": 2})") == "a=3");
  CHECK(json(R"({"\u00e4\n\/\"\\": "\ud83d\ude00"})") == "\xc3\xa4\n/\"\\=\xf0\x9f\x98\x80=1");
}

TEST_CASE("jsonl: fields that are named and not met") {
  const std::unique_ptr<Parser> parser = make_parser("jsonl", fields());
  const std::vector<std::string> named = {"label", "w", "id", "text", "raw"};
  CHECK(parser->unmet_fields() == named);
  const std::string lines = "{\"label\": null, \"text\": \"a\"}\n{\"raw\": [[1]]}\n";
  parser->feed(lines, true);
  parser->take(10, 10);
  CHECK(parser->unmet_fields() == std::vector<std::string>{"w", "id"});
}

TEST_CASE("jsonl: label, weight and tag") {
  const Parsed parsed = run("jsonl",
                            "{\"label\": 1, \"w\": 2.5, \"id\": \"t1\"}\n{\"label\": true}\n"
                            "{\"label\": \"-1\", \"id\": 7}\n{\"label\": null, \"w\": null}\n{}\n",
                            fields());
  CHECK(parsed.errors.empty());
  REQUIRE(parsed.rows.size() == 5);
  CHECK(parsed.rows[0].label == 1);
  CHECK(parsed.rows[0].weight == 2.5);
  CHECK(parsed.rows[0].tag == "t1");
  CHECK(parsed.rows[1].label == 1);
  CHECK(parsed.rows[2].label == -1);
  CHECK(parsed.rows[2].tag == "7");
  CHECK(std::isnan(parsed.rows[3].label));
  CHECK(parsed[Count::unlabelled] == 2);
  const Parsed named = run("jsonl", "{\"label\": \"spam\"}\n{\"label\": 3}\n", fields());
  CHECK(named.rows.at(0).label_name == "spam");
  CHECK(named.code() == "JSL-LABEL");
}

TEST_CASE("jsonl: what is refused, by code and column") {
  CHECK(place("[1]") == "JSL-OBJECT:1");
  CHECK(place("1 | a") == "JSL-OBJECT:1");
  CHECK(place("{") == "JSL-SYNTAX:1");
  CHECK(place("{\"a\"}") == "JSL-SYNTAX:5");
  CHECK(place("{\"a\":}") == "JSL-TYPE:6");
  CHECK(place("{\"a\":1,}") == "JSL-SYNTAX:8");
  CHECK(place("{\"a\":1 \"b\":2}") == "JSL-SYNTAX:8");
  CHECK(place("{\"a\":1} x") == "JSL-SYNTAX:9");
  CHECK(place("{\"a\":1}{\"a\":2}") == "JSL-SYNTAX:8");
  CHECK(place("{\"a\":01}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":1.}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":-}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":1e}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":.5}") == "JSL-TYPE:6");
  CHECK(place("{\"a\":+1}") == "JSL-TYPE:6");
  CHECK(place("{\"a\":NaN}") == "JSL-TYPE:6");
  CHECK(place("{\"a\":Infinity}") == "JSL-TYPE:6");
  CHECK(place("{\"a\":nul}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":trap}") == "JSL-SYNTAX:6");
  CHECK(place("{\"a\":1e308}") == "JSL-VALUE-RANGE:6");
  CHECK(place("{\"a\":1e400}") == "JSL-VALUE-RANGE:6");
  CHECK(place("{\"a\":[[1]]}") == "JSL-NESTED:7");
  CHECK(place("{\"a\":{\"b\":{}}}") == "JSL-NESTED:11");
  CHECK(place("{\"a\":[1,]}") == "JSL-TYPE:9");
  CHECK(place("{\"text\":1}") == "JSL-TYPE:9");
  CHECK(place("{\"label\":[1]}") == "JSL-TYPE:10");
  CHECK(place("{\"label\":\"\"}") == "JSL-LABEL:10");
  CHECK(place("{\"label\":1,\"label\":1}") == "JSL-LABEL:20");
  CHECK(place("{\"w\":-1}") == "JSL-WEIGHT:6");
  CHECK(place("{\"a\":\"x}") == "JSL-SYNTAX:8");
  CHECK(place("{\"a\":\"\\x\"}") == "JSL-SYNTAX:7");
  CHECK(place("{\"a\":\"\\ud83d\"}") == "JSL-SYNTAX:13");
  CHECK(place("{\"a\":\"\\ud83d\\u0041\"}") == "JSL-SYNTAX:19");
  CHECK(place("{\"a\":\"\\ude00\"}") == "JSL-SYNTAX:13");
  CHECK(place("{\"a\":\"\\u00g0\"}") == "JSL-SYNTAX:7");
  CHECK(place("{\"a\":\"\\u00") == "JSL-SYNTAX:7");
  CHECK(place("{\"a\":\"\xff\"}") == "JSL-SYNTAX:7");
  CHECK(place("{\"a\":\"\t\"}") == "JSL-SYNTAX:7");
  CHECK(place(std::string_view("{\"a\":\"\0\"}", 9)) == "COM-NUL:7");
  CHECK(place("{\"a\":1}\r{\"a\":2}") == "COM-CR:8");
  CHECK(place("{\"raw\":" + std::string(70, '[') + std::string(70, ']') + "}") == "JSL-SYNTAX:72");
}

TEST_CASE("jsonl: limits") {
  AllOptions options = fields();
  options.common.max_name_bytes = 4;
  CHECK(run("jsonl", "{\"a\":\"xy\"}\n", options).errors.empty());
  CHECK(run("jsonl", "{\"a\":\"xyz\"}\n", options).code() == "COM-NAME-LONG");
  options.common.max_features = 1;
  CHECK(run("jsonl", "{\"a\":1}\n", options).errors.empty());
  CHECK(run("jsonl", "{\"a\":1,\"b\":1}\n", options).code() == "COM-FEATURES");
}

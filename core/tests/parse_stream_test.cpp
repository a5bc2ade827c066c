// What holds for every format: chunks, line ends, marks, limits, blocks, the account.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;

namespace {

AllOptions small_options() {
  AllOptions options;
  options.kmers.k = 3;
  options.ngrams = {1, 2, 2, 3, true, true};
  options.fields.text_fields = {"text"};
  options.fields.weight_field = "w";
  options.fields.tag_field = "id";
  return options;
}

// Good and bad lines of every kind, each text ending without a newline.
const std::map<std::string, std::string> samples = {
    {"vw",
     "\xef\xbb\xbf"
     "1 2 'tag |ns:2 a b:3 city:paris | :4\r\n\n-1 | z a:nan\n  \n 'x | q q\n|a\n"
     "no bar\n0 | a\rb\n1 | cut"},
    {"svmlight", "# head\r\n1 qid:1 3:1 1:2\r\n\n-1 5:1 5:2\n+1 7:0.125 # tail\n2 1:\n3 9:1e3"},
    {"fasta",
     ">one\nACGTNAC\nGT\n\n>two\r\nacg\r\nTTT\r\n>bad\nACXGT\nAAA\n>none\n>long\nACGTACGTAC"},
    {"fastq",
     "@r1\nACGTA\n+\nIIIII\n\n@r2\nAC\n+r2\n@@\n@bad\nAC "
     "GT\n+\nIIIII\n@r3\nACGT\n+\n@III\n@cut\nAC\n+"},
    {"text", "pos\tNew York, new \xc3\x84rger\n\n\tno label\nneg\t\nno tab\nneg\tbye"},
    {"jsonl",
     "{\"label\":1,\"a\":2.5,\"b\":\"x\",\"c\":[\"p\",3,true,null],\"d\":{\"k\":1,\"s\":\"v\"},"
     "\"text\":\"New "
     "york\",\"w\":2,\"id\":\"t\"}\r\n\n{\"a\":[[1]]}\n{}\n{\"label\":null,\"e\":\"\\u00e4"
     "\\ud83d\\ude00\"}\n{\"a\":1"},
};

}  // namespace

TEST_CASE("any cut into two chunks, and single bytes, give the same blocks") {
  for (const auto& [format, text] : samples) {
    for (const std::size_t window : {0u, 4u}) {
      AllOptions options = small_options();
      options.kmers.window = window;
      options.kmers.stride = window == 0 ? 0 : 2;
      options.common.max_line_bytes = 200;
      const std::string whole = show(run(format, text, options, 2, 8));
      CAPTURE(format);
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        const std::string_view view = text;
        CAPTURE(cut);
        REQUIRE(show(run(format, Chunks{view.substr(0, cut), view.substr(cut)}, options, 2, 8)) ==
                whole);
      }
      Chunks bytes;
      for (std::size_t i = 0; i < text.size(); ++i)
        bytes.push_back(std::string_view(text).substr(i, 1));
      bytes.push_back({});
      REQUIRE(show(run(format, bytes, options, 2, 8)) == whole);
    }
  }
}

TEST_CASE("every line is accounted for, and columns lie within their lines") {
  for (const auto& [format, text] : samples) {
    const Parsed parsed = run(format, text, small_options());
    CAPTURE(format);
    CHECK(parsed.balanced());
    CHECK(parsed[Count::skipped] == parsed.errors.size());
    CHECK(parsed[Count::skipped] > 0);
    CHECK(parsed[Count::examples] + parsed[Count::unlabelled] == parsed.rows.size());
    CHECK(parsed[Warning::no_newline] == 1);
    CHECK(parsed.totals.byte == text.size());
    for (const Trouble& t : parsed.errors) {
      CHECK(t.line >= 1);
      CHECK(t.column >= 1);
    }
  }
}

TEST_CASE("LF and CR LF mean the same") {
  const auto rows = [](const Parsed& parsed) {
    std::string out;
    for (const Example& e : parsed.rows)
      out += std::to_string(e.line) + " " + e.tag + " " + features(e) + "\n";
    return out;
  };
  for (auto [format, text] : samples) {
    std::erase(text, '\r');
    std::string windows;
    for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
    CAPTURE(format);
    CHECK(rows(run(format, text + "\n", small_options())) ==
          rows(run(format, windows + "\r\n", small_options())));
    CHECK(run(format, text + "\n").code() == run(format, windows + "\r\n").code());
  }
}

TEST_CASE("byte order marks: UTF-8 is dropped, UTF-16 ends the stream") {
  const std::map<std::string, std::string> good = {
      {"vw", "1 | a\n"},       {"svmlight", "1 1:1\n"},
      {"fasta", ">a\nACGT\n"}, {"fastq", "@a\nACGT\n+\nIIII\n"},
      {"text", "1\ta\n"},      {"jsonl", "{\"label\":1}\n"}};
  for (const auto& [format, text] : good) {
    CAPTURE(format);
    const Parsed marked = run(format, "\xef\xbb\xbf" + text, small_options());
    CHECK(marked.rows.size() == 1);
    CHECK(marked.code() == "");
    CHECK(marked[Warning::bom] == 1);
    for (const char* mark : {"\xff\xfe", "\xfe\xff"}) {
      const Parsed wide = run(format, mark + text + text, small_options());
      CHECK(wide.code() == "!COM-UTF16");
      CHECK(wide.rows.empty());
    }
    const Parsed empty = run(format, "", small_options());
    CHECK(empty.rows.empty());
    CHECK(empty.code() == "");
    CHECK(empty[Count::lines] == 0);
    CHECK(empty[Warning::no_newline] == 0);
  }
}

TEST_CASE("lines beyond the limit are refused and their bytes not kept") {
  AllOptions options = small_options();
  options.common.max_line_bytes = 64;
  const auto line = [](std::size_t n) { return "1 | " + std::string(n - 4, 'x'); };
  for (const char* end : {"\n", "\r\n", ""}) {
    CHECK(run("vw", line(64) + end, options).code() == "");
    CHECK(run("vw", line(65) + end, options).code() == "COM-LINE-LONG");
    CHECK(run("vw", line(66) + end, options).code() == "COM-LINE-LONG");
    CHECK(run("vw", line(500) + end, options).code() == "COM-LINE-LONG");
  }
  const std::string text = "1 | a\n" + line(1000) + "\n1 | b\n";
  const std::string whole = show(run("vw", text, options));
  CHECK(run("vw", text, options).rows.size() == 2);
  for (std::size_t step = 1; step < 100; step += 7) {
    Chunks chunks;
    for (std::size_t at = 0; at < text.size(); at += step)
      chunks.push_back(std::string_view(text).substr(at, step));
    CHECK(show(run("vw", chunks, options)) == whole);
  }
  CHECK(
      run("fastq",
          "@a\n" + std::string(65, 'A') + "\n+\n" + std::string(65, 'I') + "\n@b\nACGT\n+\nIIII\n",
          options)
          .code() == "COM-LINE-LONG");
}

TEST_CASE("a block ends before the row that does not fit") {
  const std::string text = "1 1:1 2:1\n1 1:1\n1 1:1 2:1 3:1 4:1 5:1\n1 1:1\n1\n1 1:1\n";
  const Parsed parsed = run("svmlight", text, {}, 10, 4);
  CHECK(parsed.block_rows == std::vector<std::size_t>{2, 1, 3});
  CHECK(parsed.block_bytes == std::vector<std::uint64_t>{16, 38, text.size()});
  CHECK(run("svmlight", text, {}, 2, 100).block_rows == std::vector<std::size_t>{2, 2, 2, 0});
  CHECK(run("svmlight", text, {}, 1, 1).rows.size() == 6);
  CHECK(run("svmlight", text, {}, 10, 0).rows.size() == 6);
}

TEST_CASE("a block ends after a thousand errors") {
  std::string text;
  for (int i = 0; i < 2500; ++i) text += "x\n";
  const Parsed parsed = run("vw", text);
  CHECK(parsed.block_rows.size() == 3);
  CHECK(parsed[Count::skipped] == 2500);
  CHECK(parsed.balanced());
}

TEST_CASE("chunks must be read before the next, and none follows the last") {
  const auto parser = make_parser("vw", {});
  CHECK(parser->take(1, 1).hungry);
  parser->feed("1 | a\n1 | b\n", false);
  CHECK_THROWS_AS(parser->feed("x", false), std::logic_error);
  CHECK(parser->take(1, 10).rows() == 1);
  CHECK(parser->take(1, 10).rows() == 1);
  CHECK(parser->take(1, 10).hungry);
  parser->feed("", true);
  CHECK(parser->take(1, 10).done);
  CHECK_THROWS_AS(parser->feed("x", false), std::logic_error);
  CHECK(parser->take(1, 10).done);
}

TEST_CASE("two parsers that read lines in turn give what one gives") {
  for (const char* format : {"vw", "svmlight", "text", "jsonl"}) {
    const std::string& text = samples.at(format);
    const Parsed whole = run(format, text, small_options());
    const std::unique_ptr<Parser> first = make_parser(format, small_options());
    const std::unique_ptr<Parser> second = make_parser(format, small_options());
    Parsed parts;
    std::size_t at = 0;
    for (std::int64_t line = 0; at < text.size(); ++line) {
      Parser& parser = line % 2 == 0 ? *first : *second;
      const std::size_t stop = std::min(text.find('\n', at), text.size() - 1) + 1;
      second->settle_like(*first);
      parser.start_at(at, line);
      parser.feed(std::string_view(text).substr(at, stop - at), stop == text.size());
      Block block = parser.take(9, 100);
      if (block.hungry) block = parser.flush();
      keep(parts, block, parser.named());
      first->settle_like(parser);
      at = stop;
    }
    CHECK(parts.block_rows.size() > whole.block_rows.size());
    parts.block_rows = whole.block_rows;
    parts.block_bytes = whole.block_bytes;
    CHECK_MESSAGE(show(parts) == show(whole), format);
  }
}

TEST_CASE("a parser starts elsewhere only between two lines") {
  const std::unique_ptr<Parser> parser = make_parser("vw", {});
  parser->feed("1 | a\n1 | ", false);
  CHECK(parser->take(9, 10).hungry);
  CHECK_THROWS_AS(parser->start_at(100, 7), std::logic_error);
}

TEST_CASE("options outside their range are refused") {
  const auto refused = [](const char* format, auto change) {
    AllOptions options;
    change(options);
    CHECK_THROWS_AS(make_parser(format, options), std::invalid_argument);
  };
  refused("parquet", [](AllOptions&) {});
  refused("vw", [](AllOptions& o) { o.common.max_line_bytes = 0; });
  refused("vw", [](AllOptions& o) { o.common.max_features = std::size_t{1} << 33; });
  refused("fasta", [](AllOptions& o) { o.kmers.k = 0; });
  refused("fasta", [](AllOptions& o) { o.kmers.k = 33; });
  refused("fastq", [](AllOptions& o) { o.kmers = {17, true, true, true, 0, 0}; });
  refused("fasta", [](AllOptions& o) { o.kmers.window = 5; });
  refused("fasta", [](AllOptions& o) { o.kmers.window = std::size_t{1} << 30; });
  refused("text", [](AllOptions& o) { o.ngrams = {0, 0, 0, 0, true}; });
  refused("text", [](AllOptions& o) { o.ngrams = {2, 1, 0, 0, true}; });
  refused("jsonl", [](AllOptions& o) { o.ngrams = {1, 1, 0, 3, true}; });
  refused("text", [](AllOptions& o) { o.ngrams = {1, 65, 0, 0, true}; });
}

TEST_CASE("messages show input bytes escaped and shortened") {
  CHECK(quoted("plain") == "'plain'");
  CHECK(quoted("\x1b[31m\xff") == "'\\x1b[31m\\xff'");
  CHECK(quoted(std::string(100, 'a')) == "'" + std::string(40, 'a') + "'...");
}

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "bear/parse/fasta.hpp"
#include "parse_support.hpp"

using namespace bear::parse;
using namespace bear::parse::testing;
using bear::Key;

namespace {

AllOptions kmers(int k, bool canonical = false, std::size_t window = 0, std::size_t stride = 0) {
  AllOptions options;
  options.kmers = {k, false, canonical, true, window, stride};
  return options;
}

// Counts k-mers the plain way.
std::map<Key, float> count(const std::string& letters, std::size_t k, bool canonical) {
  const std::string bases = "ACGT";
  std::map<Key, float> out;
  for (std::size_t i = 0; i + k <= letters.size(); ++i) {
    Key forward = 0, reverse = 0;
    bool valid = true;
    for (std::size_t j = 0; j < k; ++j) {
      const std::size_t code = bases.find(letters[i + j]);
      const std::size_t back = bases.find(letters[i + k - 1 - j]);
      valid = valid && code != std::string::npos;
      forward = forward << 2 | code;
      reverse = reverse << 2 | (3 - back);
    }
    if (valid) ++out[canonical ? std::min(forward, reverse) : forward];
  }
  return out;
}

std::map<Key, float> counted(const Example& example) {
  std::map<Key, float> out;
  for (const Entry& e : example.entries) out[e.key] = e.value;
  return out;
}

std::string place(std::string_view text) {
  const Parsed parsed = run("fasta", text, kmers(3));
  REQUIRE(parsed.errors.size() == 1);
  const Trouble& t = parsed.errors[0];
  return t.code + ":" + std::to_string(t.line) + ":" + std::to_string(t.column);
}

}  // namespace

TEST_CASE("fasta: k-mers agree with plain counting") {
  std::mt19937 random(5);
  for (const std::size_t n : {0u, 1u, 40u, 5000u}) {
    for (const std::size_t k : {1u, 2u, 5u, 12u, 31u, 32u}) {
      for (const bool canonical : {false, true}) {
        std::string letters;
        for (std::size_t i = 0; i < n; ++i) letters += "ACGTACGTACGTACGTN"[random() % 17];
        const std::string text = ">x\n" + letters + "\n>end\nA\n";
        const Parsed parsed = run("fasta", text, kmers(static_cast<int>(k), canonical));
        const auto expected = count(letters, k, canonical);
        REQUIRE(parsed.rows.size() == 2);
        CHECK(counted(parsed.rows[0]) == expected);
        std::size_t valid = 0;
        for (const auto& [key, times] : expected) valid += static_cast<std::size_t>(times);
        CHECK(parsed[Count::invalid_windows] == (n < k ? 0 : n - k + 1) - valid);
      }
    }
  }
}

TEST_CASE("fasta: a sequence longer than what is counted at once") {
  std::mt19937 random(6);
  std::string letters;
  for (int i = 0; i < 2500000; ++i) letters += "ACGT"[random() % 4];
  const Parsed parsed = run("fasta", ">x\n" + letters + "\n", kmers(6, true), 10, 10);
  REQUIRE(parsed.rows.size() == 1);
  CHECK(counted(parsed.rows[0]) == count(letters, 6, true));
}

TEST_CASE("fasta: the canonical k-mer is the first of both strands") {
  const Parsed parsed = run("fasta", ">a\nTTT\n>b\nAAA\n>c\nACG\n>d\nCGT\n", kmers(3, true));
  REQUIRE(parsed.rows.size() == 4);
  CHECK(features(parsed.rows[0]) == "0=1");
  CHECK(features(parsed.rows[1]) == "0=1");
  CHECK(features(parsed.rows[2]) == "6=1");
  CHECK(features(parsed.rows[3]) == "6=1");
}

TEST_CASE("fasta: the IUPAC alphabet keeps every letter") {
  AllOptions options;
  options.kmers = {2, true, false, true, 0, 0};
  const Parsed parsed = run("fasta", ">a\nANry\n", options);
  CHECK(features(parsed.rows.at(0)) == "31=1 90=1 245=1");
  options.kmers.canonical = true;
  // R (A or G) and its complement Y (C or T): RY is its own reverse complement.
  CHECK(features(run("fasta", ">a\nRY\n>b\nTN\n", options).rows.at(0)) == "90=1");
  CHECK(features(run("fasta", ">b\nTN\n", options).rows.at(0)) ==
        features(run("fasta", ">b\nNA\n", options).rows.at(0)));
  options.kmers = {16, true, false, true, 0, 0};
  CHECK(features(run("fasta", ">b\nNNNNNNNNNNNNNNNN\n", options).rows.at(0)) ==
        "18446744073709551615=1");
}

TEST_CASE("fasta: records, titles, lower case, presence") {
  AllOptions options = kmers(2);
  const Parsed parsed = run("fasta", "\n>one two\nacAC\nA\n\n>\nA\n>x\n>y\nAAAA\n", options);
  REQUIRE(parsed.rows.size() == 4);
  CHECK(parsed.errors.empty());
  CHECK(parsed.rows[0].tag == "one two");
  CHECK(parsed.rows[0].line == 2);
  CHECK(features(parsed.rows[0]) == "1=2 4=2");
  CHECK(features(parsed.rows[1]) == "");
  CHECK(features(parsed.rows[2]) == "");
  CHECK(features(parsed.rows[3]) == "0=3");
  CHECK(parsed[Count::empty] == 2);
  CHECK(parsed[Count::records] == 4);
  CHECK(parsed[Count::examples] == 4);
  options.kmers.counts = false;
  CHECK(features(run("fasta", ">y\nAAAA\n", options).rows.at(0)) == "0=1");
}

TEST_CASE("fasta: windows") {
  const auto reads = [](const std::string& letters, std::size_t window, std::size_t stride) {
    std::string out;
    for (const Example& e :
         run("fasta", ">t\n" + letters + "\n>u\n", kmers(2, false, window, stride)).rows)
      out += "[" + features(e) + "]";
    return out;
  };
  // AC=1 CG=6 GT=11 TA=12 AA=0
  CHECK(reads("ACGTACGT", 4, 4) == "[1=1 6=1 11=1][1=1 6=1 11=1]");
  CHECK(reads("ACGTACGT", 4, 0) == reads("ACGTACGT", 4, 4));
  CHECK(reads("ACGTAC", 4, 4) == "[1=1 6=1 11=1][1=1]");  // the rest is a read of its own
  CHECK(reads("ACGTA", 4, 4) == "[1=1 6=1 11=1]");        // unless it is shorter than k
  CHECK(reads("ACGTA", 4, 1) == "[1=1 6=1 11=1][6=1 11=1 12=1]");
  CHECK(reads("ACGTAC", 4, 2) == "[1=1 6=1 11=1][1=1 11=1 12=1]");
  CHECK(reads("AC", 4, 4) == "[1=1]");
  CHECK(reads("A", 4, 4) == "[]");
  CHECK(reads("ACGTAAAACC", 4, 8) == "[1=1 6=1 11=1][5=1]");
}

TEST_CASE("fasta: RNA has the k-mers of its DNA") {
  for (const bool iupac : {false, true}) {
    AllOptions options = kmers(3, true);
    options.kmers.iupac = iupac;
    const Parsed dna = run("fasta", ">a\nACGTTRACT\n", options);
    const Parsed rna = run("fasta", ">a\nACGUuRACu\n", options);
    CHECK(rna.errors.empty());
    REQUIRE(rna.rows.size() == 1);
    CHECK(counted(rna.rows[0]) == counted(dna.rows[0]));
    CHECK(!counted(dna.rows[0]).empty());
  }
}

TEST_CASE("fasta: what is refused, by code, line and column") {
  CHECK(place("ACGT\n>a\nACGT\n") == "FA-HEADER:1:1");
  CHECK(place("@a\nACGT\n+\nIIII\n") == "FA-HEADER:1:1");
  CHECK(place(">a\nACGT\nACJT\nACGT\n>b\nACGT\n") == "FA-LETTER:3:3");
  CHECK(place(">a\nAC GT\n") == "FA-LETTER:2:3");
  CHECK(place(">a\nAC-GT\n") == "FA-LETTER:2:3");
  CHECK(place(">a\nAC\xc3\n") == "FA-LETTER:2:3");
  CHECK(place(">a\nACGT\n>b\n") == "FA-EMPTY:3:1");
  CHECK(place(">a\nACGT\n>b") == "FA-EMPTY:3:1");
  CHECK(place(">a\nACGT\n>b\n\n") == "FA-EMPTY:3:1");
  CHECK(place(std::string_view(">a\0\nACGT\n", 9)) == "COM-NUL:1:3");
  CHECK(place(std::string_view(">a\nAC\0GT\n", 9)) == "COM-NUL:2:3");
  CHECK(place(">a\rACGT\r") == "COM-CR:1:3");
  CHECK(place(">a\nACGT\rACGT\n") == "COM-CR:2:5");
  CHECK(place(">" + std::string(1 << 20, 'x') + "\nACGT\n") == "FA-TITLE-LONG:1:1");
  CHECK(run("fasta", ">" + std::string((1 << 20) - 1, 'x') + "\nACGT\n").errors.empty());
  CHECK(run("fasta", ">\xff\xfe t\nACGT\n").errors.empty());
}

TEST_CASE("fasta: reading continues at the next header") {
  const Parsed parsed = run("fasta", ">a\nACXGT\nACGT\n>b\nACG\n", kmers(3));
  REQUIRE(parsed.rows.size() == 1);
  CHECK(parsed.rows[0].tag == "b");
  CHECK(parsed.rows[0].line == 4);
  CHECK(parsed.errors[0].excerpt == "a");
  CHECK(parsed.balanced());
}

TEST_CASE("fasta: the number of different k-mers is limited on both sides") {
  AllOptions options = kmers(2);
  options.common.max_features = 3;
  CHECK(run("fasta", ">a\nACGTACGT\n", options).code() == "COM-FEATURES");
  CHECK(run("fasta", ">a\nACGTCGT\n>b\nAC\n", options).code() == "COM-FEATURES");
  CHECK(run("fasta", ">a\nACGCGT\n>b\nAC\n", options).code() == "COM-FEATURES");
  CHECK(run("fasta", ">a\nACGCGCG\n>b\nAC\n", options).code() == "");
}

// What a parser hands over: examples as CSR arrays, the errors between them, and the account.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bear/key.hpp"
#include "bear/parse/buffer.hpp"

namespace bear::parse {

// One refused line or record, or the end of a stream that cannot be read on.
struct Trouble {
  std::int64_t line = 0, column = 0;  // from 1; in the decoded stream
  std::string code;                   // stable, such as LSV-IDX-RANGE
  std::string message;                // printable ASCII
  std::string excerpt;                // raw bytes around the column, at most excerpt_bytes
};

// lines = examples + unlabelled + skipped + blank + comment, in every block. FASTA and FASTQ count
// reads as lines: each is a row handed over (examples) or a record refused (skipped). `empty` are
// those rows that have no features; the rest concern one format each.
enum class Count {
  lines,
  examples,
  unlabelled,
  blank,
  comment,
  skipped,
  empty,
  duplicates,       // entries added onto the same feature of their row
  collisions,       // of those, with another name (two names on one key)
  qid,              // svmlight query ids, which are not used
  records,          // FASTA and FASTQ headers
  invalid_windows,  // k-mer windows with a letter outside the alphabet
};
inline constexpr std::array count_names = {
    "lines", "examples",   "unlabelled", "blank", "comment", "skipped",
    "empty", "duplicates", "collisions", "qid",   "records", "invalid_windows"};

enum class Warning {
  no_newline,  // the last line has no newline: the file may be cut
  bom,         // a UTF-8 byte order mark was dropped
  tag_number,  // VW: a number that touches the bar is a tag, so the example has no label
};
inline constexpr std::array warning_names = {"COM-NO-NEWLINE", "COM-BOM", "VW-TAG-NUMBER"};

enum class LabelKind { unknown, number, name };

struct Block {
  Block() { indptr.push(0); }

  // As new, but for the memory it has.
  void reset();
  // Takes the memory that rows as those of another need, and a little more: what grows step by step
  // leaves holes behind that others are too large for.
  void reserve_like(const Block& other);
  // Bytes of that memory.
  std::size_t capacity() const;

  Buffer<std::int64_t> indptr;
  Buffer<Key> keys;       // strictly ascending in each row
  Buffer<float> values;   // finite, never 0
  Strings names;          // one per entry, when the parser keeps names
  Buffer<double> labels;  // NaN: unlabelled, or the label is a name
  Strings label_names;    // one per row when label_kind is name; empty: unlabelled
  Buffer<double> weights;
  Strings tags;  // one per row when tagged
  Buffer<std::int64_t> line_of_row;
  std::vector<Trouble> errors;   // in order; at most max_errors
  std::optional<Trouble> fatal;  // nothing is read after it
  std::array<std::uint64_t, count_names.size()> counts{};
  std::array<std::uint64_t, warning_names.size()> warnings{};
  LabelKind label_kind = LabelKind::unknown;
  bool named = false;      // the parser keeps names
  bool labelled = true;    // the format has labels of its own
  bool weighted = false;   // some weight is not 1
  bool tagged = false;     // some row has a tag
  bool hungry = false;     // nothing here yet: feed more bytes, take again
  bool done = false;       // the stream ends with this block
  std::uint64_t byte = 0;  // decoded bytes read up to the end of this block
  std::int64_t line = 0;   // lines read up to the end of this block

  std::size_t rows() const { return indptr.size() - 1; }
  std::uint64_t& operator[](Count c) { return counts[static_cast<std::size_t>(c)]; }
  std::uint64_t operator[](Count c) const { return counts[static_cast<std::size_t>(c)]; }
  std::uint64_t& operator[](Warning w) { return warnings[static_cast<std::size_t>(w)]; }
  std::uint64_t operator[](Warning w) const { return warnings[static_cast<std::size_t>(w)]; }
};

inline constexpr std::size_t excerpt_bytes = 60;
// A block ends after this many errors, or this many bytes of names and tags, whatever its rows:
// its size must not depend on how bad or how wordy the data is.
inline constexpr std::size_t max_errors = 1000;
inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;

}  // namespace bear::parse

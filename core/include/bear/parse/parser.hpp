// What all parsers share: bytes in, blocks of examples out, every line accounted for.
//
// A parser reads no files. Its caller loops:
//
//   parser.feed(chunk, final);
//   Block block = parser.take(max_rows, max_entries);   // again and again, until hungry or done
//
// Where blocks end depends on the bytes only, never on how they were cut into chunks.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "bear/parse/block.hpp"
#include "bear/parse/number.hpp"
#include "bear/parse/options.hpp"
#include "bear/parse/row.hpp"
#include "bear/parse/splitter.hpp"

namespace bear::parse {

class Parser {
 public:
  Parser(const Options& options, std::string prefix, std::size_t max_line_bytes);
  virtual ~Parser() = default;
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Hands over the next bytes, borrowed until a block comes back hungry or done. Throws
  // std::logic_error when bytes of the last chunk are still unread.
  void feed(std::string_view chunk, bool final) { splitter_.feed(chunk, final); }

  // At most max_rows examples, and no more than max_entries entries unless one row alone has more.
  // A hungry block is empty: what was read so far is kept for the next call.
  Block take(std::size_t max_rows, std::size_t max_entries);

  // What was read since the last block, however little; nothing may be left of the chunk.
  Block flush() { return hand_over(); }

  // For parsers that read parts of one stream, each from the start of a line: where the next part
  // begins, and the kind of labels that another has seen.
  void start_at(std::uint64_t byte, std::int64_t line) { splitter_.start_at(byte, line); }
  void settle_like(const Parser& other) { label_kind_ = other.label_kind_; }
  bool settled() const { return label_kind_ != LabelKind::unknown || !labelled(); }

  // Gives a block back, for its memory: pages that are new each time take a third of the time of
  // the fastest parser.
  void recycle(Block&& block) {
    spare_ = std::move(block);
    spare_.reset();
  }
  bool has_spare() const { return spare_.keys.capacity() > 0; }

  // Lines read so far, those of no block yet included.
  std::int64_t lines_read() const { return splitter_.lines(); }

  // Whether blocks carry a name for each entry.
  virtual bool named() const { return options_.names; }
  // Whether the format has labels of its own; else every row is an example to be labelled later.
  virtual bool labelled() const { return true; }
  // Fields the options name that no example has had so far.
  virtual std::vector<std::string> unmet_fields() const { return {}; }

 protected:
  enum class Step { went_on, hungry, end };

  // Reads one line or record, or as much of it as there is.
  virtual Step step() = 0;

  // Remembers what is wrong with the line; `at` is a byte of the line. Returns false.
  bool fail(std::string_view code, const char* at, std::string message);
  // The same for limits and faults that all formats share: `code` stands as it is.
  bool fail_shared(const char* code, const char* at, std::string message);
  // Whether fail() was called since the row was started.
  bool failed() const { return failed_; }

  // Label of the row: a number or a name. False (and fail) if it is neither, or not of the kind
  // the stream has. `token` must live until the row is committed; `at` is its place in the line.
  bool set_label(std::string_view token, const char* at);
  // Importance of the row, not negative.
  bool set_weight(std::string_view token, const char* at);
  void set_tag(std::string_view tag) { tag_ = tag; }
  // The value as a float, or fail.
  bool fit_value(double value, const char* at, float& out) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) [[unlikely]]
      return fail_range(at);
    out = static_cast<float>(value);
    return true;
  }

  // A feature named by hash, or fail; see Row::add.
  bool add(std::string_view name, std::size_t readable, float value, const char* at) {
    if (row_.space_size() + name.size() > options_.max_name_bytes) [[unlikely]]
      return fail_name(row_.space_size() + name.size(), at);
    return row_.add(name, readable, value) == Row::Added::yes || fail_features(at);
  }
  bool add(std::string_view name, float value, const char* at) {
    return add(name, name.size(), value, at);
  }
  bool fail_features(const char* at);

  void start_row();
  // Puts the row in order and into the block; `line` is its line number. False (and fail) if a sum
  // is out of range or a feature occurs twice where that is refused.
  bool commit_row(std::int64_t line, Duplicates duplicates);
  // What the last fail() said about a line, with an excerpt of its text.
  Trouble trouble(std::int64_t line, std::string_view text) const;
  // Keeps the error and counts the line as skipped.
  void reject(Trouble trouble);
  // Ends the stream with an error.
  void stop(Trouble trouble);
  // Counts something that belongs to the row, once the row is committed.
  void count_in_row(Count what, std::uint64_t n) {
    row_counts_[static_cast<std::size_t>(what)] += n;
  }
  // Counts a line that is no example and no error.
  void pass(Count what);
  void warn(Warning warning) { ++block_[warning]; }
  // Drops a byte order mark from the first line; false (and fail) for UTF-16.
  bool drop_mark(std::string_view& line);

  Options options_;
  Splitter splitter_;
  Row row_;
  Block block_;            // being filled
  std::string_view line_;  // being read; error columns count from its start

 private:
  bool fail_name(std::size_t bytes, const char* at);
  bool fail_range(const char* at);
  bool full(std::size_t max_rows, std::size_t max_entries) const;
  Block hand_over();
  void push_row_columns(Block& block, std::int64_t line);
  void note_position(Block& block) const;

  std::string prefix_;  // of this format's reason codes
  Block next_;          // holds the row that did not fit into block_
  Block spare_;         // given back, to be filled again
  bool row_waits_ = false, ended_ = false;
  std::size_t max_entries_ = 0;
  LabelKind label_kind_ = LabelKind::unknown;

  // The row's columns, until it is committed.
  bool labelled_ = false;
  double label_ = 0, weight_ = 1;
  std::string_view label_name_, tag_;
  LabelKind row_label_kind_ = LabelKind::unknown;
  std::array<std::uint64_t, count_names.size()> row_counts_{};

  // What fail() was given.
  std::string code_, message_;
  std::size_t column_ = 0;
  bool failed_ = false;
};

// A format in which every example is one line.
class LineParser : public Parser {
 public:
  LineParser(const Options& options, std::string prefix)
      : Parser(options, std::move(prefix), options.max_line_bytes) {}

 protected:
  enum class Line { row, blank, comment, error };

  // Reads line_, for which a row has been started. Line::error after fail().
  virtual Line parse_line() = 0;
  // Reports on a feature that occurs twice; called only where duplicates are refused.
  virtual void fail_duplicate() {}
  virtual Duplicates duplicates() const { return Duplicates::sum; }

 private:
  Step step() override;
  void finish_line(Line outcome);
};

// Bytes of the input as they may stand in a message: printable, quoted, shortened.
std::string quoted(std::string_view text);

// The format whose first line this could be, if it is not `format`: for hints, and to refuse a file
// of another format at its first line. Empty if there is no such sign.
std::string_view looks_like(std::string_view first_line);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool all_blank(std::string_view text);

}  // namespace bear::parse

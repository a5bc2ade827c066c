#include "bear/parse/parser.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bear::parse {

Parser::Parser(const Options& options, std::string prefix, std::size_t max_line_bytes)
    : options_(options), splitter_(max_line_bytes), row_(options), prefix_(std::move(prefix)) {
  if (options.labels == Labels::number) label_kind_ = LabelKind::number;
  if (options.labels == Labels::name) label_kind_ = LabelKind::name;
}

Block Parser::take(std::size_t max_rows, std::size_t max_entries) {
  max_entries_ = max_entries;
  while (!ended_ && !full(max_rows, max_entries)) {
    switch (step()) {
      case Step::went_on:
        break;
      case Step::end:
        if (splitter_.cut()) warn(Warning::no_newline);
        ended_ = true;
        break;
      case Step::hungry: {
        Block hungry;
        hungry.hungry = true;
        return hungry;
      }
    }
  }
  return hand_over();
}

// A block that has no rows yet takes one, however few entries it may have.
bool Parser::full(std::size_t max_rows, std::size_t max_entries) const {
  const std::size_t text =
      block_.names.data.size() + block_.tags.data.size() + block_.label_names.data.size();
  return row_waits_ || block_.rows() >= max_rows || block_.errors.size() >= max_errors ||
         (block_.rows() > 0 && (block_.keys.size() >= max_entries || text >= max_text_bytes));
}

Block Parser::hand_over() {
  block_.label_kind = label_kind_;
  block_.named = named();
  block_.labelled = labelled();
  if (label_kind_ == LabelKind::name) block_.label_names.pad(block_.rows());
  if (block_.tagged) block_.tags.pad(block_.rows());
  block_.done = ended_ && !row_waits_;
  if (block_.done || block_.line == 0) note_position(block_);
  Block out = std::move(block_);
  Block& follows = row_waits_ ? next_ : spare_;
  block_ = std::move(follows);
  follows = Block();
  row_waits_ = false;
  // The next block is likely to be about as large as this one.
  block_.reserve_like(out);
  return out;
}

bool Parser::fail(std::string_view code, const char* at, std::string message) {
  fail_shared("", at, std::move(message));
  code_ = prefix_ + "-" + std::string(code);
  return false;
}

bool Parser::fail_shared(const char* code, const char* at, std::string message) {
  failed_ = true;
  code_ = code;
  message_ = std::move(message);
  const std::size_t offset = static_cast<std::size_t>(at - line_.data());
  column_ = std::min(offset, line_.empty() ? 0 : line_.size() - 1) + 1;
  return false;
}

bool Parser::fail_name(std::size_t bytes, const char* at) {
  return fail_shared("COM-NAME-LONG", at,
                     "feature name of " + std::to_string(bytes) + " bytes is above the limit of " +
                         std::to_string(options_.max_name_bytes) + " (name_bytes)");
}

bool Parser::fail_features(const char* at) {
  return fail_shared("COM-FEATURES", at,
                     "more features in one example than the limit of " +
                         std::to_string(options_.max_features) + " (row_features)");
}

bool Parser::set_label(std::string_view token, const char* at) {
  double number = 0;
  const bool reads = read_number(token, number);
  const bool is_number = reads && std::isfinite(number);
  LabelKind kind = label_kind_;
  if (kind == LabelKind::unknown) {
    if (reads != is_number || is_non_finite_word(token))
      return fail("LABEL", at, "label must be finite, got " + quoted(token));
    kind = is_number ? LabelKind::number : LabelKind::name;
  } else if (kind == LabelKind::number && !is_number) {
    return fail("LABEL", at, "label must be a finite number, got " + quoted(token));
  } else if (kind == LabelKind::name && is_number && options_.labels == Labels::automatic) {
    return fail("LABEL", at,
                "label must be a name as the first label is, got the number " + quoted(token) +
                    "; labels=\"name\" takes both as names");
  }
  if (token.size() > options_.max_name_bytes) return fail_name(token.size(), at);
  labelled_ = true;
  row_label_kind_ = kind;
  label_ = kind == LabelKind::number ? number : std::numeric_limits<double>::quiet_NaN();
  label_name_ = kind == LabelKind::name ? token : std::string_view();
  return true;
}

bool Parser::set_weight(std::string_view token, const char* at) {
  double number = 0;
  if (!read_number(token, number) || !std::isfinite(number) || number < 0)
    return fail("WEIGHT", at, "weight must be a finite number, 0 or more, got " + quoted(token));
  // As values are: then those of any minibatch add up to a number.
  if (number > std::numeric_limits<float>::max())
    return fail("WEIGHT", at, "weight exceeds float32 range (largest 3.4028235e38)");
  weight_ = number;
  return true;
}

bool Parser::fail_range(const char* at) {
  return fail("VALUE-RANGE", at, "value exceeds float32 range (largest 3.4028235e38)");
}

void Parser::start_row() {
  row_.start(block_);
  labelled_ = false;
  row_label_kind_ = LabelKind::unknown;
  label_ = std::numeric_limits<double>::quiet_NaN();
  weight_ = 1;
  label_name_ = tag_ = {};
  row_counts_.fill(0);
  failed_ = false;
}

bool Parser::commit_row(std::int64_t line, Duplicates duplicates) {
  switch (row_.finish(duplicates)) {
    case Row::Finished::yes:
      break;
    case Row::Finished::duplicate:
      return false;
    case Row::Finished::out_of_range:
      return fail("VALUE-RANGE", line_.data(), "values of one feature add up beyond float32 range");
  }
  if (labelled_) label_kind_ = row_label_kind_;
  row_waits_ = block_.rows() > 0 && block_.keys.size() > max_entries_;
  if (row_waits_) row_.move_to(next_);
  push_row_columns(row_waits_ ? next_ : block_, line);
  return true;
}

void Parser::push_row_columns(Block& block, std::int64_t line) {
  if (label_kind_ == LabelKind::name) {
    block.label_names.pad(block.rows());
    block.label_names.push(label_name_);
  }
  if (!tag_.empty()) {
    block.tagged = true;
    block.tags.pad(block.rows());
    block.tags.push(tag_);
  }
  block.indptr.push(static_cast<std::int64_t>(block.keys.size()));
  block.labels.push(label_);
  block.weights.push(weight_);
  block.weighted = block.weighted || weight_ != 1;
  block.line_of_row.push(line);
  ++block[Count::lines];
  ++block[labelled_ || !labelled() ? Count::examples : Count::unlabelled];
  block[Count::empty] += row_.size() == 0;
  block[Count::duplicates] += row_.duplicates();
  block[Count::collisions] += row_.collisions();
  for (std::size_t i = 0; i < row_counts_.size(); ++i) block.counts[i] += row_counts_[i];
  note_position(block);
}

void Parser::reject(Trouble trouble) {
  row_.drop();
  block_.errors.push_back(std::move(trouble));
  ++block_[Count::skipped];
  pass(Count::lines);
}

void Parser::stop(Trouble trouble) {
  block_.fatal = std::move(trouble);
  ended_ = true;
  note_position(block_);
}

void Parser::pass(Count what) {
  if (what != Count::lines) ++block_[Count::lines];
  ++block_[what];
  note_position(block_);
}

void Parser::note_position(Block& block) const {
  block.byte = splitter_.byte();
  block.line = splitter_.lines();
}

// NUL bytes and lone carriage returns break every format, and explain the error better than the
// place where the grammar noticed them.
Trouble Parser::trouble(std::int64_t line, std::string_view text) const {
  Trouble out{line, static_cast<std::int64_t>(column_), code_, message_, {}};
  std::size_t at = std::min(text.find('\0'), text.find('\r'));
  if (at != std::string_view::npos && code_ != "COM-UTF16" && code_ != "COM-LINE-LONG") {
    out.column = static_cast<std::int64_t>(at) + 1;
    out.code = text[at] == '\0' ? "COM-NUL" : "COM-CR";
    out.message = text[at] == '\0'
                      ? "NUL byte in a text file; is it UTF-16 or binary?"
                      : "carriage return inside a line; CR line ends? convert them to LF";
  }
  at = static_cast<std::size_t>(out.column) - 1;
  const std::size_t from = at > excerpt_bytes / 3 ? at - excerpt_bytes / 3 : 0;
  out.excerpt = text.substr(std::min(from, text.size()), excerpt_bytes);
  return out;
}

bool Parser::drop_mark(std::string_view& line) {
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"))
    return fail_shared("COM-UTF16", line.data(), "file is UTF-16; convert it to UTF-8");
  if (line.starts_with("\xef\xbb\xbf")) {
    line.remove_prefix(3);
    warn(Warning::bom);
  }
  return true;
}

}  // namespace bear::parse

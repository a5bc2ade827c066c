#include "bear/parse/fastq.hpp"

#include <algorithm>

namespace bear::parse {

Parser::Step FastqParser::step() {
  if (state_ == State::reads) return hand_over_read();
  const Splitter::Found found = splitter_.next(line_);
  if (found == Splitter::Found::hungry) return Step::hungry;
  if (found == Splitter::Found::end) return end_stream();
  if (splitter_.lines() == 1 && !drop_mark(line_)) {
    stop(trouble(1, line_.substr(0, excerpt_bytes)));
    return Step::end;
  }
  if (found == Splitter::Found::overlong) {
    line_ = {};
    refuse(1, "COM-LINE-LONG",
           "line is above the limit of " + std::to_string(options_.max_line_bytes) +
               " bytes (max_line_bytes)");
  } else {
    read_line();
  }
  return Step::went_on;
}

void FastqParser::read_line() {
  switch (state_) {
    case State::title:
      return read_title();
    case State::letters:
      return read_letters();
    case State::plus:
      return read_plus();
    default:
      return read_qualities();
  }
}

void FastqParser::read_title() {
  if (all_blank(line_)) return;
  if (!line_.starts_with('@')) {
    const std::string_view other = splitter_.lines() == 1 ? looks_like(line_) : std::string_view();
    title_.clear();
    return refuse(1, own("HEADER"),
                  other.empty() ? "a record must start with '@'; sequences over several lines are "
                                  "not supported"
                                : "a record must start with '@'; looks like " + std::string(other));
  }
  if (line_.size() > max_title_bytes)
    return refuse(1, own("TITLE-LONG"), "header line is above the limit of 1 MiB");
  const std::size_t bad = std::min(line_.find('\0'), line_.find('\r'));
  if (bad != std::string_view::npos) return refuse_byte(bad + 1);
  title_ = line_.substr(1);
  title_line_ = splitter_.lines();
  state_ = State::letters;
}

void FastqParser::read_letters() {
  const auto bad =
      std::find_if_not(line_.begin(), line_.end(), [this](char c) { return kmers_.is_letter(c); });
  if (bad != line_.end()) return refuse_byte(static_cast<std::size_t>(bad - line_.begin()) + 1);
  letters_ = line_;
  state_ = State::plus;
}

void FastqParser::read_plus() {
  if (!line_.starts_with('+')) {
    const bool more = !line_.empty() && std::all_of(line_.begin(), line_.end(),
                                                    [this](char c) { return kmers_.is_letter(c); });
    return refuse(1, own("PLUS"),
                  more ? "third line must start with '+'; a sequence over several lines is not "
                         "supported, write it in one"
                       : "third line must start with '+', got " + quoted(line_));
  }
  if (line_.size() > 1 && line_.substr(1) != title_)
    return refuse(1, own("TITLE-DIFFERS"), "title after '+' differs from the title after '@'");
  lost_ = false;
  state_ = State::qualities;
}

void FastqParser::read_qualities() {
  const auto bad =
      std::find_if(line_.begin(), line_.end(), [](char c) { return c < '!' || c > '~'; });
  if (bad != line_.end()) {
    const auto column = static_cast<std::size_t>(bad - line_.begin()) + 1;
    if (*bad == '\0' || *bad == '\r') return refuse_byte(column);
    return refuse(column, own("QUALITY"), "quality must be '!' to '~', got " + quoted({&*bad, 1}));
  }
  if (line_.size() != letters_.size())
    return refuse(1, own("LENGTH"),
                  std::to_string(letters_.size()) + " letters but " + std::to_string(line_.size()) +
                      " qualities; the record may be cut, or spread over several lines");
  ++block_[Count::records];
  kmers_.start();
  unread_ = letters_;
  state_ = State::reads;
}

// One read at a time: a block can end after each.
Parser::Step FastqParser::hand_over_read() {
  unread_.remove_prefix(kmers_.read(unread_));
  const bool more = kmers_.full();
  if ((!more && !kmers_.rest()) || !commit_read() || !more) state_ = State::title;
  return Step::went_on;
}

Parser::Step FastqParser::end_stream() {
  if (state_ == State::title) return Step::end;
  line_ = {};
  refuse(1, own("TRUNCATED"), "last record has fewer than four lines: the file may be cut");
  return Step::went_on;
}

void FastqParser::refuse_byte(std::size_t column) {
  auto [code, message] = byte_fault(line_[column - 1]);
  refuse(column, std::move(code), std::move(message));
}

// Counts an error once, until a record is found again; the line may be the title of the next.
void FastqParser::refuse(std::size_t column, std::string code, std::string message) {
  const bool was_title = state_ == State::title;
  if (!lost_) {
    reject_record(splitter_.lines(), column, std::move(code), std::move(message));
    ++block_[Count::records];
  }
  lost_ = true;
  state_ = State::title;
  if (!was_title && line_.starts_with('@')) read_title();
}

}  // namespace bear::parse

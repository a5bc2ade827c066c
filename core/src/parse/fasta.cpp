#include "bear/parse/fasta.hpp"

#include <cstring>

namespace bear::parse {

// `outside`: no header has been seen yet, so lines are read whole, with a limit.
Parser::Step FastaParser::step() {
  if (state_ == State::outside || state_ == State::title) return read_title();
  const std::string_view rest = splitter_.rest();
  if (rest.empty()) return splitter_.final() ? end_stream() : Step::hungry;
  if (column_ == 0 && rest.front() == '>') {
    if (state_ == State::sequence) return end_record();
    state_ = State::title;
    return read_title();
  }
  return state_ == State::skipping ? skip_line(rest) : read_letters(rest);
}

Parser::Step FastaParser::read_title() {
  const Splitter::Found found = splitter_.next(line_);
  if (found == Splitter::Found::hungry) return Step::hungry;
  if (found == Splitter::Found::end) return Step::end;
  if (splitter_.lines() == 1 && !drop_mark(line_)) {
    stop(trouble(1, line_.substr(0, excerpt_bytes)));
    return Step::end;
  }
  if (state_ == State::outside && all_blank(line_)) return Step::went_on;
  const bool overlong = found == Splitter::Found::overlong;
  if (overlong || !line_.starts_with('>') || line_.find('\0') != std::string_view::npos ||
      line_.find('\r') != std::string_view::npos) {
    refuse_title(overlong);
    state_ = State::skipping;
    return Step::went_on;
  }
  start_record(line_);
  state_ = State::sequence;
  return Step::went_on;
}

void FastaParser::refuse_title(bool overlong) {
  start_row();
  if (!line_.starts_with('>')) {
    const std::string_view other = looks_like(line_);
    fail("HEADER", line_.data(),
         "a record must start with '>'" +
             (other.empty() ? std::string() : "; looks like " + std::string(other)));
  } else if (overlong) {
    fail("TITLE-LONG", line_.data(), "header line is above the limit of 1 MiB");
  } else {
    fail("TITLE", line_.data(), "control byte in the header");  // becomes COM-NUL or COM-CR
  }
  ++block_[Count::records];
  reject(trouble(splitter_.lines(), overlong ? line_.substr(0, excerpt_bytes) : line_));
}

Parser::Step FastaParser::read_letters(std::string_view rest) {
  if (after_cr_ && rest.front() != '\n') {
    refuse_letter(column_, '\r');
    return Step::went_on;
  }
  const std::size_t used = kmers_.read(rest);
  splitter_.skip(used, 0);
  column_ += used;
  if (kmers_.full() || kmers_.too_many()) {
    if (!commit_read()) state_ = State::skipping;
    return Step::went_on;
  }
  if (used == rest.size()) return Step::went_on;
  const char byte = rest[used];
  if (byte == '\n' || byte == '\r') {
    splitter_.skip(1, byte == '\n');
    column_ = byte == '\n' ? 0 : column_ + 1;
    after_cr_ = byte == '\r';
  } else {
    refuse_letter(column_ + 1, byte);
  }
  return Step::went_on;
}

void FastaParser::refuse_letter(std::size_t column, char byte) {
  auto [code, message] = byte_fault(byte);
  reject_record(splitter_.lines() + 1, column, std::move(code), std::move(message));
  state_ = State::skipping;
  after_cr_ = false;
}

Parser::Step FastaParser::skip_line(std::string_view rest) {
  const std::size_t newline = rest.find('\n');
  const bool ends = newline != std::string_view::npos;
  splitter_.skip(ends ? newline + 1 : rest.size(), ends);
  column_ = ends ? 0 : column_ + rest.size();
  return Step::went_on;
}

// The next header, or the end, closes the record. One read at a time: a block can end after it.
Parser::Step FastaParser::end_record() {
  state_ = State::skipping;
  if (kmers_.rest()) commit_read();
  return Step::went_on;
}

Parser::Step FastaParser::end_stream() {
  if (column_ > 0) splitter_.end_cut_line();
  column_ = 0;
  if (state_ != State::sequence) return Step::end;
  if (kmers_.letters() > 0) return end_record();
  reject_record(title_line_, 1, own("EMPTY"), "last record has no sequence: the file may be cut");
  state_ = State::skipping;
  return Step::went_on;
}

}  // namespace bear::parse

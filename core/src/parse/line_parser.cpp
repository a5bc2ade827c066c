#include <algorithm>

#include "bear/parse/parser.hpp"

namespace bear::parse {

Parser::Step LineParser::step() {
  switch (splitter_.next(line_)) {
    case Splitter::Found::hungry:
      return Step::hungry;
    case Splitter::Found::end:
      return Step::end;
    case Splitter::Found::overlong:
      start_row();
      fail_shared("COM-LINE-LONG", line_.data(),
                  "line is above the limit of " + std::to_string(options_.max_line_bytes) +
                      " bytes (max_line_bytes)");
      reject(trouble(splitter_.lines(), line_.substr(0, excerpt_bytes)));
      return Step::went_on;
    case Splitter::Found::line:
      break;
  }
  if (splitter_.lines() == 1 && !drop_mark(line_)) {
    stop(trouble(1, line_));
    return Step::end;
  }
  start_row();
  finish_line(parse_line());
  return Step::went_on;
}

void LineParser::finish_line(Line outcome) {
  switch (outcome) {
    case Line::blank:
      pass(Count::blank);
      return;
    case Line::comment:
      pass(Count::comment);
      return;
    case Line::row:
      if (commit_row(splitter_.lines(), duplicates())) return;
      if (duplicates() == Duplicates::refuse) fail_duplicate();
      break;
    case Line::error:
      break;
  }
  reject(trouble(splitter_.lines(), line_));
}

std::string quoted(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  constexpr std::size_t limit = 40;
  std::string out = "'";
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return out + (text.size() > limit ? "'..." : "'");
}

std::string_view looks_like(std::string_view first_line) {
  if (first_line.empty()) return {};
  switch (first_line.front()) {
    case '>':
      return "FASTA";
    case '@':
      return "FASTQ";
    case '{':
      return "JSON Lines";
    case '[':
      return "a JSON array";
    default:
      return first_line.starts_with("PAR1") ? "Parquet" : "";
  }
}

bool all_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_blank); }

}  // namespace bear::parse

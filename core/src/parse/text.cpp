#include "bear/parse/text.hpp"

namespace bear::parse {

LineParser::Line TextParser::parse_line() {
  if (all_blank(line_)) return Line::blank;
  if (line_.find('\0') != std::string_view::npos || line_.find('\r') != std::string_view::npos) {
    fail("BYTE", line_.data(), "control byte in the text");  // becomes COM-NUL or COM-CR
    return Line::error;
  }
  std::string_view text = line_;
  if (labelled_) {
    const std::size_t tab = line_.find('\t');
    if (tab == std::string_view::npos) {
      fail("LABEL", line_.data(), "no TAB in the line: a label and a TAB come before the text");
      return Line::error;
    }
    const std::string_view label = line_.substr(0, tab);
    if (!label.empty() && !set_label(label, label.data())) return Line::error;
    text.remove_prefix(tab + 1);
  }
  row_.count_once(!counts_);
  const bool read =
      ngrams_.each(text, {}, [&](std::string_view name) { return add(name, 1, text.data()); });
  return read ? Line::row : Line::error;
}

}  // namespace bear::parse

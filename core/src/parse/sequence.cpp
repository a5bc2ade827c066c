#include "bear/parse/sequence.hpp"

namespace bear::parse {

void SequenceParser::start_record(std::string_view header) {
  title_ = header.substr(1);
  title_line_ = splitter_.lines();
  kmers_.start();
  ++block_[Count::records];
}

bool SequenceParser::commit_read() {
  start_row();
  set_tag(title_);
  if (!kmers_.take(row_)) {
    reject_record(title_line_, 1, "COM-FEATURES",
                  "more k-mers in one read than the limit of " +
                      std::to_string(options_.max_features) + " (row_features)");
    return false;
  }
  count_in_row(Count::invalid_windows, kmers_.invalid_windows());
  return commit_row(title_line_, Duplicates::sum);
}

void SequenceParser::reject_record(std::int64_t line, std::size_t column, std::string code,
                                   std::string message) {
  start_row();
  reject({line, static_cast<std::int64_t>(column), std::move(code), std::move(message),
          title_.substr(0, excerpt_bytes)});
}

std::pair<std::string, std::string> SequenceParser::byte_fault(char byte) const {
  if (byte == '\0') return {"COM-NUL", "NUL byte in a text file; is it UTF-16 or binary?"};
  if (byte == '\r')
    return {"COM-CR", "carriage return inside a line; CR line ends? convert them to LF"};
  return {own("LETTER"), quoted({&byte, 1}) + " is not a nucleotide letter"};
}

}  // namespace bear::parse

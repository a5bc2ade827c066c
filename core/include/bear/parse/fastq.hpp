// FASTQ, four lines a record.
//
//   record   = "@" title EOL letters EOL "+" [ title ] EOL qualities EOL
//
// Letters are those of FASTA. There are as many qualities as letters, each a byte from "!" to "~";
// they are checked and not used. The title may be repeated after the plus, and then must be the
// same. Empty lines between records are passed over. Sequences spread over several lines are not
// read. After an error reading continues at the next line that starts with "@" and is followed by
// letters and a plus: a line of qualities may start with "@", but a title then follows it.
#pragma once

#include "bear/parse/sequence.hpp"

namespace bear::parse {

class FastqParser final : public SequenceParser {
 public:
  FastqParser(const Options& options, const KmerOptions& kmers)
      : SequenceParser(options, kmers, "FQ", options.max_line_bytes) {}

 private:
  enum class State { title, letters, plus, qualities, reads };

  Step step() override;
  void read_line();
  void read_title();
  void read_letters();
  void read_plus();
  void read_qualities();
  Step hand_over_read();
  Step end_stream();
  void refuse(std::size_t column, std::string code, std::string message);
  void refuse_byte(std::size_t column);

  State state_ = State::title;
  bool lost_ = false;  // after an error, until a title, letters and a plus were found again
  std::string letters_;
  std::string_view unread_;  // of letters_, once the record is known to be good
};

}  // namespace bear::parse

// FASTA.
//
//   file   = { record }
//   record = ">" title EOL { letters EOL }
//
// Letters are the 15 IUPAC nucleotide letters and U, in either case (kmer.hpp says what becomes of
// them); any other byte is an error, also blanks and gaps. A sequence may be spread over any number
// of lines of any length, since letters are read as they come; empty lines are passed over. A last
// record without letters is an error, for the file is probably cut. After an error reading
// continues at the next header.
#pragma once

#include "bear/parse/sequence.hpp"

namespace bear::parse {

class FastaParser final : public SequenceParser {
 public:
  FastaParser(const Options& options, const KmerOptions& kmers)
      : SequenceParser(options, kmers, "FA", max_title_bytes) {}

 private:
  enum class State { outside, title, sequence, skipping };

  Step step() override;
  Step read_title();
  void refuse_title(bool overlong);
  Step read_letters(std::string_view rest);
  Step skip_line(std::string_view rest);
  Step end_record();
  Step end_stream();
  void refuse_letter(std::size_t column, char byte);

  State state_ = State::outside;
  std::size_t column_ = 0;  // bytes of the line read so far
  bool after_cr_ = false;   // the last of them was a carriage return
};

}  // namespace bear::parse

// What FASTA and FASTQ share: records with a title and a sequence, which becomes one read or, cut
// by windows, several. The title is handed over as the tag of each; labels are made from it
// elsewhere. An account of FASTA or FASTQ counts reads and refused records, not lines.
#pragma once

#include <string>
#include <utility>

#include "bear/parse/kmer.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

class SequenceParser : public Parser {
 public:
  bool named() const override { return false; }
  bool labelled() const override { return false; }

 protected:
  static constexpr std::size_t max_title_bytes = std::size_t{1} << 20;

  SequenceParser(const Options& options, const KmerOptions& kmers, std::string prefix,
                 std::size_t max_line_bytes)
      : Parser(options, prefix, max_line_bytes),
        kmers_(kmers, options.max_features),
        code_prefix_(std::move(prefix) + "-") {}

  // Takes the title from the header line.
  void start_record(std::string_view header);
  // Hands over the read that kmers_ holds. False after an error.
  bool commit_read();
  // Refuses the record; the excerpt is its title.
  void reject_record(std::int64_t line, std::size_t column, std::string code, std::string message);
  // Code and message for a byte that cannot stand where it stands.
  std::pair<std::string, std::string> byte_fault(char byte) const;
  std::string own(const char* code) const { return code_prefix_ + code; }

  Kmers kmers_;
  std::string title_;
  std::int64_t title_line_ = 0;

 private:
  std::string code_prefix_;
};

}  // namespace bear::parse

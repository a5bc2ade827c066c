#include "bear/parse/formats.hpp"

#include <stdexcept>
#include <string>

#include "bear/parse/fasta.hpp"
#include "bear/parse/fastq.hpp"
#include "bear/parse/svmlight.hpp"
#include "bear/parse/text.hpp"
#include "bear/parse/vw.hpp"

namespace bear::parse {

std::unique_ptr<Parser> make_parser(std::string_view format, const AllOptions& o) {
  // Rows count their entries in 32 bits.
  if (o.common.max_line_bytes < 1 || o.common.max_line_bytes > (std::size_t{1} << 31))
    throw std::invalid_argument("max_line_bytes must be 1 to 2^31, got " +
                                std::to_string(o.common.max_line_bytes));
  if (o.common.max_features > (std::size_t{1} << 31))
    throw std::invalid_argument("max_features must be at most 2^31, got " +
                                std::to_string(o.common.max_features));
  if (format == "vw") return std::make_unique<VwParser>(o.common);
  if (format == "svmlight") return std::make_unique<SvmlightParser>(o.common, o.duplicates);
  if (format == "fasta") return std::make_unique<FastaParser>(o.common, o.kmers);
  if (format == "fastq") return std::make_unique<FastqParser>(o.common, o.kmers);
  if (format == "text") return std::make_unique<TextParser>(o.common, o.ngrams, o.labelled);
  if (format == "jsonl") return std::make_unique<JsonlParser>(o.common, o.ngrams, o.fields);
  throw std::invalid_argument("format must be vw, svmlight, fasta, fastq, text or jsonl, got " +
                              quoted(format));
}

}  // namespace bear::parse

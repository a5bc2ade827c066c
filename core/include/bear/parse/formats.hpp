// All formats by name.
#pragma once

#include <memory>
#include <string_view>

#include "bear/parse/jsonl.hpp"
#include "bear/parse/kmer.hpp"
#include "bear/parse/ngram.hpp"
#include "bear/parse/options.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

// Options of every format; a parser uses those that concern it.
struct AllOptions {
  Options common;
  KmerOptions kmers;                           // fasta, fastq
  NgramOptions ngrams;                         // text, jsonl
  JsonlOptions fields;                         // jsonl
  Duplicates duplicates = Duplicates::refuse;  // svmlight
  bool labelled = true;                        // text
};

// "vw", "svmlight", "fasta", "fastq", "text" or "jsonl"; throws std::invalid_argument for any
// other.
std::unique_ptr<Parser> make_parser(std::string_view format, const AllOptions& options);

}  // namespace bear::parse

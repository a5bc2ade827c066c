// Plain text, one example a line.
//
//   line = label TAB text        ; labelled; an empty label means unlabelled
//        | text                  ; unlabelled
//
// Features are the n-grams of the text (ngram.hpp), valued by how often they occur, or by 1. Bytes
// that are not UTF-8 are taken as characters of their own; NUL is an error.
#pragma once

#include "bear/parse/ngram.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

class TextParser final : public LineParser {
 public:
  TextParser(const Options& options, const NgramOptions& ngrams, bool labelled)
      : LineParser(options, "TXT"), ngrams_(ngrams), counts_(ngrams.counts), labelled_(labelled) {}

 private:
  Line parse_line() override;

  Ngrams ngrams_;
  bool counts_, labelled_;
};

}  // namespace bear::parse

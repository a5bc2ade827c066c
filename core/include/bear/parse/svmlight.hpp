// svmlight / LIBSVM text.
//
//   line  = label [ blank "qid:" integer ] { blank id ":" value } [ "#" comment ]
//         | "#" comment
//   label = number | word
//   id    = decimal integer, 0 to 2^64 - 1        ; the feature's name and its key
//   value = number                                ; 0 means that the feature is absent
//
// Ids may come in any order and may start from 0 or 1: they are names. Query ids are counted and
// not used. A comma in a label (several labels) is an error, as is an id that occurs twice, unless
// duplicates are to be added up.
#pragma once

#include "bear/parse/marks.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

class SvmlightParser final : public LineParser {
 public:
  SvmlightParser(const Options& options, Duplicates duplicates)
      : LineParser(options, "LSV"), duplicates_(duplicates) {}

  bool named() const override { return false; }

 private:
  Line parse_line() override;
  Duplicates duplicates() const override { return duplicates_; }
  void fail_duplicate() override;

  bool parse_label(std::string_view token);
  const char* parse_query_id(const char* at, const char* end);
  bool parse_features(const char* at, const char* end);
  const char* parse_plain(const char* at, const char* end);
  bool check_comment(const char* at, const char* end);
  bool fail_id(const char* at, const char* end);
  bool fail_value(const char* at, const char* end);

  Duplicates duplicates_;
  Marks marks_;
  const std::uint32_t* mark_ = nullptr;  // the last that parse_plain passed
};

}  // namespace bear::parse

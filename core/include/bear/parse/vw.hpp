// Vowpal Wabbit text.
//
//   line      = [ label [ importance ] ] [ tag ] { "|" namespace }
//   label     = number | word
//   tag       = word that touches the first "|"  |  "'" word         ; the quote is dropped
//   namespace = [ name [ ":" number ] ] { blank feature }
//   feature   = [ name ] [ ":" ( number | category ) ]
//   name      = bytes except SP TAB ":" "|" CR NUL                   ; any encoding, no escapes
//   category  = bytes except SP TAB "|" CR NUL, not starting like a number (+ - . 0-9)
//
// Features are called `namespace^name`, or `name` in the namespace without a name; a category is
// `namespace^name^category`. A value left out is 1, and 0 means that the feature is absent. Values
// are multiplied by the weight of their namespace; a category has value 1 whatever the weight. A
// feature without a name (`:3`) is called by its place among those of its namespace: 0, 1, ... The
// same feature twice in a line adds up. A line without a label is handed over as unlabelled.
//
// Where this is stricter than Vowpal Wabbit, or differs from it:
// - `a: b` is an error (there: a = "b"), as are NaN and infinite values (there: absent).
// - A value that starts like a number must be one: `1,5`, `0x1F` and `1.5abc` are errors.
// - A third number before the bar (initial prediction) is an error, as are labels of contextual
//   bandits, cost-sensitive, multi-label and multi-line examples.
// - Text before a TAB ahead of the bar is the label. There it is thrown away, so a number between
//   that TAB and the bar is an error here rather than a guess.
// - `7` and `007` are two names.
#pragma once

#include "bear/parse/marks.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

class VwParser final : public LineParser {
 public:
  explicit VwParser(const Options& options) : LineParser(options, "VW") {}

 private:
  static constexpr std::size_t max_words = 4;

  Line parse_line() override;
  bool parse_head(const char* bar);
  bool parse_label_words(const std::string_view* words, std::size_t n);
  bool check_label_form(const std::string_view* words, std::size_t n);
  bool check_tabs(std::string_view head, const std::string_view* words, std::size_t n);
  bool parse_body(const char* at, const char* end);
  const char* parse_plain(const char* at, const char* end);
  const char* parse_namespace(const char* at, const char* end);
  const char* parse_feature(const char* at, const char* end);
  const char* parse_valued(std::string_view name, const char* at, const char* end);
  bool add_feature(std::string_view name, double value);
  bool add_category(std::string_view name, std::string_view category);
  bool add_place(double value, const char* at);
  const char* fail_value(std::string_view name, const char* at, const char* end);

  Marks marks_;
  const std::uint32_t* mark_ = nullptr;  // the last that parse_plain passed
  Buffer<char> name_;                    // of a namespace, or of a feature with a category
  double space_weight_ = 1;
  std::uint64_t place_ = 0;  // of the next feature without a name
};

}  // namespace bear::parse

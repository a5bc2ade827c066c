// JSON Lines: one object a line.
//
//   field : number          feature `field` with that value; 0 means absent
//   field : true / false    feature `field` with value 1 / absent
//   field : string          feature `field=string` with value 1
//   field : null            absent
//   field : [ item, ... ]   features `field=item` with value 1, for strings, numbers (as written)
//   and
//                           booleans (1 and 0)
//   field : { key: v, ... } features `field^key` by the first four rules
//   text field              n-grams `field^words` and `field^#chars` (ngram.hpp) of a string, or of
//                           a list of strings
//
// One field holds the label (a string, number or boolean, the latter read as 1 and 0; null or
// absent means unlabelled), others may hold the weight and the tag; fields to skip may be of any
// shape. The same feature twice adds up, but for n-grams that are not to be counted; anything
// nested deeper is an error, as is a string that is not UTF-8.
#pragma once

#include <string>
#include <vector>

#include "bear/parse/json.hpp"
#include "bear/parse/ngram.hpp"
#include "bear/parse/parser.hpp"

namespace bear::parse {

struct JsonlOptions {
  std::string label_field = "label";
  std::string weight_field, tag_field;  // empty: none
  std::vector<std::string> text_fields, skip_fields;
};

class JsonlParser final : public LineParser {
 public:
  JsonlParser(const Options& options, const NgramOptions& ngrams, JsonlOptions fields)
      : LineParser(options, "JSL"),
        ngrams_(ngrams),
        counts_(ngrams.counts),
        fields_(std::move(fields)),
        unmet_(named_fields(fields_)) {}

  std::vector<std::string> unmet_fields() const override { return unmet_; }

 private:
  using Kind = JsonReader::Kind;

  static std::vector<std::string> named_fields(const JsonlOptions& fields);
  Line parse_line() override;
  bool read_field(JsonReader& in, std::string_view field);
  bool read_label(JsonReader& in);
  bool read_weight(JsonReader& in);
  bool read_tag(JsonReader& in);
  bool read_text(JsonReader& in);
  bool read_feature(JsonReader& in);
  bool read_scalar(JsonReader& in);
  bool read_item(JsonReader& in);
  bool read_list(JsonReader& in);
  bool read_map(JsonReader& in);
  // The next scalar as text: decoded string, number as written, 1 or 0; `null` when it is that.
  bool read_token(JsonReader& in, Buffer<char>& out, bool& null);
  bool add_name(float value, const char* at);

  Ngrams ngrams_;
  bool counts_;
  JsonlOptions fields_;
  std::vector<std::string> unmet_;
  Buffer<char> name_, text_, label_text_, tag_text_;
  std::size_t field_size_ = 0;  // of name_, the part that is the field's own
  bool has_label_ = false;
};

}  // namespace bear::parse

#include "bear/parse/jsonl.hpp"

#include <algorithm>

namespace bear::parse {

namespace {

std::string_view view(const Buffer<char>& buffer) { return {buffer.data(), buffer.size()}; }

bool contains(const std::vector<std::string>& list, std::string_view field) {
  return std::find(list.begin(), list.end(), field) != list.end();
}

}  // namespace

LineParser::Line JsonlParser::parse_line() {
  JsonReader in(line_.data(), line_.data() + line_.size());
  if (in.at_end()) return Line::blank;
  has_label_ = false;
  if (in.kind() != Kind::object) {
    const std::string_view other = splitter_.lines() == 1 ? looks_like(line_) : std::string_view();
    fail("OBJECT", in.at(),
         "expected one JSON object a line" +
             (other.empty() ? std::string() : "; looks like " + std::string(other)));
    return Line::error;
  }
  const auto name = [&] {
    name_.clear();
    return in.read_string(name_);
  };
  const bool read = in.each_member(name, [&] { return read_field(in, view(name_)); });
  if (!read) {
    if (in.at() ==
        line_.data() + line_.size()) {  // whatever else is wrong with it, the object has no end
      fail("SYNTAX", in.at(),
           "the line ends inside its object: it is cut, or the object is on several lines");
    } else if (!failed()) {
      fail("SYNTAX", in.at(), in.error());
    }
    return Line::error;
  }
  if (in.at_end()) return Line::row;
  fail("SYNTAX", in.at(), "more bytes after the object");
  return Line::error;
}

std::vector<std::string> JsonlParser::named_fields(const JsonlOptions& fields) {
  std::vector<std::string> named = {fields.label_field};
  if (!fields.weight_field.empty()) named.push_back(fields.weight_field);
  if (!fields.tag_field.empty()) named.push_back(fields.tag_field);
  named.insert(named.end(), fields.text_fields.begin(), fields.text_fields.end());
  named.insert(named.end(), fields.skip_fields.begin(), fields.skip_fields.end());
  return named;
}

bool JsonlParser::read_field(JsonReader& in, std::string_view field) {
  if (!unmet_.empty()) std::erase(unmet_, field);
  if (field == fields_.label_field) return read_label(in);
  if (!fields_.weight_field.empty() && field == fields_.weight_field) return read_weight(in);
  if (!fields_.tag_field.empty() && field == fields_.tag_field) return read_tag(in);
  if (contains(fields_.skip_fields, field)) return in.skip_value();
  if (contains(fields_.text_fields, field)) return read_text(in);
  return read_feature(in);
}

bool JsonlParser::read_token(JsonReader& in, Buffer<char>& out, bool& null) {
  std::string_view number;
  bool boolean = false;
  null = false;
  switch (in.kind()) {
    case Kind::string:
      return in.read_string(out);
    case Kind::number:
      if (!in.read_number(number)) return false;
      out.append(number.data(), number.size());
      return true;
    case Kind::boolean:
      if (!in.read_boolean(boolean)) return false;
      out.push(boolean ? '1' : '0');
      return true;
    case Kind::null:
      null = true;
      return in.read_null();
    default:
      return fail("TYPE", in.at(), "expected a string, a number, true, false or null");
  }
}

bool JsonlParser::read_label(JsonReader& in) {
  const char* at = in.at();
  bool null;
  if (has_label_) return fail("LABEL", at, "label field occurs twice");
  label_text_.clear();
  if (!read_token(in, label_text_, null)) return false;
  if (null) return true;
  has_label_ = true;
  if (label_text_.empty()) return fail("LABEL", at, "label must not be empty; null is unlabelled");
  return set_label(view(label_text_), at);
}

bool JsonlParser::read_weight(JsonReader& in) {
  const char* at = in.at();
  bool null;
  text_.clear();
  if (!read_token(in, text_, null)) return false;
  return null || set_weight(view(text_), at);
}

bool JsonlParser::read_tag(JsonReader& in) {
  bool null;
  tag_text_.clear();
  if (!read_token(in, tag_text_, null)) return false;
  set_tag(view(tag_text_));
  return true;
}

bool JsonlParser::read_text(JsonReader& in) {
  const char* at = in.at();
  name_.push('^');
  const auto one = [&] {
    if (in.kind() == Kind::null) return in.read_null();
    text_.clear();
    if (in.kind() != Kind::string)
      return fail("TYPE", in.at(), "expected a string, or a list of strings, in a text field");
    if (!in.read_string(text_)) return false;
    return ngrams_.each(view(text_), view(name_),
                        [&](std::string_view name) { return add(name, 1, at); });
  };
  row_.count_once(!counts_);
  const bool read = in.kind() == Kind::array ? in.each_element(one) : one();
  row_.count_once(false);
  return read;
}

bool JsonlParser::read_feature(JsonReader& in) {
  field_size_ = name_.size();
  if (in.kind() == Kind::array) return read_list(in);
  if (in.kind() == Kind::object) return read_map(in);
  return read_scalar(in);
}

bool JsonlParser::add_name(float value, const char* at) {
  if (name_.size() > options_.max_name_bytes)
    return fail_shared("COM-NAME-LONG", at,
                       "the value of field " + quoted(view(name_).substr(0, field_size_)) +
                           " makes a feature name of " + std::to_string(name_.size()) +
                           " bytes, above the limit of " + std::to_string(options_.max_name_bytes));
  return add(view(name_), value, at);
}

// A number, boolean, string or null as the value of the feature called name_.
bool JsonlParser::read_scalar(JsonReader& in) {
  const char* at = in.at();
  const Kind kind = in.kind();
  if (kind == Kind::string || kind == Kind::null) return read_item(in);
  text_.clear();
  bool null;
  if (kind == Kind::array || kind == Kind::object)
    return fail(
        "NESTED", at,
        "field " + quoted(view(name_).substr(0, field_size_)) + " is nested deeper than one level");
  if (!read_token(in, text_, null)) return false;
  double value = 0;
  float fitted = 0;
  parse::read_number(view(text_), value);
  return fit_value(value, at, fitted) && add_name(fitted, at);
}

// A string, number or boolean as part of the name; null is left out.
bool JsonlParser::read_item(JsonReader& in) {
  const char* at = in.at();
  const Kind kind = in.kind();
  bool null;
  if (kind == Kind::array || kind == Kind::object) return read_scalar(in);
  name_.push('=');
  return read_token(in, name_, null) && (null || add_name(1, at));
}

bool JsonlParser::read_list(JsonReader& in) {
  const std::size_t field = name_.size();
  return in.each_element([&] {
    name_.truncate(field);
    return read_item(in);
  });
}

bool JsonlParser::read_map(JsonReader& in) {
  name_.push('^');
  const std::size_t field = name_.size();
  const auto key = [&] {
    name_.truncate(field);
    return in.read_string(name_);
  };
  return in.each_member(key, [&] { return read_scalar(in); });
}

}  // namespace bear::parse

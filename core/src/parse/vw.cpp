#include "bear/parse/vw.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace bear::parse {

namespace {

// Bytes that end a name. LF and CR follow every line, so a scan needs no other bound.
constexpr auto ends_name = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\t', ':', '|', '\r', '\n', '\0'})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool stops_name(char c) { return ends_name[static_cast<unsigned char>(c)]; }
bool stops_value(char c) { return c != ':' && stops_name(c); }

const char* scan_name(const char* at) {
  while (!stops_name(*at)) ++at;
  return at;
}

const char* scan_value(const char* at) {
  while (!stops_value(*at)) ++at;
  return at;
}

// So many bytes after a token can be read: those of a short number, or of a copied name.
constexpr std::ptrdiff_t plain_slack = std::max<std::ptrdiff_t>(short_number_bytes, copy_slack);

bool starts_like_number(char c) { return detail::is_digit(c) || c == '-' || c == '+' || c == '.'; }

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

bool is_number(std::string_view word) {
  double ignored;
  return read_number(word, ignored);
}

}  // namespace

LineParser::Line VwParser::parse_line() {
  const char* start = line_.data();
  const char* end = start + line_.size();
  const std::string_view other = splitter_.lines() == 1 ? looks_like(line_) : std::string_view();
  if (!other.empty()) {
    fail_shared("COM-FORMAT", start, "not VW text: looks like " + std::string(other));
    return Line::error;
  }
  const char* bar =
      line_.empty() ? nullptr : static_cast<const char*>(std::memchr(start, '|', line_.size()));
  if (bar == nullptr) {
    if (all_blank(line_)) return Line::blank;
    fail("NO-BAR", start, "no '|' in the line; features follow a bar, as in '1 | price:2 red'");
    return Line::error;
  }
  return parse_head(bar) && parse_body(bar, end) ? Line::row : Line::error;
}

// Everything ahead of the first bar: label, importance, tag.
bool VwParser::parse_head(const char* bar) {
  const std::string_view head = between(line_.data(), bar);
  if (head.find('\0') != std::string_view::npos || head.find('\r') != std::string_view::npos)
    return fail("BYTE", bar, "control byte ahead of the bar");  // becomes COM-NUL or COM-CR
  std::string_view words[max_words];
  std::size_t n = 0;
  const char* at = line_.data();
  for (;;) {
    while (at != bar && is_blank(*at)) ++at;
    if (at == bar) break;
    const char* word = at;
    while (at != bar && !is_blank(*at)) ++at;
    if (n == max_words)
      return check_label_form(words, n) &&
             fail("LABEL", words[0].data(),
                  "more words before the bar than label, importance and tag");
    words[n++] = between(word, at);
  }
  if (n == 0) return true;
  const std::string_view last = words[n - 1];
  const bool touches = last.data() + last.size() == bar;
  if (touches || last.front() == '\'') {
    const std::string_view tag = last.front() == '\'' ? last.substr(1) : last;
    if (tag.size() > options_.max_name_bytes)
      return fail_shared("COM-NAME-LONG", last.data(), "tag is longer than max_name_bytes");
    set_tag(tag);
    if (n == 1 && tag.size() == last.size() && is_number(tag)) warn(Warning::tag_number);
    --n;
  }
  return check_tabs(head, words, n) && parse_label_words(words, n);
}

bool VwParser::check_tabs(std::string_view head, const std::string_view* words, std::size_t n) {
  const std::size_t tab = head.find('\t');
  if (tab == std::string_view::npos || n < 2) return true;
  const char* place = head.data() + tab;
  if (place < words[0].data() || place > words[n - 1].data()) return true;
  return fail("TAB", place,
              "number after a TAB ahead of the bar: Vowpal Wabbit ignores what stands before the "
              "TAB; separate label and importance by a space");
}

bool VwParser::parse_label_words(const std::string_view* words, std::size_t n) {
  if (n == 0) return true;
  if (!check_label_form(words, n)) return false;
  if (n == 3 && is_number(words[2]))
    return fail("INITIAL", words[2].data(),
                "third number before the bar (initial prediction) is not supported");
  if (n > 2)
    return fail("LABEL", words[2].data(),
                "more words before the bar than label and importance; a tag touches the bar or "
                "starts with a quote");
  return set_label(words[0], words[0].data()) && (n == 1 || set_weight(words[1], words[1].data()));
}

// Labels of problems this package does not learn, each refused by its own name.
bool VwParser::check_label_form(const std::string_view* words, std::size_t n) {
  const std::string_view first = words[0];
  const auto colons = std::count(first.begin(), first.end(), ':');
  if (colons >= 2)
    return fail("BANDIT", first.data(), "contextual-bandit label (action:cost:probability)");
  if (colons == 1) return fail("COST", first.data(), "cost-sensitive label (class:cost)");
  if (first.find(',') != std::string_view::npos && starts_like_number(first.front()))
    return fail("MULTILABEL", first.data(), "multi-label example (labels joined by commas)");
  if (first == "shared" || first == "***shared***")
    return fail("SHARED", first.data(), "shared line of a multi-line example");
  if (n > 1 && (first == "ccb" || first == "slates"))
    return fail("MULTILINE", first.data(), "line of a multi-line example");
  return true;
}

bool VwParser::parse_body(const char* at, const char* end) {
  const bool short_line = line_.size() <= Marks::max_line_bytes;
  if (short_line) marks_.find(line_, '|');
  mark_ = marks_.begin();
  while (at != end) {
    if (*at == '|') {
      at = parse_namespace(at + 1, end);
    } else if (is_blank(*at)) {
      at = short_line && space_weight_ == 1 ? parse_plain(at, end) : at + 1;
    } else {
      at = parse_feature(at, end);
    }
    if (at == nullptr) return false;
  }
  return true;
}

// Features that are a name and perhaps a short number, as nearly all are, from a blank on. Returns
// where something else stands.
const char* VwParser::parse_plain(const char* at, const char* end) {
  const char* const line = line_.data();
  const char* const readable = splitter_.readable_end(line_);
  const std::uint32_t* mark = mark_;
  while (line + *mark < at) ++mark;
  Row::Pen pen =
      row_.pen(static_cast<std::size_t>(marks_.end() - mark), static_cast<std::size_t>(end - at));
  const std::size_t space = row_.space_size();
  for (std::size_t n = pen.most; n > 0 && is_blank(*at); --n) {
    const char* const name = at + 1;
    const char* stop = line + *++mark;
    const auto size = static_cast<std::size_t>(stop - name);
    if (readable - stop <= plain_slack || space + size > options_.max_name_bytes) break;
    double value = 1;
    if (*stop == ':') {
      const char* from = stop + 1;
      stop = line + *++mark;
      if (size == 0 || !read_short_number(from, static_cast<std::size_t>(stop - from), value))
        break;
    }
    if (!is_blank(*stop) && *stop != '|' && stop != end) break;
    pen.add(name, size, static_cast<float>(value));
    at = stop;
  }
  row_.put_away(pen);
  mark_ = mark;
  return is_blank(*at) ? at + 1 : at;
}

const char* VwParser::parse_namespace(const char* at, const char* end) {
  const char* stop = scan_name(at);
  const std::string_view space = between(at, stop);
  if (space.size() > options_.max_name_bytes) {
    fail_shared("COM-NAME-LONG", at, "namespace name is longer than max_name_bytes");
    return nullptr;
  }
  name_.clear();
  name_.append(space.data(), space.size());
  if (!space.empty()) name_.push('^');
  row_.use_space({name_.data(), name_.size()});
  space_weight_ = 1;
  place_ = 0;
  if (stop == end || *stop != ':') return stop;
  const char* token_end = scan_value(stop + 1);
  const std::string_view token = between(stop + 1, token_end);
  if (space.empty() || !read_number(token, space_weight_) || !std::isfinite(space_weight_)) {
    fail("SPACE-WEIGHT", stop,
         "weight of a namespace must be a finite number after its name, got " + quoted(token));
    return nullptr;
  }
  return token_end;
}

// Returns where the feature ends, nullptr after an error.
const char* VwParser::parse_feature(const char* at, const char* end) {
  const char* stop = scan_name(at);
  const std::string_view name = between(at, stop);
  if (stop != end && *stop == ':') return parse_valued(name, stop + 1, end);
  if (stop != end && !is_blank(*stop) && *stop != '|') {
    fail("BYTE", stop, "byte that no name may have");  // becomes COM-NUL or COM-CR
    return nullptr;
  }
  return add_feature(name, space_weight_) ? stop : nullptr;
}

// The part of a feature after its colon.
const char* VwParser::parse_valued(std::string_view name, const char* at, const char* end) {
  if (starts_like_number(*at)) {
    double value = 0;
    const char* stop = read_number(at, end, value);
    if (stop == nullptr || !(stop == end || is_blank(*stop) || *stop == '|'))
      return fail_value(name, at, end);
    if (space_weight_ != 1) value *= space_weight_;
    return (name.empty() ? add_place(value, at) : add_feature(name, value)) ? stop : nullptr;
  }
  const char* stop = scan_value(at);
  const std::string_view category = between(at, stop);
  const bool at_end = stop == end || is_blank(*stop) || *stop == '|';
  if (category.empty() || name.empty() || !at_end || is_non_finite_word(category))
    return fail_value(name, at, end);
  return add_category(name, category) ? stop : nullptr;
}

const char* VwParser::fail_value(std::string_view name, const char* at, const char* end) {
  const std::string_view token = between(at, std::min(scan_value(at), end));
  if (token.empty()) {
    fail("VALUE-MISSING", at - 1, "no value after the colon of feature " + quoted(name));
  } else if (is_non_finite_word(token)) {
    fail("VALUE", at, "value of feature " + quoted(name) + " must be finite, got " + quoted(token));
  } else {
    fail("VALUE", at, "value of feature " + quoted(name) + " is not a number: " + quoted(token));
  }
  return nullptr;
}

bool VwParser::add_feature(std::string_view name, double value) {
  float fitted = 0;
  if (!fit_value(value, name.data(), fitted)) return false;
  const auto readable = static_cast<std::size_t>(line_.data() + line_.size() - name.data());
  return add(name, readable, fitted, name.data());
}

bool VwParser::add_category(std::string_view name, std::string_view category) {
  name_.clear();
  name_.append(name.data(), name.size());
  name_.push('^');
  name_.append(category.data(), category.size());
  return add({name_.data(), name_.size()}, name_.size(), 1, name.data());
}

bool VwParser::add_place(double value, const char* at) {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof digits, place_++);
  float fitted = 0;
  if (!fit_value(value, at, fitted)) return false;
  const std::string_view name = between(digits, written.ptr);
  return add(name, fitted, at);
}

}  // namespace bear::parse

#include "bear/parse/svmlight.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bear::parse {

namespace {

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* scan_token(const char* at, const char* end) {
  while (at != end && !is_blank(*at) && *at != '#') ++at;
  return at;
}

bool ends_token(const char* at, const char* end) {
  return at == end || is_blank(*at) || *at == '#';
}

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

LineParser::Line SvmlightParser::parse_line() {
  const char* end = line_.data() + line_.size();
  const char* at = skip_blanks(line_.data(), end);
  if (at == end) return Line::blank;
  if (*at == '#') return check_comment(at, end) ? Line::comment : Line::error;
  const char* stop = scan_token(at, end);
  if (!parse_label(between(at, stop))) return Line::error;
  at = skip_blanks(stop, end);
  if (end - at > 4 && std::memcmp(at, "qid:", 4) == 0 && (at = parse_query_id(at, end)) == nullptr)
    return Line::error;
  return parse_features(at, end) ? Line::row : Line::error;
}

bool SvmlightParser::parse_label(std::string_view token) {
  const std::string_view other = splitter_.lines() == 1 ? looks_like(line_) : std::string_view();
  if (!other.empty())
    return fail_shared("COM-FORMAT", line_.data(),
                       "not svmlight: looks like " + std::string(other));
  if (token.find(':') != std::string_view::npos)
    return fail("LABEL", token.data(), "label must come first, got " + quoted(token));
  if (token.find(',') != std::string_view::npos)
    return fail("MULTILABEL", token.data(),
                "several labels " + quoted(token) + "; one label per example is supported");
  if (token.find('\0') != std::string_view::npos || token.find('\r') != std::string_view::npos)
    return fail("LABEL", token.data(), "control byte in the label");
  return set_label(token, token.data());
}

const char* SvmlightParser::parse_query_id(const char* at, const char* end) {
  std::uint64_t id;
  bool fits;
  const char* stop = read_integer(at + 4, end, id, fits);
  if (stop == nullptr || !ends_token(stop, end)) {
    fail("QID", at, "query id must be an integer, got " + quoted(between(at, scan_token(at, end))));
    return nullptr;
  }
  count_in_row(Count::qid, 1);
  return stop;
}

bool SvmlightParser::parse_features(const char* at, const char* end) {
  const bool short_line = line_.size() <= Marks::max_line_bytes;
  if (short_line) marks_.find(line_, '#');
  mark_ = marks_.begin();
  for (;;) {
    if (short_line && (at = parse_plain(at, end)) == nullptr) return false;
    at = skip_blanks(at, end);
    if (at == end) return true;
    if (*at == '#') return check_comment(at, end);
    Key id = 0;
    bool fits = true;
    double value = 0;
    const char* colon = read_integer(at, end, id, fits);
    if (colon == nullptr || colon == end || *colon != ':' || !fits) return fail_id(at, end);
    const char* stop = read_number(colon + 1, end, value);
    if (stop == nullptr || !ends_token(stop, end)) return fail_value(colon + 1, end);
    float fitted = 0;
    if (!fit_value(value, colon + 1, fitted)) return false;
    if (row_.add(id, fitted) != Row::Added::yes) return fail_features(at);
    at = stop;
  }
}

// Features of an id of at most eight digits and a short number, with one blank ahead, as nearly all
// are. Returns where something else stands, nullptr after an error.
const char* SvmlightParser::parse_plain(const char* at, const char* end) {
  const char* const line = line_.data();
  while (line + *mark_ < at) ++mark_;
  for (; line + *mark_ == at && is_blank(*at); at = line + *mark_) {
    const char* const name = at + 1;
    const char* const colon = line + mark_[1];
    if (end - colon <= short_number_bytes || *colon != ':') return at;
    const char* const stop = line + mark_[2];
    const auto digits = static_cast<std::size_t>(colon - name);
    Key id = 0;
    double value = 0;
    if (digits - 1 >= 8 || !read_digits(name, digits, id) || !is_blank(*stop) ||
        !read_short_number(colon + 1, static_cast<std::size_t>(stop - colon - 1), value))
      return at;
    if (row_.add(id, static_cast<float>(value)) != Row::Added::yes) {
      fail_features(name);
      return nullptr;
    }
    mark_ += 2;
  }
  return at;
}

bool SvmlightParser::check_comment(const char* at, const char* end) {
  const std::string_view comment = between(at, end);
  if (comment.find('\0') == std::string_view::npos && comment.find('\r') == std::string_view::npos)
    return true;
  return fail("COMMENT", at, "control byte in a comment");  // becomes COM-NUL or COM-CR
}

bool SvmlightParser::fail_id(const char* at, const char* end) {
  const char* stop = scan_token(at, end);
  const std::string_view token = between(at, std::find(at, stop, ':'));
  if (splitter_.lines() == 1 && *at == '|') {
    fail_shared("COM-FORMAT", line_.data(), "not svmlight: looks like VW text");
  } else if (std::find(at, stop, ':') == stop) {
    fail("FEATURE", at, "expected id:value, got " + quoted(token));
  } else if (token.starts_with('-')) {
    fail("INDEX", at, "feature id must not be negative, got " + quoted(token));
  } else if (!token.empty() && std::all_of(token.begin(), token.end(), detail::is_digit)) {
    fail("IDX-RANGE", at, "feature id " + quoted(token) + " is above 2^64-1");
  } else {
    fail("INDEX", at, "feature id must be an integer from 0 to 2^64-1, got " + quoted(token));
  }
  return false;
}

bool SvmlightParser::fail_value(const char* at, const char* end) {
  const std::string_view token = between(at, scan_token(at, end));
  if (token.empty()) {
    fail("VALUE-MISSING", at - 1, "no value after the colon");
  } else {
    fail("VALUE", at, "value must be a finite decimal number, got " + quoted(token));
  }
  return false;
}

// Finds the second place of the id, which the fast path does not remember.
void SvmlightParser::fail_duplicate() {
  const Key id = row_.duplicate();
  const char* end = line_.data() + line_.size();
  const char* at = line_.data();
  int seen = 0;
  for (;; at = scan_token(at, end)) {
    at = skip_blanks(at, end);
    if (at == end || *at == '#') break;
    Key found = 0;
    bool fits = true;
    const char* stop = read_integer(at, end, found, fits);
    if (stop != nullptr && stop != end && *stop == ':' && found == id && ++seen == 2) break;
  }
  fail("DUPLICATE", at,
       "feature " + std::to_string(id) + " occurs twice; duplicates=\"sum\" adds them up");
}

}  // namespace bear::parse

// What must hold for any bytes whatever.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../core/tests/parse_support.hpp"

namespace bear::parse::testing {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Small limits and windows, so that short inputs reach them.
inline AllOptions fuzz_options(bool second) {
  AllOptions options;
  options.common.names = !second;
  options.common.labels = second ? Labels::name : Labels::automatic;
  options.common.max_line_bytes = second ? 100 : 4096;
  options.common.max_name_bytes = second ? 12 : 1000;
  options.common.max_features = second ? 20 : 1000;
  options.kmers = {second ? 2 : 5, second, !second, second, second ? 7u : 0u, second ? 3u : 0u};
  options.ngrams = {1, second ? 3 : 1, second ? 0 : 2, second ? 0 : 4, second, second};
  options.fields.text_fields = {"text"};
  options.fields.weight_field = "w";
  options.fields.tag_field = "id";
  options.fields.skip_fields = {"raw"};
  options.duplicates = second ? Duplicates::sum : Duplicates::refuse;
  options.labelled = !second;
  return options;
}

inline void check_rows(const Parsed& parsed) {
  for (const Example& e : parsed.rows) {
    require(e.line >= 1, "rows have a line");
    require(std::isfinite(e.weight) && e.weight >= 0, "weights are finite and not negative");
    for (std::size_t i = 0; i < e.entries.size(); ++i) {
      require(std::isfinite(e.entries[i].value) && e.entries[i].value != 0, "values are finite");
      require(i == 0 || e.entries[i - 1].key < e.entries[i].key, "keys ascend");
    }
  }
}

inline std::vector<std::size_t> line_lengths(std::string_view text) {
  std::vector<std::size_t> out;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    out.push_back(std::min(newline, text.size()));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return out;
}

inline void check_errors(const Parsed& parsed, std::string_view text) {
  const std::vector<std::size_t> lengths = line_lengths(text);
  for (const auto* list : {&parsed.errors, &parsed.fatal})
    for (const Trouble& t : *list) {
      require(t.line >= 1 && static_cast<std::size_t>(t.line) <= lengths.size(),
              "errors are on a line");
      const auto length = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(t.line) - 1]);
      require(t.column == 1 || (t.column > 1 && t.column <= length), "columns are in the line");
      require(t.excerpt.size() <= excerpt_bytes, "excerpts are short");
      for (const char c : t.message) require(c >= 0x20 && c < 0x7f, "messages are printable");
    }
}

inline void check(std::string_view format, std::string_view text) {
  for (const bool second : {false, true}) {
    const Parsed parsed = run(format, text, fuzz_options(second), 3, 50);
    require(parsed.balanced(), "every line is accounted for");
    require(parsed[Count::skipped] == parsed.errors.size(), "every skipped line has its error");
    require(parsed[Count::examples] + parsed[Count::unlabelled] == parsed.rows.size(),
            "every example is handed over");
    require(!parsed.fatal.empty() || parsed.totals.byte == text.size(), "every byte is read");
    check_rows(parsed);
    check_errors(parsed, text);
  }
}

}  // namespace bear::parse::testing

// What was read, written as text and read again, is the same. The first byte chooses the format.
#include <algorithm>

#include "check.hpp"

namespace bear::parse::testing {

constexpr std::size_t all = 1'000'000;

inline void print(std::string& out, const char* form, double value) {
  char digits[40];
  out.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, form, value)));
}

inline void print_label(std::string& out, const Example& e) {
  if (!e.label_name.empty()) {
    out += e.label_name;
  } else if (!std::isnan(e.label)) {
    print(out, "%.17g", e.label);
  }
}

// The empty line keeps the first one from being taken for another format.
inline std::string print_svmlight(const Parsed& parsed) {
  std::string out = "\n";
  for (const Example& e : parsed.rows) {
    print_label(out, e);
    for (const Entry& f : e.entries) {
      out += ' ' + std::to_string(f.key) + ':';
      print(out, "%.9g", static_cast<double>(f.value));
    }
    out += '\n';
  }
  return out;
}

// A name from a category can have colons, which no other has.
inline bool printable(const Example& e) {
  return std::none_of(e.entries.begin(), e.entries.end(),
                      [](const Entry& f) { return f.name.find(':') != std::string::npos; });
}

inline std::string print_vw(const Parsed& parsed) {
  std::string out = "\n";
  for (const Example& e : parsed.rows) {
    print_label(out, e);
    // A word with a quote would be the tag if it came last.
    if (e.weight != 1 || e.label_name.starts_with('\'')) print(out, " %.17g", e.weight);
    if (!out.ends_with('\n')) out += ' ';
    if (!e.tag.empty()) out += '\'' + e.tag;
    out += '|';
    for (const Entry& f : e.entries) {
      out += ' ' + f.name + ':';
      print(out, "%.9g", static_cast<double>(f.value));
    }
    out += '\n';
  }
  return out;
}

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

inline void check_same(const Example& a, const Example& b) {
  require(same(a.label, b.label) && a.label_name == b.label_name, "the same label");
  require(a.weight == b.weight && a.tag == b.tag, "the same weight and tag");
  require(a.entries.size() == b.entries.size(), "as many entries");
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const Entry &e = a.entries[i], &f = b.entries[i];
    require(e.key == f.key && e.value == f.value && e.name == f.name, "the same entry");
  }
}

inline void check_roundtrip(bool vw, bool second, std::string_view text) {
  AllOptions options;
  options.common.labels = second ? Labels::name : Labels::automatic;
  options.duplicates = Duplicates::sum;
  const char* format = vw ? "vw" : "svmlight";
  Parsed parsed = run(format, text, options, all, all);
  if (vw) std::erase_if(parsed.rows, [](const Example& e) { return !printable(e); });
  const bool named = parsed.totals.label_kind == LabelKind::name;
  options.common.labels = named ? Labels::name : Labels::number;
  const Parsed again =
      run(format, vw ? print_vw(parsed) : print_svmlight(parsed), options, all, all);
  require(again.errors.empty() && again.fatal.empty(), "what was written can be read");
  require(again.rows.size() == parsed.rows.size(), "as many rows");
  for (std::size_t i = 0; i < parsed.rows.size(); ++i) {
    check_same(parsed.rows[i], again.rows[i]);
  }
}

}  // namespace bear::parse::testing

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  bear::parse::testing::check_roundtrip(data[0] % 2 == 0, data[0] / 2 % 2 == 1, text);
  return 0;
}

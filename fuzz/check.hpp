// What must hold for any bytes whatever.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "../core/tests/parse_support.hpp"
#include "require.hpp"

namespace bear::parse::testing {

// Small limits and windows, so that short inputs reach them.
inline AllOptions make_options(bool second) {
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

// Made once: an execution takes about as long as making them would.
inline const AllOptions& fuzz_options(bool second) {
  static const AllOptions both[] = {make_options(false), make_options(true)};
  return both[second];
}

// So many rows and entries a block has at most.
inline constexpr std::size_t fuzz_rows = 3, fuzz_entries = 50;

inline void check_rows(const Block& block) {
  for (std::size_t r = 0; r < block.rows(); ++r) {
    require(block.line_of_row[r] >= 1, "rows have a line");
    const double weight = block.weights[r];
    require(std::isfinite(weight) && weight >= 0, "weights are finite and not negative");
    const auto first = static_cast<std::size_t>(block.indptr[r]);
    for (auto i = first; i < static_cast<std::size_t>(block.indptr[r + 1]); ++i) {
      require(std::isfinite(block.values[i]) && block.values[i] != 0, "values are finite");
      require(i == first || block.keys[i - 1] < block.keys[i], "keys ascend");
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

inline void check_trouble(const Trouble& t, const std::vector<std::size_t>& lengths) {
  require(t.line >= 1 && static_cast<std::size_t>(t.line) <= lengths.size(),
          "errors are on a line");
  const auto length = static_cast<std::int64_t>(lengths[static_cast<std::size_t>(t.line) - 1]);
  require(t.column == 1 || (t.column > 1 && t.column <= length), "columns are in the line");
  require(t.excerpt.size() <= excerpt_bytes, "excerpts are short");
  for (const char c : t.message) require(c >= 0x20 && c < 0x7f, "messages are printable");
}

// One of the two sets of options, whichever the bytes fall to: both would be two executions in one.
inline bool second_options(std::string_view text) {
  unsigned sum = 0;
  for (const char c : text) sum += static_cast<unsigned char>(c);
  return sum % 2 == 1;
}

inline void check(std::string_view format, std::string_view text) {
  const std::vector<std::size_t> lengths = line_lengths(text);
  const bool second = second_options(text);
  const auto parser = make_parser(format, fuzz_options(second));
  each_block(*parser, {text}, fuzz_rows, fuzz_entries, second, [&](const Block& block) {
    require(block[Count::lines] == block[Count::examples] + block[Count::unlabelled] +
                                       block[Count::skipped] + block[Count::blank] +
                                       block[Count::comment],
            "every line is accounted for");
    require(block[Count::skipped] == block.errors.size(), "every skipped line has its error");
    require(block[Count::examples] + block[Count::unlabelled] == block.rows(),
            "every example is handed over");
    require(!block.done || block.fatal || block.byte == text.size(), "every byte is read");
    check_rows(block);
    for (const Trouble& trouble : block.errors) check_trouble(trouble, lengths);
    if (block.fatal) check_trouble(*block.fatal, lengths);
  });
}

// Everything that a parser hands over, as bytes to compare.
class Trace {
 public:
  Trace(Parser& parser, const Chunks& chunks, bool recycled) {
    each_block(parser, chunks, fuzz_rows, fuzz_entries, recycled,
               [this](const Block& block) { add(block); });
  }
  bool operator==(const Trace&) const = default;

 private:
  template <class Values>
  void add_values(const Values& values) {
    const std::size_t n = values.size();
    bytes_.append(reinterpret_cast<const char*>(&n), sizeof n);
    if (n > 0) bytes_.append(reinterpret_cast<const char*>(values.data()), n * sizeof values[0]);
  }
  void add(const Strings& strings) {
    add_values(strings.data);
    add_values(strings.offsets);
  }
  void add(const Trouble& trouble) {
    add_values(std::array{trouble.line, trouble.column});
    add_values(trouble.code);
    add_values(trouble.message);
    add_values(trouble.excerpt);
  }
  void add(const Block& block) {
    add_values(block.indptr);
    add_values(block.keys);
    add_values(block.values);
    add(block.names);
    add_values(block.labels);
    add(block.label_names);
    add_values(block.weights);
    add(block.tags);
    add_values(block.line_of_row);
    for (const Trouble& trouble : block.errors) add(trouble);
    if (block.fatal) add(*block.fatal);
    add_values(block.counts);
    add_values(block.warnings);
    add_values(std::array{block.named, block.labelled, block.weighted, block.tagged, block.done});
    add_values(std::array{static_cast<std::uint64_t>(block.label_kind), block.byte,
                          static_cast<std::uint64_t>(block.line)});
  }

  std::string bytes_;
};

}  // namespace bear::parse::testing

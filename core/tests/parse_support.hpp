// Runs a parser over bytes cut into chunks and keeps everything it hands over.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bear/parse/formats.hpp"

namespace bear::parse::testing {

using Chunks = std::vector<std::string_view>;

struct Entry {
  Key key;
  float value;
  std::string name;
};

struct Example {
  std::int64_t line;
  double label;
  std::string label_name, tag;
  double weight;
  std::vector<Entry> entries;
};

struct Parsed {
  std::vector<Example> rows;
  std::vector<std::size_t> block_rows;  // rows of each block
  std::vector<std::uint64_t> block_bytes;
  std::vector<Trouble> errors;
  std::vector<Trouble> fatal;
  Block totals;  // counts, warnings, label kind and the last position

  std::uint64_t operator[](Count c) const { return totals[c]; }
  std::uint64_t operator[](Warning w) const { return totals[w]; }
  // The one code of the one error, or a list of all.
  std::string code() const {
    std::string out;
    for (const Trouble& e : errors) out += (out.empty() ? "" : " ") + e.code;
    for (const Trouble& e : fatal) out += (out.empty() ? "!" : " !") + e.code;
    return out;
  }
  bool balanced() const {
    return totals[Count::lines] == totals[Count::examples] + totals[Count::unlabelled] +
                                       totals[Count::skipped] + totals[Count::blank] +
                                       totals[Count::comment];
  }
};

inline void keep(Parsed& out, const Block& block, bool named) {
  for (std::size_t r = 0; r < block.rows(); ++r) {
    Example e{block.line_of_row[r], block.labels[r], "", "", block.weights[r], {}};
    if (block.label_kind == LabelKind::name) e.label_name = block.label_names[r];
    if (block.tagged) e.tag = block.tags[r];
    for (auto i = block.indptr[r]; i < block.indptr[r + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      e.entries.push_back(
          {block.keys[at], block.values[at], named ? std::string(block.names[at]) : ""});
    }
    out.rows.push_back(std::move(e));
  }
  out.block_rows.push_back(block.rows());
  out.block_bytes.push_back(block.byte);
  out.errors.insert(out.errors.end(), block.errors.begin(), block.errors.end());
  if (block.fatal) out.fatal.push_back(*block.fatal);
  for (std::size_t i = 0; i < block.counts.size(); ++i) out.totals.counts[i] += block.counts[i];
  for (std::size_t i = 0; i < block.warnings.size(); ++i)
    out.totals.warnings[i] += block.warnings[i];
  out.totals.label_kind = block.label_kind;
  out.totals.byte = block.byte;
  out.totals.line = block.line;
}

// Feeds a parser and hands every block to `use`, all but hungry ones. recycled: blocks are given
// back for their memory, as a stream does; else each has memory of its own size.
template <class Use>
void each_block(Parser& parser, const Chunks& chunks, std::size_t max_rows, std::size_t max_entries,
                bool recycled, Use use) {
  std::size_t next = 0;
  std::vector<char> copy;
  for (;;) {
    Block block = parser.take(max_rows, max_entries);
    if (block.hungry) {
      // Chunks lie in memory of their own, so that a sanitizer sees any byte read beyond them.
      const std::string_view chunk = next < chunks.size() ? chunks[next] : std::string_view();
      copy = std::vector<char>(chunk.begin(), chunk.end());
      parser.feed({copy.data(), copy.size()}, ++next >= chunks.size());
      continue;
    }
    use(block);
    if (block.done) return;
    if (recycled) parser.recycle(std::move(block));
  }
}

inline Parsed run(std::string_view format, const Chunks& chunks, const AllOptions& options = {},
                  std::size_t max_rows = 1000, std::size_t max_entries = 100000) {
  const std::unique_ptr<Parser> parser = make_parser(format, options);
  Parsed out;
  each_block(*parser, chunks, max_rows, max_entries, false,
             [&](const Block& block) { keep(out, block, parser->named()); });
  return out;
}

inline Parsed run(std::string_view format, std::string_view text, const AllOptions& options = {},
                  std::size_t max_rows = 1000, std::size_t max_entries = 100000) {
  return run(format, Chunks{text}, options, max_rows, max_entries);
}

// Everything as text, to compare two runs.
inline std::string show(const Parsed& parsed) {
  std::ostringstream out;
  out.precision(17);
  for (const Example& e : parsed.rows) {
    out << e.line << " label=" << e.label << "/" << e.label_name << " weight=" << e.weight
        << " tag=" << e.tag << ":";
    for (const Entry& f : e.entries) out << " " << f.key << "=" << f.value << "(" << f.name << ")";
    out << "\n";
  }
  for (const auto* list : {&parsed.errors, &parsed.fatal})
    for (const Trouble& t : *list)
      out << t.line << ":" << t.column << " " << t.code << " " << t.message << " [" << t.excerpt
          << "]\n";
  for (const std::size_t n : parsed.block_rows) out << n << " rows, ";
  for (const std::uint64_t n : parsed.block_bytes) out << n << " bytes, ";
  for (const std::uint64_t n : parsed.totals.counts) out << n << " ";
  for (const std::uint64_t n : parsed.totals.warnings) out << n << " ";
  out << parsed.totals.byte << " " << parsed.totals.line << "\n";
  return out.str();
}

// A row as "name=value ...", sorted, or as "key=value ..." where keys are names.
std::string features(const Example& example);

}  // namespace bear::parse::testing

// Any cut of the bytes into chunks gives the same blocks. The first byte chooses the format, the
// second how many cuts there are; the next ones say where they are.
#include <algorithm>

#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace bear::parse::testing;
  static constexpr const char* formats[] = {"vw", "svmlight", "fasta", "fastq", "text", "jsonl"};
  if (size < 2) return 0;
  const char* format = formats[data[0] % 6];
  const std::size_t cuts = std::min<std::size_t>(data[1] % 16, size - 2);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2 + cuts, size - 2 - cuts);
  Chunks chunks;
  std::size_t from = 0;
  for (std::size_t i = 0; i < cuts; ++i) {
    const std::size_t to = std::min(text.size(), from + data[2 + i]);
    chunks.push_back(text.substr(from, to - from));
    from = to;
  }
  chunks.push_back(text.substr(from));
  const auto& options = fuzz_options(second_options(text));
  const auto whole = bear::parse::make_parser(format, options);
  const auto cut = bear::parse::make_parser(format, options);
  require(Trace(*whole, {text}, false) == Trace(*cut, chunks, true), "chunks do not matter");
  return 0;
}

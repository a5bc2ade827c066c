// The fast path of VW and svmlight hands over what the general one does. The first byte chooses the
// format and the options.
#include "check.hpp"
#include "general.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace bear::parse;
  if (size < 1) return 0;
  const testing::Chunks chunks{{reinterpret_cast<const char*>(data) + 1, size - 1}};
  const AllOptions& options = testing::fuzz_options(data[0] / 2 % 2);
  const bool vw = data[0] % 2 == 0;
  const auto fast = make_parser(vw ? "vw" : "svmlight", options);
  const auto general =
      vw ? testing::make_general_vw(options) : testing::make_general_svmlight(options);
  require(testing::Trace(*fast, chunks, false) == testing::Trace(*general, chunks, false),
          "the fast path and the general one agree");
  return 0;
}

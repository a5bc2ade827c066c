#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  bear::parse::testing::check("text", {reinterpret_cast<const char*>(data), size});
  return 0;
}

#include "bear/key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

// SipHash-1-3 over bytes padded by hand, as the paper has it.
bear::Key plain_hash(const std::string& name, std::uint64_t seed) {
  const std::uint64_t k0 = bear::mix64(seed ^ 0x6265617273656564ULL);
  const std::uint64_t k1 = bear::mix64(seed + 0x9e3779b97f4a7c15ULL);
  bear::detail::SipState s{k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
                           k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL};
  std::vector<unsigned char> padded(name.begin(), name.end());
  while (padded.size() % 8 != 7) padded.push_back(0);
  padded.push_back(static_cast<unsigned char>(name.size()));
  for (std::size_t at = 0; at < padded.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 8; i-- > 0;) word = word << 8 | padded[at + i];
    s.absorb(word);
  }
  s.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) s.round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

}  // namespace

TEST_CASE("names of any length hash as the plain way does") {
  std::string name;
  for (int n = 0; n < 300; ++n) {
    for (const std::uint64_t seed : {0ULL, 1ULL, ~0ULL})
      CHECK(bear::NameHash(seed)(name) == plain_hash(name, seed));
    name += static_cast<char>(bear::mix64(static_cast<std::uint64_t>(n)));
  }
}

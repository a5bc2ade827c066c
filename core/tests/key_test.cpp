#include "bear/key.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace bear;

namespace {

// The bytes 0, 1, 2, ... as in SipHash's own vectors.
std::string counting(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text.push_back(static_cast<char>(i));
  return text;
}

}  // namespace

TEST_CASE("a name hashes as the plain twin says") {
  struct Vector {
    std::uint64_t seed;
    std::size_t length;
    Key key;
  };
  // SipHash-1-3 under the two words a seed becomes, computed by tests/reference/hashing.py.
  const Vector vectors[] = {
      {0x0000000000000000ULL, 0, 0xcbdd26db83eb8005ULL},
      {0x0000000000000000ULL, 1, 0x5a7ea59ce95f11c2ULL},
      {0x0000000000000000ULL, 7, 0x5f4cd7f161b619faULL},
      {0x0000000000000000ULL, 8, 0x2d1e33df91dc1c13ULL},
      {0x0000000000000000ULL, 9, 0x79066351ba501486ULL},
      {0x0000000000000000ULL, 15, 0xe990041ee03ea5b8ULL},
      {0x0000000000000000ULL, 16, 0xaf173b7027dcc5a5ULL},
      {0x0000000000000000ULL, 63, 0x1e50698737fdc7b6ULL},
      {0x0000000000000000ULL, 255, 0x83041d6cb5bfe88bULL},
      {0x0000000000000000ULL, 256, 0xe54c47e422fe737fULL},
      {0x0000000000000001ULL, 0, 0x24aae7d997984ab2ULL},
      {0x0000000000000001ULL, 1, 0xa75a01ef1ca3ddeeULL},
      {0x0000000000000001ULL, 7, 0x4f636cb681c57eb6ULL},
      {0x0000000000000001ULL, 8, 0x845e1c7c915de8dcULL},
      {0x0000000000000001ULL, 9, 0xb2d16ce965d3e40dULL},
      {0x0000000000000001ULL, 15, 0x79f76cf1d2800b41ULL},
      {0x0000000000000001ULL, 16, 0xd2870a8030e2f3acULL},
      {0x0000000000000001ULL, 63, 0x2d7e4522db8e6c93ULL},
      {0x0000000000000001ULL, 255, 0xcad0b7ce67edb493ULL},
      {0x0000000000000001ULL, 256, 0x1ed2769ca3a15f16ULL},
      {0xffffffffffffffffULL, 0, 0x93a051ec5266cf32ULL},
      {0xffffffffffffffffULL, 1, 0x9168d9b2da4f6adaULL},
      {0xffffffffffffffffULL, 7, 0x0a718e05706146bdULL},
      {0xffffffffffffffffULL, 8, 0x2d1c6f34221d3eb4ULL},
      {0xffffffffffffffffULL, 9, 0x612c79bd84022f30ULL},
      {0xffffffffffffffffULL, 15, 0xf9b693e3a5931a09ULL},
      {0xffffffffffffffffULL, 16, 0xf6a20fc04b4acd17ULL},
      {0xffffffffffffffffULL, 63, 0xac3bd65c7c559432ULL},
      {0xffffffffffffffffULL, 255, 0xb058e52bad436d4aULL},
      {0xffffffffffffffffULL, 256, 0x41296bd0daae40ebULL},
  };
  for (const auto& v : vectors) CHECK(NameHash(v.seed)(counting(v.length)) == v.key);
}

TEST_CASE("length, bytes and seed all count") {
  std::set<Key> keys;
  for (std::size_t n = 0; n < 64; ++n) {
    keys.insert(NameHash(1)(std::string(n, '\0')));
    keys.insert(NameHash(2)(std::string(n, '\0')));
  }
  CHECK(keys.size() == 128);
  CHECK(NameHash(7)("spam") == NameHash(7)("spam"));
}

TEST_CASE("bytes above 127 are bytes, not negative numbers") {
  CHECK(NameHash(0)(std::string("\xff")) != NameHash(0)(std::string("\xff\xff")));
  CHECK(NameHash(0)(std::string(8, '\xff')) != NameHash(0)(std::string(8, '\x7f')));
}

TEST_CASE("the mixer is a bijection that keeps zero") {
  CHECK(mix64(0) == 0);
  std::set<std::uint64_t> seen;
  for (std::uint64_t x = 0; x < 4096; ++x) seen.insert(mix64(x));
  CHECK(seen.size() == 4096);
}

namespace {

// SipHash-1-3 over bytes padded by hand, as the paper has it.
bear::Key plain_hash(const std::string& name, std::uint64_t seed) {
  const std::uint64_t k0 = bear::mix64(seed ^ 0x6265617273656564ULL);
  const std::uint64_t k1 = bear::mix64(seed + 0x9e3779b97f4a7c15ULL);
  bear::detail::SipState<std::uint64_t> s{k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
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

TEST_CASE("names hashed together have the keys they have alone") {
  const NameHash hash(7);
  for (std::size_t n = 0; n < 14; ++n) {
    for (const std::size_t most : {1U, 7U, 9U, 40U}) {
      std::string text;
      std::vector<std::uint32_t> ends{0};
      for (std::size_t i = 0; i < n; ++i) {
        text += counting(mix64(97 * n + i + most) % (most + 1));
        ends.push_back(static_cast<std::uint32_t>(text.size()));
      }
      const std::string padded = text + "anything";
      std::vector<Key> keys(n);
      hash(padded.data(), ends.data(), n, keys.data());
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(keys[i] == hash(text.substr(ends[i], ends[i + 1] - ends[i])));
      }
    }
  }
}

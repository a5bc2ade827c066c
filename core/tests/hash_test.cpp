#include "bear/hash.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace bear;

TEST_CASE("row hashes are those of the plain twin") {
  struct Vector {
    std::uint64_t seed;
    Key key;
    std::size_t row;
    std::uint64_t hash;
    std::uint64_t bucket_of_1000;
  };
  // Computed by tests/reference/hashing.py.
  const Vector vectors[] = {
      {0x0000000000000000ULL, 0x0000000000000000ULL, 0, 0x6393d51c06c618dcULL, 388},
      {0x0000000000000000ULL, 0x0000000000000000ULL, 1, 0xddec1f552ce17cbbULL, 866},
      {0x0000000000000000ULL, 0x0000000000000000ULL, 15, 0x73f8b3ffe4d67273ULL, 453},
      {0x0000000000000000ULL, 0x0000000000000001ULL, 0, 0x8d82751399f55d54ULL, 552},
      {0x0000000000000000ULL, 0x0000000000000001ULL, 1, 0x40ed92f93d4b4abeULL, 253},
      {0x0000000000000000ULL, 0x0000000000000001ULL, 15, 0x6520f53cb03411b5ULL, 395},
      {0x0000000000000000ULL, 0x8000000000000000ULL, 0, 0xea968a3cfc753645ULL, 916},
      {0x0000000000000000ULL, 0x8000000000000000ULL, 1, 0xf4bd2e3679724eb7ULL, 956},
      {0x0000000000000000ULL, 0x8000000000000000ULL, 15, 0xbf0bb2b7f5acd20fULL, 746},
      {0x0000000000000000ULL, 0xffffffffffffffffULL, 0, 0xe49b2eef1405713aULL, 892},
      {0x0000000000000000ULL, 0xffffffffffffffffULL, 1, 0x9cb088238f9b8dabULL, 612},
      {0x0000000000000000ULL, 0xffffffffffffffffULL, 15, 0xdb8b930797ec1f51ULL, 857},
      {0x0000000000000007ULL, 0x0000000000000000ULL, 0, 0x9137e86bb776a7ecULL, 567},
      {0x0000000000000007ULL, 0x0000000000000000ULL, 1, 0x8e2c4016c82b02c3ULL, 555},
      {0x0000000000000007ULL, 0x0000000000000000ULL, 15, 0x270ddb90f6ba7551ULL, 152},
      {0x0000000000000007ULL, 0x0000000000000001ULL, 0, 0xbdcfd730d2dc9dbeULL, 741},
      {0x0000000000000007ULL, 0x0000000000000001ULL, 1, 0x267e59f31af21e4fULL, 150},
      {0x0000000000000007ULL, 0x0000000000000001ULL, 15, 0x94ebd9ba4033eca6ULL, 581},
      {0x0000000000000007ULL, 0x8000000000000000ULL, 0, 0xe5503bf389916637ULL, 895},
      {0x0000000000000007ULL, 0x8000000000000000ULL, 1, 0x985325a9f0b364e4ULL, 595},
      {0x0000000000000007ULL, 0x8000000000000000ULL, 15, 0x0d9ff17d44333afcULL, 53},
      {0x0000000000000007ULL, 0xffffffffffffffffULL, 0, 0x8ad065940ae4becaULL, 542},
      {0x0000000000000007ULL, 0xffffffffffffffffULL, 1, 0xf6186de141fbafe7ULL, 961},
      {0x0000000000000007ULL, 0xffffffffffffffffULL, 15, 0x1f2798f239d13bceULL, 121},
      {0xffffffffffffffffULL, 0x0000000000000000ULL, 0, 0x3a3c7f8ad167625aULL, 227},
      {0xffffffffffffffffULL, 0x0000000000000000ULL, 1, 0x0161125a04588254ULL, 5},
      {0xffffffffffffffffULL, 0x0000000000000000ULL, 15, 0xdb73f1ce11f743b7ULL, 857},
      {0xffffffffffffffffULL, 0x0000000000000001ULL, 0, 0x72b55806475f6877ULL, 448},
      {0xffffffffffffffffULL, 0x0000000000000001ULL, 1, 0x520cc672bd13f3a3ULL, 320},
      {0xffffffffffffffffULL, 0x0000000000000001ULL, 15, 0x8685074fbc266694ULL, 525},
      {0xffffffffffffffffULL, 0x8000000000000000ULL, 0, 0xa05635f1146e83b9ULL, 626},
      {0xffffffffffffffffULL, 0x8000000000000000ULL, 1, 0xb0f16f285c6c91c4ULL, 691},
      {0xffffffffffffffffULL, 0x8000000000000000ULL, 15, 0xafd6a2f0845ef651ULL, 686},
      {0xffffffffffffffffULL, 0xffffffffffffffffULL, 0, 0x4369e3027c126aaaULL, 263},
      {0xffffffffffffffffULL, 0xffffffffffffffffULL, 1, 0x85e4f81db9fbe73bULL, 523},
      {0xffffffffffffffffULL, 0xffffffffffffffffULL, 15, 0x45113877fa42a461ULL, 269},
  };
  for (const auto& v : vectors) {
    const std::uint64_t h = row_hash(KeyHash(v.seed)(v.key), v.row);
    CHECK(h == v.hash);
    CHECK(bucket_of(h, 1000) == v.bucket_of_1000);
  }
}

TEST_CASE("a bucket is always below the width") {
  for (const std::uint64_t width : {1ULL, 2ULL, 3ULL, 1000ULL, 1ULL << 48}) {
    CHECK(bucket_of(0, width) == 0);
    CHECK(bucket_of(~0ULL, width) == width - 1);
  }
}

TEST_CASE("bucket and sign come from disjoint bits") {
  for (std::uint64_t h = 1; h != 0; h <<= 1) {
    CHECK(bucket_of(h & ~1ULL, 1ULL << 40) == bucket_of(h | 1ULL, 1ULL << 40));
    CHECK(negative(h | 1ULL));
    CHECK_FALSE(negative(h & ~1ULL));
  }
}

// Mean and standard deviation of chi-square with d degrees of freedom are d and sqrt(2 d).
TEST_CASE("buckets are even, and both signs are even inside every bucket") {
  constexpr std::size_t kWidth = 64, kKeys = 200'000;
  for (const std::size_t row : {0U, 1U, 7U}) {
    std::vector<double> counts(2 * kWidth);
    const KeyHash hash(5);
    for (Key key = 0; key < kKeys; ++key) {
      const std::uint64_t h = row_hash(hash(key), row);
      counts[2 * bucket_of(h, kWidth) + (negative(h) ? 1 : 0)] += 1.0;
    }
    const double expected = kKeys / static_cast<double>(counts.size());
    double chi = 0.0;
    for (const double n : counts) chi += (n - expected) * (n - expected) / expected;
    const double degrees = static_cast<double>(counts.size()) - 1.0;
    CHECK(std::abs(chi - degrees) < 5.0 * std::sqrt(2.0 * degrees));
  }
}

TEST_CASE("rows, and seeds, collide independently of each other") {
  constexpr std::size_t kWidth = 16, kKeys = 100'000;
  std::vector<double> rows(kWidth * kWidth), seeds(kWidth * kWidth);
  for (Key key = 0; key < kKeys; ++key) {
    const std::uint64_t a = KeyHash(1)(key), b = KeyHash(2)(key);
    rows[bucket_of(a, kWidth) * kWidth + bucket_of(row_hash(a, 1), kWidth)] += 1.0;
    seeds[bucket_of(a, kWidth) * kWidth + bucket_of(b, kWidth)] += 1.0;
  }
  for (const auto& counts : {rows, seeds}) {
    const double expected = kKeys / static_cast<double>(counts.size());
    double chi = 0.0;
    for (const double n : counts) chi += (n - expected) * (n - expected) / expected;
    const double degrees = static_cast<double>(counts.size()) - 1.0;
    CHECK(std::abs(chi - degrees) < 5.0 * std::sqrt(2.0 * degrees));
  }
}

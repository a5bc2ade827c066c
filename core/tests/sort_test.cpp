#include "bear/sort.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "bear/key.hpp"

TEST_CASE("keys are sorted whether or not their top bits spread them") {
  using namespace bear;
  for (const std::size_t n : {0u, 1u, 2u, 50u, 3000u, 40000u})
    for (const int drop : {0, 8, 60}) {
      std::vector<Key> keys(n), sorted(n);
      for (std::size_t i = 0; i < n; ++i) keys[i] = mix64(i) >> drop;
      bucket_sort<Key>(keys, sorted.data(), 64, std::identity(), std::less<Key>());
      std::sort(keys.begin(), keys.end());
      CHECK(keys == sorted);
    }
}

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "bear/key.hpp"
#include "bear/parse/sort.hpp"

TEST_CASE("keys are sorted whether or not their top bits spread them") {
  using namespace bear::parse;
  for (const std::size_t n : {0u, 1u, 2u, 50u, 3000u})
    for (const int drop : {0, 8, 60}) {
      Buffer<bear::Key> keys, spare;
      for (std::size_t i = 0; i < n; ++i) keys.push(bear::mix64(i) >> drop);
      std::vector<bear::Key> expected(keys.begin(), keys.end());
      std::sort(expected.begin(), expected.end());
      bucket_sort(keys, spare, 64, std::identity(), std::less<bear::Key>());
      CHECK(std::vector<bear::Key>(keys.begin(), keys.end()) == expected);
    }
}

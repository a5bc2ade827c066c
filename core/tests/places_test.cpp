#include <doctest/doctest.h>

#include <map>

#include "bear/storage.hpp"
#include "helpers.hpp"

using namespace bear;

TEST_CASE(
    "elements that share a cell are found with the first of it, in wide and narrow sketches") {
  for (const std::uint64_t width : {1U, 3U, 100U, 1U << 12, 1U << 30}) {
    for (const std::size_t n : {0U, 1U, 2U, 500U, 3000U}) {
      test::Random random(width + n);
      Places places;
      for (int again = 0; again < 2; ++again) {  // with what the first left in its scratch
        places.cells.resize(n);
        for (std::uint64_t& cell : places.cells) cell = 2 * random.below(width) + random.below(2);
        places.find_shared();
        std::map<std::uint64_t, std::uint32_t> first;
        std::size_t found = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
          const auto [at, is_new] = first.emplace(places.cells[i] / 2, i);
          if (is_new) continue;
          REQUIRE(found < places.shared.size());
          CHECK(places.shared[found].element == i);
          CHECK(places.shared[found++].first == at->second);
        }
        CHECK(found == places.shared.size());
      }
    }
  }
}

#include "bear/types.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace bear;

TEST_CASE("sizes that would overflow are refused by name") {
  CHECK(checked_product(3, 5, "cells") == 15);
  CHECK(checked_product(0, std::numeric_limits<std::size_t>::max(), "cells") == 0);
  CHECK_THROWS_WITH_AS(checked_product(std::size_t{1} << 40, std::size_t{1} << 40, "cells"),
                       doctest::Contains("cells must fit into memory"), std::invalid_argument);
  CHECK_THROWS_AS(checked_product((std::size_t{1} << 62) + 1, 1, "cells"), std::invalid_argument);
}

TEST_CASE("inner products") {
  const std::vector<double> a{1.0, 2.0, 3.0}, b{4.0, 5.0, 6.0};
  CHECK(dot(a, b) == 32.0);
  CHECK(dot({}, {}) == 0.0);
}

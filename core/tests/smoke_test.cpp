#include <doctest/doctest.h>

#include "bear/learner.hpp"
TEST_CASE("smoke") {
  bear::Learner learner(bear::Recipe{.width = 8, .k = 2});
  CHECK(learner.classes() == 1);
}

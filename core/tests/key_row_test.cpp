#include "bear/key_row.hpp"

#include <doctest/doctest.h>

using namespace bear;

TEST_CASE("keys stand in the columns of their order, in one row") {
  const std::vector<Key> keys{9, 2, 5};
  const KeyRow row(keys, 1);
  CHECK(row.active().n_rows() == 1);
  CHECK(std::vector<Key>(row.active().keys().begin(), row.active().keys().end()) == keys);
  CHECK(KeyRow({}, 1).active().size() == 0);
}

TEST_CASE("a key that comes twice is refused") {
  const std::vector<Key> keys{9, 2, 9};
  CHECK_THROWS_WITH_AS(KeyRow(keys, 1), "keys must be distinct", std::invalid_argument);
}

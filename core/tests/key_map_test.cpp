#include "bear/key_map.hpp"

#include <doctest/doctest.h>

#include <map>

#include "helpers.hpp"

using namespace bear;

// Few distinct keys, so that chains are long and erasing has entries to move back.
TEST_CASE("random inserts and erases agree with a plain map") {
  for (const std::size_t pool : {3U, 20U, 500U}) {
    test::Random random(pool);
    KeyMap map;
    std::map<Key, std::int32_t> plain;
    for (std::int32_t i = 0; i < 20'000; ++i) {
      const Key key = random.below(pool) * 0x100000001ULL;
      if (plain.erase(key) > 0) {
        map.erase(key);
      } else {
        map.insert(key, i);
        plain[key] = i;
      }
      REQUIRE(map.size() == plain.size());
      const Key probe = random.below(pool) * 0x100000001ULL;
      const auto found = plain.find(probe);
      REQUIRE(map.find(probe) == (found == plain.end() ? KeyMap::kAbsent : found->second));
    }
    for (const auto& [key, value] : plain) CHECK(map.find(key) == value);
  }
}

TEST_CASE("the extreme keys are keys like others") {
  KeyMap map;
  map.insert(0, 1);
  map.insert(~Key{0}, 2);
  CHECK(map.find(0) == 1);
  CHECK(map.find(~Key{0}) == 2);
  map.erase(0);
  CHECK(map.find(0) == KeyMap::kAbsent);
  CHECK(map.find(~Key{0}) == 2);
}

TEST_CASE("growing and clearing") {
  KeyMap map(2);
  for (Key key = 0; key < 1000; ++key) map.insert(key, static_cast<std::int32_t>(key));
  CHECK(map.size() == 1000);
  for (Key key = 0; key < 1000; ++key) REQUIRE(map.find(key) == static_cast<std::int32_t>(key));
  map.clear();
  CHECK(map.size() == 0);
  CHECK(map.find(17) == KeyMap::kAbsent);
  map.insert(17, 4);
  CHECK(map.find(17) == 4);
}

TEST_CASE("what is here may be here, and most of what is not may not, however many came and went") {
  KeyMap map(0, 5);
  const KeyHash hash(5);
  const Key kept = 500, all = 20 * kept;
  for (Key key = 0; key < all; ++key) {
    if (key >= kept) map.erase(key - kept);
    map.insert(key, static_cast<std::int32_t>(key % kept));
    REQUIRE(map.may_hold(hash(key)));
  }
  for (Key key = all - kept; key < all; ++key) CHECK(map.may_hold(hash(key)));
  const auto gone_that_may = [&] {
    Key n = 0;
    for (Key key = 0; key < all - kept; ++key) n += map.may_hold(hash(key));
    return n;
  };
  CHECK(gone_that_may() < all / 10);
  map.clear();
  CHECK(gone_that_may() == 0);
}

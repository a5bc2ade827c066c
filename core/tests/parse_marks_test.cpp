#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bear/hash.hpp"
#include "bear/parse/marks.hpp"

using namespace bear::parse;

namespace {

std::vector<std::uint32_t> found(std::string_view line, char other) {
  Marks marks;
  marks.find(line, other);
  std::vector<std::uint32_t> places;
  for (const std::uint32_t* at = marks.begin();; ++at) {
    places.push_back(*at);
    if (*at == line.size()) return places;
  }
}

// The same, one byte after the other.
std::vector<std::uint32_t> expected(std::string_view line, char other) {
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    if (c <= ' ' || c == ':' || line[i] == other) places.push_back(static_cast<std::uint32_t>(i));
  }
  places.push_back(static_cast<std::uint32_t>(line.size()));
  return places;
}

}  // namespace

TEST_CASE("marks are the blanks, control bytes, colons, one more byte, and the end") {
  CHECK(found("", '|') == std::vector<std::uint32_t>{0});
  CHECK(found("1 |a x:2", '|') == std::vector<std::uint32_t>{1, 2, 4, 6, 8});
  CHECK(found("1 |a x:2", '#') == std::vector<std::uint32_t>{1, 4, 6, 8});
}

TEST_CASE("every byte is told from every other, wherever it stands") {
  for (int byte = 0; byte < 256; ++byte) {
    for (const std::size_t at : {0u, 15u, 16u, 63u, 64u, 99u}) {
      std::string line(100, 'x');
      line[at] = static_cast<char>(byte);
      CHECK(found(line, '|') == expected(line, '|'));
    }
  }
}

TEST_CASE("lines of any length, from none to all marked") {
  for (std::size_t n = 0; n < 300; ++n) {
    for (const std::uint64_t share : {0u, 2u, 8u, 16u}) {
      std::string line(n, 'x');
      for (std::size_t i = 0; i < n; ++i) {
        if (bear::mix64(n * 1000 + i) % 16 < share) line[i] = " :|\t"[bear::mix64(i) % 4];
      }
      CHECK(found(line, '|') == expected(line, '|'));
    }
  }
}

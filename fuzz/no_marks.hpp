// Marks for which every line is too long.
#pragma once

#include <cstdint>
#include <string_view>

namespace bear::parse {

struct NoMarks {
  static constexpr std::size_t max_line_bytes = 0;
  void find(std::string_view, char) {}
  const std::uint32_t* begin() const { return nullptr; }
  const std::uint32_t* end() const { return nullptr; }
};

}  // namespace bear::parse

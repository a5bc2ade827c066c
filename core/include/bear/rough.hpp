// Powers without the math library: within a hundredth, the same on every machine, several at a
// time. For paces, which are estimates themselves.
#pragma once

#include <bit>
#include <cstdint>

namespace bear {

// Of a normal number above 0; off by less than .009.
inline float rough_log2(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto whole = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
  const float part = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u) - 1.0f;
  return whole + part + 0.3466f * part * (1.0f - part);
}

// Of numbers from -126 to 127; off by less than a 300th of the result.
inline float rough_exp2(float y) {
  const float shifted = y + 127.0f;
  const auto whole = static_cast<std::int32_t>(shifted);
  const float part = shifted - static_cast<float>(whole);
  const float power = std::bit_cast<float>(static_cast<std::uint32_t>(whole) << 23);
  return power * (1.0f + part - 0.3371f * part * (1.0f - part));
}

}  // namespace bear

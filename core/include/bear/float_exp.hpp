// exp of floats from sums and products alone: the same on every machine, and several at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace bear {

// Within two units in the last place from -87 to 88; beyond, as at these ends.
inline float exp_of(float x) {
  x = std::min(std::max(x, -87.0F), 88.0F);
  constexpr float kWhole = 12582912.0F;  // 1.5 * 2^23: added, it rounds to a whole number
  const float shifted = x * 1.44269504F + kWhole;
  const float k = shifted - kWhole;
  const float r = (x - k * 0.693359375F) - k * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) + 127U) << 23;
  return p * std::bit_cast<float>(power);
}

inline float sigmoid_of(float x) { return 1.0F / (1.0F + exp_of(-x)); }

}  // namespace bear

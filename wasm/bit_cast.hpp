// std::bit_cast for the standard library of Emscripten 3.1, which is C++20 but for this; included
// before everything else by the build for wasm32.
#pragma once

#include <bit>

#if !defined(__cpp_lib_bit_cast)
namespace std {
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

// State by name as dictionaries of arrays, and back.
#pragma once

#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bear/update/update.hpp"

inline nb::dict dict_of(bear::Fields&& fields) {
  nb::dict out;
  for (auto& [name, field] : fields) {
    std::visit([&, key = name.c_str()](auto& values) { out[key] = give(std::move(values)); },
               field);
  }
  return out;
}

inline bear::Fields fields_of(const nb::dict& given) {
  bear::Fields fields;
  const auto copy = [](const auto& array) {
    const auto viewed = view(array);
    return std::vector(viewed.begin(), viewed.end());
  };
  for (const auto& [name, array] : given) {
    bear::Field& field = fields[nb::cast<std::string>(name)];
    In<std::uint64_t> whole;
    if (nb::try_cast(array, whole, false)) {
      field = copy(whole);
    } else {
      field = copy(nb::cast<In<double>>(array));
    }
  }
  return fields;
}

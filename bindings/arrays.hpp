// NumPy arrays in and out without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bear/batch.hpp"

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Out = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> view(const In<T>& array) {
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) {
    throw std::invalid_argument("an array must be at an address that suits its type");
  }
  return {array.data(), array.size()};
}

template <class T>
std::span<const T> view(const std::optional<In<T>>& array) {
  return array ? view(*array) : std::span<const T>{};
}

// Hands a vector over to NumPy; the array frees it.
template <class T>
Out<T> give(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T>(owned->data(), shape.size(), shape.data(), owner);
}

template <class T>
Out<T> give(std::vector<T>&& values) {
  const std::size_t n = values.size();
  return give(std::move(values), {n});
}

// A batch of Python as the core sees it. `names` is None or a pair (data, offsets).
inline bear::BatchView batch_view(const In<std::int64_t>& indptr, const In<std::uint64_t>& keys,
                                  const In<float>& values, const std::optional<In<double>>& labels,
                                  const std::optional<In<double>>& weights,
                                  const std::optional<In<std::uint8_t>>& name_data,
                                  const std::optional<In<std::uint64_t>>& name_offsets) {
  bear::BatchView batch;
  batch.indptr = view(indptr);
  batch.keys = view(keys);
  batch.values = view(values);
  batch.labels = view(labels);
  batch.weights = view(weights);
  batch.name_offsets = view(name_offsets);
  if (name_data) {
    batch.name_data = reinterpret_cast<const char*>(name_data->data());
    batch.name_bytes = name_data->size();
  }
  return batch;
}

#include "bear/active_set.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace bear {

void ActiveSet::assign(const BatchView& batch) {
  batch_ = batch;
  const std::size_t first = batch.first_entry();
  const std::size_t n_entries = batch.last_entry() - first;
  if (n_entries >= std::numeric_limits<std::uint32_t>::max() / 2) {
    throw std::invalid_argument("a minibatch must hold fewer than 2^31 entries, got " +
                                std::to_string(n_entries));
  }
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(2 * n_entries, 16));
  const std::size_t mask = capacity - 1;
  table_.assign(capacity, 0);
  keys_.clear();
  hashes_.clear();
  entries_.clear();
  columns_.resize(n_entries);
  for (std::size_t i = 0; i < n_entries; ++i) {
    const Key key = batch.keys[first + i];
    const std::uint64_t h = hash_(key);
    std::size_t at = h & mask;
    while (table_[at] != 0 && keys_[table_[at] - 1] != key) at = (at + 1) & mask;
    if (table_[at] == 0) {
      keys_.push_back(key);
      hashes_.push_back(h);
      entries_.push_back(first + i);
      table_[at] = static_cast<std::uint32_t>(keys_.size());
    }
    columns_[i] = table_[at] - 1;
  }
}

void ActiveSet::margins(ConstReals w, std::size_t classes, Reals out) const {
  const std::size_t first = batch_.first_entry();
  const float* values = batch_.values.data() + first;
  for (std::size_t row = 0; row < n_rows(); ++row) {
    const auto start = static_cast<std::size_t>(batch_.indptr[row]) - first;
    const auto stop = static_cast<std::size_t>(batch_.indptr[row + 1]) - first;
    if (classes == 1) {
      double sum = 0.0;
      for (std::size_t e = start; e < stop; ++e) {
        sum += static_cast<double>(values[e]) * w[columns_[e]];
      }
      out[row] = sum;
      continue;
    }
    double* sums = out.data() + row * classes;
    std::fill(sums, sums + classes, 0.0);
    for (std::size_t e = start; e < stop; ++e) {
      const double value = static_cast<double>(values[e]);
      const double* weights = w.data() + columns_[e] * classes;
      for (std::size_t c = 0; c < classes; ++c) sums[c] += value * weights[c];
    }
  }
}

void ActiveSet::gradient(ConstReals residual, std::size_t classes, Reals g) const {
  const std::size_t first = batch_.first_entry();
  const float* values = batch_.values.data() + first;
  std::fill(g.begin(), g.end(), 0.0);
  for (std::size_t row = 0; row < n_rows(); ++row) {
    const auto start = static_cast<std::size_t>(batch_.indptr[row]) - first;
    const auto stop = static_cast<std::size_t>(batch_.indptr[row + 1]) - first;
    const double* r = residual.data() + row * classes;
    for (std::size_t e = start; e < stop; ++e) {
      const double value = static_cast<double>(values[e]);
      double* at = g.data() + columns_[e] * classes;
      for (std::size_t c = 0; c < classes; ++c) at[c] += value * r[c];
    }
  }
}

void ActiveSet::gram(Reals out) const {
  const std::size_t first = batch_.first_entry();
  const std::size_t n = n_rows();
  std::vector<double> dense(size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto start = static_cast<std::size_t>(batch_.indptr[i]) - first;
    const auto stop = static_cast<std::size_t>(batch_.indptr[i + 1]) - first;
    for (std::size_t e = start; e < stop; ++e) dense[columns_[e]] = batch_.values[first + e];
    for (std::size_t k = 0; k <= i; ++k) {
      const auto from = static_cast<std::size_t>(batch_.indptr[k]) - first;
      const auto to = static_cast<std::size_t>(batch_.indptr[k + 1]) - first;
      double sum = 0.0;
      for (std::size_t e = from; e < to; ++e) {
        sum += static_cast<double>(batch_.values[first + e]) * dense[columns_[e]];
      }
      out[i * n + k] = out[k * n + i] = sum;
    }
    for (std::size_t e = start; e < stop; ++e) dense[columns_[e]] = 0.0;
  }
}

}  // namespace bear

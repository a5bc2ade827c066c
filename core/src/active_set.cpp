#include "bear/active_set.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

namespace bear {

namespace {

constexpr std::size_t kRowsAtOnce = 8;  // sums that run side by side, each in its own order

// out[i] = sum over c of x[i][c] * w[c] for N rows; alone, each sum would wait for itself.
template <std::size_t N>
void multiply_rows(const float* x, std::size_t n, const double* w, double* out) {
  std::array<double, N> sums{};
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = 0; i < N; ++i) sums[i] += static_cast<double>(x[i * n + c]) * w[c];
  }
  std::copy(sums.begin(), sums.end(), out);
}

void multiply(const float* x, std::size_t rows, std::size_t n, const double* w, double* out) {
  std::size_t i = 0;
  for (; i + kRowsAtOnce <= rows; i += kRowsAtOnce) {
    multiply_rows<kRowsAtOnce>(x + i * n, n, w, out + i);
  }
  for (; i + 4 <= rows; i += 4) multiply_rows<4>(x + i * n, n, w, out + i);
  for (; i < rows; ++i) multiply_rows<1>(x + i * n, n, w, out + i);
}

using compat::Two;

Two two(const double* at) {
  Two values;
  std::memcpy(&values, at, sizeof values);
  return values;
}

// Products of the rows i and i + 1 with eight rows from `block` on, summed over columns `stride`
// apart. Written out, because the compiler keeps these sums in registers only then.
void multiply_two(const double* columns, std::size_t n, std::size_t stride, std::size_t i,
                  std::size_t block, double* out) {
  Two a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  for (const double* at = columns; at != columns + n * stride; at += stride) {
    const double* others = at + block;
    const double x = at[i], y = at[i + 1];
    const Two o = two(others), p = two(others + 2), q = two(others + 4), r = two(others + 6);
    a += o * x, b += p * x, c += q * x, d += r * x;
    e += o * y, f += p * y, g += q * y, h += r * y;
  }
  for (const Two sum : {a, b, c, d, e, f, g, h}) {
    *out++ = sum[0];
    *out++ = sum[1];
  }
}

}  // namespace

bool ActiveSet::repeats(const BatchView& batch) const {
  if (size() == 0 || batch.n_rows() == 0) return false;
  for (std::size_t row = 0; row < batch.n_rows(); ++row) {
    const auto start = static_cast<std::size_t>(batch.indptr[row]);
    const auto stop = static_cast<std::size_t>(batch.indptr[row + 1]);
    if (stop - start != size()) return false;
    if (!std::equal(keys().begin(), keys().end(), batch.keys.data() + start)) return false;
  }
  return true;
}

void ActiveSet::assign(const BatchView& batch) {
  batch_ = batch;
  const std::size_t first = batch.first_entry();
  repeated_ = repeats(batch);
  if (repeated_) {
    std::iota(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size()), first);
    if (!full_) columns_.clear();
    for (std::size_t i = columns_.size(); i < size() * n_rows(); ++i) {
      columns_.push_back(static_cast<std::uint32_t>(i % size()));
    }
    full_ = true;
    return;
  }
  const std::size_t n_entries = batch.last_entry() - first;
  if (n_entries >= std::numeric_limits<std::uint32_t>::max() / 2) {
    throw std::invalid_argument("a minibatch must hold fewer than 2^31 entries, got " +
                                std::to_string(n_entries));
  }
  number_keys(first, n_entries);
  full_ = repeats(batch);
}

// Whether a key is new cannot be foreseen, so nothing branches on it: every entry is written as if
// it were, and only a new one moves the end; and the key before all columns, which an empty place
// stands for, is made equal to the one looked for. That takes a third of the time.
void ActiveSet::number_keys(std::size_t first, std::size_t n_entries) {
  if (entries_.size() < n_entries) {
    keys_.resize(n_entries + 1);
    hashes_.resize(n_entries);
    entries_.resize(n_entries);
  }
  columns_.resize(n_entries);
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(4 * n_entries, 16));
  const std::size_t mask = capacity - 1;
  table_.assign(capacity, 0);
  const Key* given = batch_.keys.data() + first;
  Key* keys = keys_.data();
  std::uint64_t* hashes = hashes_.data();
  std::size_t* entries = entries_.data();
  std::uint32_t *columns = columns_.data(), *table = table_.data();
  const KeyHash hash = hash_;
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < n_entries; ++i) {
    const Key key = given[i];
    const std::uint64_t h = hash(key);
    std::size_t at = h & mask;
    std::uint32_t found = table[at];
    keys[0] = key;
    while (keys[found] != key) {
      at = (at + 1) & mask;
      found = table[at];
    }
    keys[n + 1] = key;
    hashes[n] = h;
    entries[n] = first + i;
    const std::uint32_t is_new = found == 0;
    n += is_new;
    const std::uint32_t number = found + (n & (0 - is_new));
    table[at] = number;
    columns[i] = number - 1;
  }
  size_ = n;
}

void ActiveSet::margins(ConstReals w, std::size_t classes, Reals out) const {
  if (full_ && classes == 1) return full_margins(w, out);
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
  if (full_ && classes == 1) return full_gradient(residual, g);
  for (std::size_t row = 0; row < n_rows(); ++row) {
    const auto start = static_cast<std::size_t>(batch_.indptr[row]) - first;
    const auto stop = static_cast<std::size_t>(batch_.indptr[row + 1]) - first;
    const double* r = residual.data() + row * classes;
    if (classes == 1) {
      for (std::size_t e = start; e < stop; ++e) {
        g[columns_[e]] += static_cast<double>(values[e]) * *r;
      }
      continue;
    }
    for (std::size_t e = start; e < stop; ++e) {
      const double value = static_cast<double>(values[e]);
      double* at = g.data() + columns_[e] * classes;
      for (std::size_t c = 0; c < classes; ++c) at[c] += value * r[c];
    }
  }
}

void ActiveSet::gram(Reals out) const {
  if (full_) return full_gram(out);
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

void ActiveSet::full_margins(ConstReals w, Reals out) const {
  const auto zeros = static_cast<std::size_t>(std::count(w.begin(), w.end(), 0.0));
  if (4 * zeros < 3 * size()) return multiply(row(0), n_rows(), size(), w.data(), out.data());
  // Weights read through the selection are nearly all zero, and a term of zero changes no sum.
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t c = 0; c < size(); ++c) {
    if (w[c] == 0.0) continue;
    for (std::size_t i = 0; i < n_rows(); ++i) out[i] += static_cast<double>(row(i)[c]) * w[c];
  }
}

void ActiveSet::full_gradient(ConstReals residual, Reals g) const {
  std::size_t i = 0;
  for (; i + 4 <= n_rows(); i += 4) {
    const float *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
    const double* r = residual.data() + i;
    for (std::size_t at = 0; at < g.size(); ++at) {
      double sum = g[at];
      sum += static_cast<double>(a[at]) * r[0];
      sum += static_cast<double>(b[at]) * r[1];
      sum += static_cast<double>(c[at]) * r[2];
      sum += static_cast<double>(d[at]) * r[3];
      g[at] = sum;
    }
  }
  for (; i < n_rows(); ++i) {
    for (std::size_t at = 0; at < g.size(); ++at) {
      g[at] += static_cast<double>(row(i)[at]) * residual[i];
    }
  }
}

// Pairs of rows in doubles, column after column: a block of a row's products is then a few wide
// multiplications without conversions, and each sum still runs over the columns in order.
void ActiveSet::full_gram(Reals out) const {
  const std::size_t n = n_rows(), padded = (n + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  std::vector<double> columns(padded * size(), 0.0);
  for (std::size_t c = 0; c < size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) columns[c * padded + i] = row(i)[c];
  }
  std::array<double, 2 * kRowsAtOnce> sums{};
  for (std::size_t i = 0; i < n; i += 2) {
    for (std::size_t block = 0; block <= i + 1; block += kRowsAtOnce) {
      multiply_two(columns.data(), size(), padded, i, block, sums.data());
      for (std::size_t at = 0; at < sums.size(); ++at) {
        const std::size_t row = i + at / kRowsAtOnce, other = block + at % kRowsAtOnce;
        if (row < n && other <= row) out[row * n + other] = out[other * n + row] = sums[at];
      }
    }
  }
}

}  // namespace bear

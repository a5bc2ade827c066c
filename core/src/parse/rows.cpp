#include "bear/parse/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bear::parse {

RowBuilder::RowBuilder(std::size_t n_rows, std::uint64_t seed, bool keep_names,
                       std::size_t max_name_bytes, std::size_t max_features)
    : hash_(seed),
      keep_names_(keep_names),
      n_rows_(n_rows),
      max_name_bytes_(max_name_bytes),
      max_features_(max_features),
      error_of_row_(n_rows, 0) {
  if (n_rows > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("a table has at most 2^32-1 rows");
}

void RowBuilder::use_name(std::string_view name) {
  used_at_ = names_.size();
  used_size_ = static_cast<std::uint32_t>(name.size());
  used_key_ = hash_(name);
  if (keep_names_) names_.insert(names_.end(), name.begin(), name.end());
}

void RowBuilder::add(std::size_t row, std::size_t column, std::string_view prefix,
                     std::string_view name, double value) {
  const std::size_t size = prefix.size() + name.size();
  if (size > max_name_bytes_) {
    fail({row, column, "TAB-NAME-LONG",
          "a feature name of " + std::to_string(size) + " bytes is above the limit of " +
              std::to_string(max_name_bytes_),
          std::string(name.substr(0, 40))});
    return;
  }
  used_at_ = names_.size();
  names_.insert(names_.end(), prefix.begin(), prefix.end());
  names_.insert(names_.end(), name.begin(), name.end());
  used_size_ = static_cast<std::uint32_t>(size);
  used_key_ = hash_({names_.data() + used_at_, size});
  if (!keep_names_) names_.resize(compat::to_size(used_at_));
  push(row, column, value);
}

void RowBuilder::add_used(std::size_t row, std::size_t column, double value) {
  push(row, column, value);
}

void RowBuilder::push(std::size_t row, std::size_t column, double value) {
  if (value == 0.0) return;
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow)) {
    fail(
        {row, column, "TAB-VALUE-RANGE", "value exceeds float32 range (largest 3.4028235e38)", {}});
    return;
  }
  entries_.push_back({used_key_, used_at_, used_size_, static_cast<std::uint32_t>(row), narrow});
}

void RowBuilder::fail(RowError error) {
  std::size_t& known = error_of_row_[error.row];
  if (known == 0) {
    errors_.push_back(std::move(error));
    known = errors_.size();
  } else if (error.column < errors_[known - 1].column) {
    errors_[known - 1] = std::move(error);
  }
}

// Counting sort: entries of one row become neighbours and remember, in `row`, the order they came
// in, so that sums do not depend on anything else.
void RowBuilder::group_by_row() {
  starts_.assign(n_rows_ + 1, 0);
  for (const Entry& entry : entries_) ++starts_[entry.row + 1];
  for (std::size_t i = 0; i < n_rows_; ++i) starts_[i + 1] += starts_[i];
  grouped_.resize(entries_.size());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  for (Entry& entry : entries_) {
    const std::size_t at = next[entry.row]++;
    entry.row = static_cast<std::uint32_t>(at - starts_[entry.row]);
    grouped_[at] = entry;
  }
  entries_ = {};
}

void RowBuilder::finish_row(std::size_t row, Entry* first, Entry* last, Rows& out) {
  const auto before = [](const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  };
  // As rows of numbers alone are, whose columns came in the order of their keys.
  if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
  Entry* end = first;
  for (Entry* at = first; at != last;) {
    double sum = 0.0;
    Entry merged = *at;
    for (; at != last && at->key == merged.key; ++at) sum += static_cast<double>(at->value);
    merged.value = static_cast<float>(sum);
    if (!std::isfinite(merged.value)) {
      fail({row, 0, "TAB-VALUE-RANGE", "repeated values add up to more than float32 holds", {}});
      return;
    }
    if (merged.value != 0.0F) *end++ = merged;
  }
  for (const Entry* at = first; at != end; ++at) {
    out.keys.push_back(at->key);
    out.values.push_back(at->value);
    if (!keep_names_) continue;
    const char* name = names_.data() + at->name_at;
    out.name_data.insert(out.name_data.end(), name, name + at->name_size);
    out.name_offsets.push_back(out.name_data.size());
  }
  out.kept.push_back(row);
  out.indptr.push_back(static_cast<std::int64_t>(out.keys.size()));
}

Rows RowBuilder::finish() {
  Rows out;
  out.indptr.push_back(0);
  if (keep_names_) out.name_offsets.push_back(0);
  group_by_row();
  out.keys.reserve(grouped_.size());
  out.values.reserve(grouped_.size());
  if (keep_names_) out.name_offsets.reserve(grouped_.size() + 1);
  for (std::size_t row = 0; row < n_rows_; ++row) {
    Entry* first = grouped_.data() + starts_[row];
    Entry* last = grouped_.data() + starts_[row + 1];
    const auto size = static_cast<std::size_t>(last - first);
    if (size > max_features_)
      fail({row,
            0,
            "TAB-FEATURES",
            std::to_string(size) + " features in a row are above the limit of " +
                std::to_string(max_features_),
            {}});
    if (error_of_row_[row] == 0) finish_row(row, first, last, out);
  }
  out.errors = std::move(errors_);
  std::sort(out.errors.begin(), out.errors.end(),
            [](const RowError& a, const RowError& b) { return a.row < b.row; });
  return out;
}

}  // namespace bear::parse

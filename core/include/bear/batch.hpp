// CSR view over the caller's arrays; owns nothing.
#pragma once

#include <span>
#include <string_view>

#include "bear/types.hpp"

namespace bear {

struct BatchView {
  std::span<const std::int64_t> indptr;         // n_rows + 1; offsets into keys and values
  std::span<const Key> keys;                    // strictly ascending inside a row
  std::span<const float> values;                // finite
  std::span<const double> labels;               // empty, or one per row
  std::span<const double> weights;              // empty (all 1), or one per row
  const char* name_data = nullptr;              // names of the entries, when they have any
  std::size_t name_bytes = 0;                   // of these
  std::span<const std::uint64_t> name_offsets;  // empty, or n_entries + 1
  std::span<const std::uint64_t> strata;        // empty, or one per row: what evidence adjusts for
  std::span<const std::uint64_t> places;  // empty, or one per row: where it stands in the data

  std::size_t n_rows() const { return indptr.empty() ? 0 : indptr.size() - 1; }
  std::size_t first_entry() const { return n_rows() ? static_cast<std::size_t>(indptr[0]) : 0; }
  std::size_t last_entry() const {
    return n_rows() ? static_cast<std::size_t>(indptr[n_rows()]) : 0;
  }
  bool named() const { return !name_offsets.empty(); }
  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }

  // Empty where the offsets, which only check_rows() looks at, are none.
  std::string_view name(std::size_t entry) const {
    const auto start = name_offsets[entry], stop = name_offsets[entry + 1];
    if (start > stop || stop > name_bytes) return {};
    return {name_data + start, static_cast<std::size_t>(stop - start)};
  }

  // Rows start..stop; entries keep their numbers, so nothing is copied.
  BatchView rows(std::size_t start, std::size_t stop) const;
};

// Throws std::invalid_argument, naming row and entry, unless the view is well formed.
void check_rows(const BatchView& batch);

// The same unless every row lies within the arrays: arrays of Python may change after check_rows().
void check_bounds(const BatchView& batch);

}  // namespace bear

#include "bear/batch.hpp"

#include <cmath>

namespace bear {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

void check_rise(const BatchView& batch) {
  for (std::size_t i = 0; i < batch.n_rows(); ++i) {
    if (batch.indptr[i + 1] < batch.indptr[i]) {
      refuse("indptr must not fall, got " + std::to_string(batch.indptr[i + 1]) + " after " +
             std::to_string(batch.indptr[i]) + " at row " + std::to_string(i));
    }
  }
}

void check_offsets(const BatchView& batch) {
  if (batch.indptr.empty()) refuse("indptr must have at least one element, got none");
  if (batch.keys.size() != batch.values.size()) {
    refuse("keys and values must be equally long, got " + std::to_string(batch.keys.size()) +
           " and " + std::to_string(batch.values.size()));
  }
  if (batch.indptr[0] != 0) {
    refuse("indptr must start at 0, got " + std::to_string(batch.indptr[0]));
  }
  check_rise(batch);
  if (batch.last_entry() != batch.keys.size()) {
    refuse("indptr must end at the number of entries, " + std::to_string(batch.keys.size()) +
           ", got " + std::to_string(batch.last_entry()));
  }
}

void check_row(const BatchView& batch, std::size_t row) {
  const auto first = static_cast<std::size_t>(batch.indptr[row]);
  const auto last = static_cast<std::size_t>(batch.indptr[row + 1]);
  for (std::size_t e = first; e < last; ++e) {
    if (!std::isfinite(batch.values[e])) {
      refuse("values must be finite, got " + std::to_string(batch.values[e]) + " at row " +
             std::to_string(row) + ", entry " + std::to_string(e));
    }
    if (e > first && batch.keys[e] <= batch.keys[e - 1]) {
      refuse("keys of a row must be strictly ascending, got " +
             std::string(batch.keys[e] == batch.keys[e - 1] ? "a duplicate " : "") +
             std::to_string(batch.keys[e]) + " after " + std::to_string(batch.keys[e - 1]) +
             " at row " + std::to_string(row) + ", entry " + std::to_string(e));
    }
  }
}

void check_names(const BatchView& batch) {
  const std::size_t name_bytes = batch.name_bytes;
  std::uint64_t last = 0;
  for (const auto offset : batch.name_offsets) {
    if (offset < last || offset > name_bytes) {
      refuse("names.offsets must rise and stay within " + std::to_string(name_bytes) +
             " bytes, got " + std::to_string(offset) + " after " + std::to_string(last));
    }
    last = offset;
  }
}

}  // namespace

BatchView BatchView::rows(std::size_t start, std::size_t stop) const {
  BatchView part = *this;
  part.indptr = indptr.subspan(start, stop - start + 1);
  if (!labels.empty()) part.labels = labels.subspan(start, stop - start);
  if (!weights.empty()) part.weights = weights.subspan(start, stop - start);
  if (!strata.empty()) part.strata = strata.subspan(start, stop - start);
  if (!places.empty()) part.places = places.subspan(start, stop - start);
  return part;
}

void check_bounds(const BatchView& batch) {
  check_rise(batch);
  const std::size_t n = batch.n_rows(), entries = batch.keys.size();
  const bool inside = n == 0 || (batch.indptr[0] >= 0 && batch.last_entry() <= entries);
  if (!inside || batch.values.size() != entries ||
      (!batch.labels.empty() && batch.labels.size() != n) ||
      (!batch.weights.empty() && batch.weights.size() != n) ||
      (!batch.strata.empty() && batch.strata.size() != n) ||
      (!batch.places.empty() && batch.places.size() != n) ||
      (batch.named() && batch.name_offsets.size() != entries + 1)) {
    refuse("rows of a batch must lie within its arrays: these were changed after it was made");
  }
}

void check_rows(const BatchView& batch) {
  check_offsets(batch);
  for (std::size_t row = 0; row < batch.n_rows(); ++row) {
    check_row(batch, row);
    if (!(batch.weight(row) >= 0.0) || !std::isfinite(batch.weight(row))) {
      refuse("weights must be finite and not negative, got " + std::to_string(batch.weight(row)) +
             " at row " + std::to_string(row));
    }
  }
  check_names(batch);
}

}  // namespace bear

#include <bit>

#include "bear/hash.hpp"
#include "bear/storage.hpp"

namespace bear {

namespace {

constexpr std::size_t kBits = 32;  // of the filter, for each element

}  // namespace

// Few cells of a wide sketch are shared. A filter with a bit per cell tells which may be, without a
// branch, and only these are looked up; a table of all cells takes twice the time.
void Places::find_shared() {
  const std::size_t n = cells.size();
  const std::size_t bits = std::bit_ceil(std::max<std::size_t>(kBits * n, 64));
  shared.clear();
  seen_.assign(bits / 64, 0);
  list_elements(bits, false);
  if (listed_.empty()) return;
  // Now with their bits alone: to them come the ones before that they may share a cell with.
  std::fill(seen_.begin(), seen_.end(), 0);
  for (const std::uint32_t element : listed_) {
    const std::uint64_t bit = (cells[element] / 2) & (bits - 1);
    seen_[compat::to_size(bit / 64)] |= std::uint64_t{1} << (bit % 64);
  }
  list_elements(bits, true);
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(4 * listed_.size(), 16));
  const int shift = 65 - static_cast<int>(std::bit_width(capacity));
  table_.assign(capacity, 0);
  for (const std::uint32_t element : listed_) {
    const std::uint64_t cell = cells[element] / 2;
    std::size_t at = compat::to_size((cell * kGolden) >> shift);
    while (table_[at] != 0 && cells[table_[at] - 1] / 2 != cell) at = (at + 1) & (capacity - 1);
    if (table_[at] == 0) {
      table_[at] = element + 1;
    } else {
      shared.push_back({element, table_[at] - 1});
    }
  }
}

// Lists the elements whose bit is set: by the filter as it is, or else by an element before.
void Places::list_elements(std::size_t bits, bool known) {
  const std::size_t n = cells.size();
  listed_.resize(n);
  std::size_t listed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bit = (cells[i] / 2) & (bits - 1);
    std::uint64_t& word = seen_[compat::to_size(bit / 64)];
    listed_[listed] = static_cast<std::uint32_t>(i);
    listed += word >> (bit % 64) & 1;
    if (!known) word |= std::uint64_t{1} << (bit % 64);
  }
  listed_.resize(listed);
}

}  // namespace bear

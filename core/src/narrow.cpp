#include "bear/narrow.hpp"

#include <algorithm>

#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

// Counters of the words of cells that have many classes, as those of the same cells with few: a
// word of these holds more cells, and has what all words of theirs have counted.
std::vector<double> narrow_counts(const std::vector<double>& counts, std::size_t cells,
                                  std::size_t many, std::size_t few) {
  std::vector<double> sums(cells * few / Counter::kBytes, 0.0);
  if (sums.empty() || counts.empty()) return {};
  std::size_t before = counts.size(), into = sums.size();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t from = std::min(cell * many / Counter::kBytes, counts.size() - 1);
    const std::size_t to = std::min(cell * few / Counter::kBytes, sums.size() - 1);
    if (from != before || to != into) sums[to] += counts[from];
    before = from;
    into = to;
  }
  return sums;
}

}  // namespace

std::vector<std::byte> narrow_cells(Learner& learner, const std::vector<std::size_t>& classes) {
  const auto bytes = learner.storage().bytes();
  const std::size_t many = learner.classes(), few = classes.size();
  for (const std::size_t c : classes) {
    if (c >= many) throw std::invalid_argument("no such class: " + std::to_string(c));
  }
  const Precision precision = learner.recipe().precision;
  const std::size_t size = precision == Precision::int8      ? 1
                           : precision == Precision::float32 ? sizeof(float)
                                                             : sizeof(double);
  const std::size_t cells = bytes.size() / (many * size);
  std::vector<std::byte> out(cells * few * size);
  auto to = out.begin();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    for (const std::size_t c : classes) {
      to = std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>((cell * many + c) * size), size,
                       to);
    }
  }
  const CountingCells* counting = learner.storage().counting();
  if (counting == nullptr) return out;
  const auto counts = narrow_counts(counting->counts(), cells, many, few);
  auto* const first = reinterpret_cast<CountedByte*>(out.data());
  for (std::size_t word = 0; word < counts.size(); ++word) {
    Counter(first + word * Counter::kBytes).set(counts[word], 0.5);
  }
  return out;
}

}  // namespace bear

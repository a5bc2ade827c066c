#include "bear/parse/block.hpp"

namespace bear::parse {

void Block::reset() {
  indptr.truncate(1);
  keys.clear();
  values.clear();
  labels.clear();
  weights.clear();
  line_of_row.clear();
  for (Strings* strings : {&names, &label_names, &tags}) strings->truncate(0);
  errors.clear();
  fatal.reset();
  counts.fill(0);
  warnings.fill(0);
  label_kind = LabelKind::unknown;
  named = weighted = tagged = hungry = done = false;
  labelled = true;
  byte = 0;
  line = 0;
}

void Block::reserve_like(const Block& other) {
  const auto reserve = [](auto& own, const auto& others) {
    own.reserve(others.size() + (others.size() / 8));
  };
  reserve(keys, other.keys);
  reserve(values, other.values);
  reserve(names.data, other.names.data);
  reserve(names.offsets, other.names.offsets);
}

std::size_t Block::capacity() const {
  std::size_t words = indptr.capacity() + keys.capacity() + labels.capacity() + weights.capacity() +
                      line_of_row.capacity();
  std::size_t bytes = values.capacity() * sizeof(float);
  for (const Strings* strings : {&names, &label_names, &tags}) {
    words += strings->offsets.capacity();
    bytes += strings->data.capacity();
  }
  return 8 * words + bytes;
}

}  // namespace bear::parse

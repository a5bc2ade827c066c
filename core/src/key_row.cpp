#include "bear/key_row.hpp"

namespace bear {

KeyRow::KeyRow(Keys keys, std::uint64_t seed)
    : indptr_{0, static_cast<std::int64_t>(keys.size())}, ones_(keys.size(), 1.0F), active_(seed) {
  BatchView row;
  row.indptr = indptr_;
  row.keys = keys;
  row.values = ones_;
  active_.assign(row);
  if (active_.size() != keys.size()) throw std::invalid_argument("keys must be distinct");
}

}  // namespace bear

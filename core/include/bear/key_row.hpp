// Any distinct keys as the active set of one row that holds each of them with value 1.
#pragma once

#include <array>

#include "bear/active_set.hpp"

namespace bear {

class KeyRow {
 public:
  // Throws std::invalid_argument unless the keys, which are not copied, are distinct.
  KeyRow(Keys keys, std::uint64_t seed);
  KeyRow(const KeyRow&) = delete;
  KeyRow& operator=(const KeyRow&) = delete;

  const ActiveSet& active() const { return active_; }

 private:
  std::array<std::int64_t, 2> indptr_;
  std::vector<float> ones_;
  ActiveSet active_;
};

}  // namespace bear

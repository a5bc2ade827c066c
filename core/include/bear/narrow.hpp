// A learner with fewer classes than room was kept for.
#pragma once

#include "bear/learner.hpp"

namespace bear {

// The cells of a learner with these of its classes, as bytes. Where cells count, a byte holds but
// one bit of a counter that several cells may share: counters are added up to those of the new
// ones.
std::vector<std::byte> narrow_cells(Learner& learner, const std::vector<std::size_t>& classes);

}  // namespace bear

// Which tests are proven, at which share of false names: e-BH, closed (docs/explanation/evidence).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bear::evidence {

// Least level at which each of some running tests is listed; 1 for those that never are. Lists are
// the longest-first prefixes, by gain stake x (e - 1), of the candidates whose e is above 1; who is
// a candidate may be chosen after looking. A stake of 0: not tested.
std::vector<double> levels(std::span<const double> log_e, std::span<const double> stakes,
                           double bank, std::span<const std::uint8_t> candidates);

}  // namespace bear::evidence

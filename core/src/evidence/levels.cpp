#include "bear/evidence/levels.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bear/math.hpp"

namespace bear::evidence {

namespace {

constexpr double kMostLog = 600.0;  // beyond, e counts as exp(600), which is never too much

}  // namespace

// With R the list and r of its tests without an association, the sum over these of what they were
// paid is at least H = bank + stakes + all losses outside R + the r smallest gains of R, and has
// mean 1 at most. The level is the largest of r / (|R| H).
std::vector<double> levels(std::span<const double> log_e, std::span<const double> stakes,
                           double bank, std::span<const std::uint8_t> candidates) {
  const std::size_t n = log_e.size();
  if (stakes.size() != n || candidates.size() != n) {
    throw std::invalid_argument("log_e, stakes and candidates must be equally many");
  }
  std::vector<double> gains(n, 0.0);
  std::vector<std::size_t> order;
  double cash = bank;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(stakes[i] > 0.0)) continue;
    gains[i] = stakes[i] * (math::exp(std::min(log_e[i], kMostLog)) - 1.0);
    cash += stakes[i] + std::min(gains[i], 0.0);
    if (log_e[i] > 0.0 && candidates[i] != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return gains[a] != gains[b] ? gains[a] > gains[b] : log_e[a] > log_e[b];
  });
  std::vector<double> found(n, 1.0);
  std::vector<double> of_length(order.size() + 1, 1.0);
  for (std::size_t length = 1; length <= order.size(); ++length) {
    double held = cash, level = 0.0;
    for (std::size_t r = 1; r <= length; ++r) {
      held += gains[order[length - r]];
      level = std::max(level, held > 0.0 ? static_cast<double>(r) / held : HUGE_VAL);
    }
    of_length[length] = level / static_cast<double>(length);
  }
  double least = 1.0;
  for (std::size_t length = order.size(); length > 0; --length) {
    least = std::min(least, of_length[length]);
    found[order[length - 1]] = least;
  }
  return found;
}

}  // namespace bear::evidence

#include "bear/direction/kinship.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

// Chosen on training rows set aside: with a power of 2 the selected of clicks, whose correlation is
// around a fifth, lose .01.
constexpr double kMemory = 0.02, kPower = 6.0;

}  // namespace

double Kinship::beside() const {
  const double size = std::sqrt(selected_ * cells_);
  if (!(size > 0.0)) return 0.0;
  return std::pow(1.0 - std::clamp(both_ / size, 0.0, 1.0), kPower);
}

void Kinship::learn(const Targets& targets, ConstReals selected, ConstReals cells) {
  const std::size_t rows = targets.labels.size(), classes = selected.size() / rows;
  const double total = targets.total();
  double squares = 0.0, others = 0.0, products = 0.0;
  for (std::size_t row = 0, i = 0; row < rows; ++row) {
    const double share = targets.weight(row) / total;
    for (const std::size_t end = i + classes; i < end; ++i) {
      squares += share * selected[i] * selected[i];
      others += share * cells[i] * cells[i];
      products += share * selected[i] * cells[i];
    }
  }
  selected_ += kMemory * (squares - selected_);
  cells_ += kMemory * (others - cells_);
  both_ += kMemory * (products - both_);
}

void Kinship::restore(std::span<const double> numbers) {
  selected_ = numbers[0];
  cells_ = numbers[1];
  both_ = numbers[2];
}

}  // namespace bear

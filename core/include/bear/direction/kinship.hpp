// How much what the selected say has to do with what the cells say. The selected are trained to
// stand alone, so that to them what the cells know of an example is noise. Where the two say the
// same, as words of one topic do, that must be so: alone, the selected are to speak for the others
// too. Where they have nothing to do with each other, as fields of a table, it is nothing but
// noise, and the selected learn better at the margins of the whole model.
#pragma once

#include <array>

#include "bear/loss.hpp"

namespace bear {

class Kinship {
 public:
  // How far the margins that the selected see lie from their own towards those of the whole model:
  // all the way without any correlation of the two, hardly at all with that of text, about a half.
  double beside() const;

  // Learns from the margins that each of the two make, both from their means.
  void learn(const Targets& targets, ConstReals selected, ConstReals cells);

  static constexpr std::size_t kNumbers = 3;
  std::array<double, kNumbers> numbers() const { return {selected_, cells_, both_}; }
  void restore(std::span<const double> numbers);

 private:
  // Running means over batches: of squares and of products.
  double selected_ = 0.0, cells_ = 0.0, both_ = 0.0;
};

}  // namespace bear

// Recipes drawn from the input of a fuzz target, and what must hold for any learner.
#pragma once

#include <bit>
#include <cmath>
#include <string_view>

#include "bear/learner.hpp"
#include "require.hpp"

namespace bear::testing {

// Numbers taken from the front of the input; zeros when it is used up.
class Source {
 public:
  Source(const unsigned char* data, std::size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::size_t below(std::size_t n) { return byte() % n; }
  std::string_view rest() const { return {reinterpret_cast<const char*>(data_), left_}; }
  float real() {
    const std::uint8_t kind = byte();
    if (kind < 200) return static_cast<float>(kind % 16) - 7.5F;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) bits = bits << 8 | byte();
    const float value = std::bit_cast<float>(bits);
    return std::isfinite(value) ? value : 1.0F;
  }

 private:
  const unsigned char* data_;
  std::size_t left_;
};

inline Recipe make_recipe(Source& source) {
  Recipe recipe;
  recipe.storage = static_cast<Recipe::StorageKind>(source.below(4));
  recipe.update = static_cast<Recipe::UpdateKind>(source.below(4));
  recipe.loss = static_cast<Recipe::LossKind>(source.below(3));
  recipe.step = static_cast<Recipe::StepKind>(source.below(3));
  recipe.query = static_cast<Query>(source.below(2));
  recipe.precision = static_cast<Precision>(source.below(3));
  if (recipe.storage == Recipe::StorageKind::dense && recipe.precision == Precision::int8) {
    recipe.precision = Precision::float32;
  }
  if (recipe.update == Recipe::UpdateKind::posterior) {
    recipe.storage = Recipe::StorageKind::cached;
    recipe.precision = Precision::int8;
  }
  recipe.dimension = 64;
  recipe.width = 1 + source.below(8);
  recipe.depth = 1 + source.below(6);
  if (recipe.update == Recipe::UpdateKind::posterior) recipe.depth = 1;
  recipe.history = source.below(4);
  recipe.k = source.below(4);
  recipe.per_class = source.below(2) == 1;
  recipe.reads_selection = recipe.k > 0 && source.below(2) == 1;
  if (recipe.update == Recipe::UpdateKind::posterior) recipe.reads_selection = false;
  recipe.classes = 2 + source.below(3);
  const std::uint8_t step = source.byte();
  recipe.step_size = step < 128 ? 0.5 : std::pow(10.0, static_cast<double>(step % 24) - 8.0);
  recipe.l2 = source.below(3) == 0 ? 0.1 : 0.0;
  recipe.intercept = source.below(2) == 1;
  recipe.batch_size = 1 + source.below(4);
  return recipe;
}

inline void check_finite(Learner& learner) {
  require(std::isfinite(learner.storage().fill().largest), "cells are finite");
  for (const double value : learner.intercept()) {
    require(std::isfinite(value), "intercepts are finite");
  }
  for (std::size_t g = 0; g < learner.selection().groups(); ++g) {
    const TopK& top = learner.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      require(std::isfinite(top.norm(slot)), "selected weights are finite");
    }
  }
}

inline std::vector<double> weights_of(const Learner& learner) {
  std::vector<Key> keys(40);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::vector<double> weights(keys.size() * learner.classes());
  learner.query(keys, weights);
  return weights;
}

}  // namespace bear::testing

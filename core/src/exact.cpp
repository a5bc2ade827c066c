#include "bear/exact.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bear/key_row.hpp"

namespace bear {

namespace {

constexpr double kLargestByte = 127.0;

Recipe widened(Recipe recipe) {
  recipe.precision = Precision::float64;
  return recipe;
}

template <class T>
std::span<T> cells_as(Learner& learner) {
  const auto bytes = learner.storage().bytes();
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
void widen(Learner& learner, Learner& wide, double factor) {
  const auto from = cells_as<T>(learner);
  std::transform(from.begin(), from.end(), cells_as<double>(wide).begin(),
                 [factor](T cell) { return factor * static_cast<double>(cell); });
}

void copy_cells(Learner& learner, Learner& wide) {
  switch (learner.recipe().precision) {
    case Precision::float64:
      return widen<double>(learner, wide, 1.0);
    case Precision::float32:
      return widen<float>(learner, wide, 1.0);
    case Precision::int8:
      return widen<std::int8_t>(learner, wide, learner.storage().numbers()[0]);
  }
}

std::vector<double> take_out(const Learner& learner, Learner& wide, std::size_t group, Keys keys) {
  const TopK& top = learner.selection().top(group);
  const std::size_t first = learner.selection().first_class(group), width = top.width();
  const KeyRow row(keys, learner.recipe().seed);
  Places places;
  wide.storage().locate(row.active(), places);
  std::vector<double> weights(keys.size() * width), all(learner.classes());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = row.active().keys()[i];
    const std::int32_t slot = top.find(key);
    wide.storage().query_one(places, i, all);
    auto own = ConstReals(all).subspan(first, width);
    if (slot < 0) {
      wide.storage().admit(key, first, own);
    } else if (learner.storage().exact()) {
      own = top.weights(slot);
    }
    std::copy(own.begin(), own.end(), weights.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return weights;
}

void round_to_bytes(std::span<const double> from, Learner& learner, double quantum, double writes) {
  double largest = 0.0;
  for (const double cell : from) largest = std::max(largest, std::abs(cell));
  quantum = std::max(quantum, largest / kLargestByte);
  const auto to = cells_as<std::int8_t>(learner);
  const std::uint64_t salt =
      mix64(learner.recipe().seed + kGolden) + static_cast<std::uint64_t>(writes) * kGolden;
  for (std::size_t i = 0; i < to.size() && quantum > 0.0; ++i) {
    const double draw = static_cast<double>(mix64(salt ^ (i * kGolden)) >> 11) * 0x1p-53;
    const double q = std::floor(from[i] / quantum + draw);
    to[i] = static_cast<std::int8_t>(std::clamp(q, -kLargestByte, kLargestByte));
  }
  const double numbers[] = {quantum, writes};
  learner.storage().restore(numbers);
}

}  // namespace

Exact take_apart(Learner& learner, const std::vector<Keys>& keys) {
  if (keys.size() != learner.selection().groups()) {
    throw std::invalid_argument("keys must be given for each group");
  }
  Learner wide(widened(learner.recipe()));
  copy_cells(learner, wide);
  Exact exact;
  for (std::size_t g = 0; g < keys.size(); ++g) {
    exact.weights.push_back(take_out(learner, wide, g, keys[g]));
  }
  const auto cells = cells_as<double>(wide);
  exact.cells.assign(cells.begin(), cells.end());
  return exact;
}

void put_together(Learner& learner, ConstReals cells, const Returned& returned, double quantum,
                  double writes) {
  Learner wide(widened(learner.recipe()));
  const auto into = cells_as<double>(wide);
  if (cells.size() != into.size() || returned.keys.size() != learner.selection().groups() ||
      returned.weights.size() != returned.keys.size()) {
    throw std::invalid_argument("cells and keys must be those of the learner");
  }
  std::copy(cells.begin(), cells.end(), into.begin());
  for (std::size_t g = 0; g < returned.keys.size(); ++g) {
    const std::size_t width = learner.selection().top(g).width();
    const std::size_t first = learner.selection().first_class(g);
    if (returned.weights[g].size() != returned.keys[g].size() * width) {
      throw std::invalid_argument("weights must be one per key and class");
    }
    for (std::size_t i = 0; i < returned.keys[g].size(); ++i) {
      wide.storage().release(returned.keys[g][i], first,
                             returned.weights[g].subspan(i * width, width));
    }
  }
  switch (learner.recipe().precision) {
    case Precision::float64:
      std::copy(into.begin(), into.end(), cells_as<double>(learner).begin());
      break;
    case Precision::float32:
      std::transform(into.begin(), into.end(), cells_as<float>(learner).begin(),
                     [](double cell) { return static_cast<float>(cell); });
      break;
    case Precision::int8:
      round_to_bytes(into, learner, quantum, writes);
      break;
  }
}

}  // namespace bear

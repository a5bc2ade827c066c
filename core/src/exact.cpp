#include "bear/exact.hpp"

#include <algorithm>
#include <array>
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

// Fills the cells of `wide`, takes the keys out of them, and gives their weights by group.
std::vector<std::vector<double>> take_apart_into(Learner& learner, Learner& wide,
                                                 const std::vector<Keys>& keys) {
  if (keys.size() != learner.selection().groups()) {
    throw std::invalid_argument("keys must be given for each group");
  }
  copy_cells(learner, wide);
  std::vector<std::vector<double>> weights;
  for (std::size_t g = 0; g < keys.size(); ++g) {
    weights.push_back(take_out(learner, wide, g, keys[g]));
  }
  return weights;
}

Exact taken_apart(Learner& learner, Learner& wide, const std::vector<Keys>& keys) {
  Exact exact;
  exact.weights = take_apart_into(learner, wide, keys);
  const auto cells = cells_as<double>(wide);
  exact.cells.assign(cells.begin(), cells.end());
  return exact;
}

// A block of numbers: what moves away from `base` add up to, and how long they were.
class Moves {
 public:
  explicit Moves(ConstReals base) : base_(base), sum_(base.size()) {}

  void add(ConstReals to, double share) {
    std::array<double, 4> squares{};  // sums that need not wait for one another
    const auto one = [&](std::size_t i, double& square) {
      const double move = to[i] - base_[i];
      square += move * move;
      sum_[i] += share * move;
    };
    std::size_t i = 0;
    for (; i + 4 <= sum_.size(); i += 4) {
      for (std::size_t j = 0; j < 4; ++j) one(i + j, squares[j]);
    }
    for (; i < sum_.size(); ++i) one(i, squares[0]);
    square_ += share * ((squares[0] + squares[1]) + (squares[2] + squares[3]));
  }

  std::vector<double> end(bool stretched) && {
    double square = 0.0;
    for (const double move : sum_) square += move * move;
    const double factor = stretched && square > 0.0 ? std::sqrt(square_ / square) : 1.0;
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] = base_[i] + factor * sum_[i];
    return std::move(sum_);
  }

 private:
  ConstReals base_;
  std::vector<double> sum_;
  double square_ = 0.0;
};

void round_to_bytes(std::span<const double> from, Learner& learner, double quantum, double writes) {
  double largest = 0.0;
  for (const double cell : from) largest = std::max(largest, std::abs(cell));
  quantum = std::max(quantum, largest / kLargestByte);
  const auto to = cells_as<std::int8_t>(learner);
  const std::uint64_t salt =
      mix64(learner.recipe().seed + kGolden) + static_cast<std::uint64_t>(writes) * kGolden;
  for (std::size_t i = 0; i < to.size() && quantum > 0.0; ++i) {
    to[i] = 0;
    if (from[i] == 0.0) continue;  // as most of a wide sketch are
    const double draw = uniform(mix64(salt ^ (i * kGolden)));
    const double q = std::floor(from[i] / quantum + draw);
    to[i] = static_cast<std::int8_t>(std::clamp(q, -kLargestByte, kLargestByte));
  }
  const double numbers[] = {quantum, writes};
  learner.storage().restore(numbers);
}

}  // namespace

Exact take_apart(Learner& learner, const std::vector<Keys>& keys) {
  Learner wide(widened(learner.recipe()));
  return taken_apart(learner, wide, keys);
}

Exact average(const std::vector<Learner*>& parts, ConstReals shares, Learner* start,
              const std::vector<Keys>& keys) {
  if (parts.empty() || shares.size() != parts.size()) {
    throw std::invalid_argument("there must be parts, and a share for each");
  }
  Learner wide(widened(parts[0]->recipe()));
  // Without a start, moves are counted from zero.
  Exact base = taken_apart(start == nullptr ? *parts[0] : *start, wide, keys);
  if (start == nullptr) {
    for (auto& block : base.weights) std::fill(block.begin(), block.end(), 0.0);
    std::fill(base.cells.begin(), base.cells.end(), 0.0);
  }
  std::vector<Moves> weights(base.weights.begin(), base.weights.end());
  Moves cells(base.cells);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto own = take_apart_into(*parts[i], wide, keys);
    for (std::size_t g = 0; g < own.size(); ++g) weights[g].add(own[g], shares[i]);
    cells.add(cells_as<double>(wide), shares[i]);
  }
  Exact mean;
  for (Moves& moves : weights) mean.weights.push_back(std::move(moves).end(start != nullptr));
  mean.cells = std::move(cells).end(start != nullptr);
  return mean;
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

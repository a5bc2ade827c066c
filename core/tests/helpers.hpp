// Seeded randomness and batches that own their arrays; for tests only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bear/active_set.hpp"
#include "bear/learner.hpp"

namespace bear::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed + 1)) {}
  std::uint64_t next() { return mix64(state_ += kGolden); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  double uniform() { return bear::uniform(next()); }
  // Mean 0, variance 1, nearly normal.
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  std::vector<double> normals(std::size_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = normal();
    return values;
  }

 private:
  std::uint64_t state_;
};

// A batch that owns its arrays.
struct Rows {
  std::vector<std::int64_t> indptr{0};
  std::vector<Key> keys;
  std::vector<float> values;
  std::vector<double> labels, weights;
  std::string name_data;
  std::vector<std::uint64_t> name_offsets;

  void row(const std::vector<std::pair<Key, float>>& entries, double label = 0.0) {
    for (const auto& [key, value] : entries) {
      keys.push_back(key);
      values.push_back(value);
    }
    indptr.push_back(static_cast<std::int64_t>(keys.size()));
    labels.push_back(label);
  }

  // Name of the entry that was added last; every entry needs one, in order.
  void name(const std::string& text) {
    if (name_offsets.empty()) name_offsets.push_back(0);
    name_data += text;
    name_offsets.push_back(name_data.size());
  }

  BatchView view() const {
    BatchView batch;
    batch.indptr = indptr;
    batch.keys = keys;
    batch.values = values;
    batch.labels = labels;
    batch.weights = weights;
    batch.name_data = name_data.data();
    batch.name_bytes = name_data.size();
    batch.name_offsets = name_offsets;
    return batch;
  }
};

// One row that holds the keys (ascending), each with value 1.
inline Rows row_of(const std::vector<Key>& keys) {
  std::vector<std::pair<Key, float>> entries;
  for (const Key key : keys) entries.emplace_back(key, 1.0F);
  Rows rows;
  rows.row(entries);
  return rows;
}

// Rows over the keys 1 .. pool, each key with probability density; labels are 0 or 1.
inline Rows random_rows(Random& random, std::size_t n_rows, std::size_t pool, double density) {
  Rows rows;
  for (std::size_t i = 0; i < n_rows; ++i) {
    std::vector<std::pair<Key, float>> entries;
    for (Key key = 1; key <= pool; ++key) {
      if (random.uniform() < density)
        entries.emplace_back(key, static_cast<float>(random.normal()));
    }
    rows.row(entries, static_cast<double>(random.below(2)));
  }
  return rows;
}

// Everything a saved model would hold.
inline std::vector<double> state_of(Learner& learner) {
  std::vector<double> state = learner.intercept();
  const auto bytes = learner.storage().bytes();
  const bool wide = learner.recipe().precision == Precision::float64;
  for (std::size_t at = 0; at < bytes.size(); at += wide ? sizeof(double) : sizeof(float)) {
    double value = 0.0;
    float narrow = 0.0F;
    if (wide) {
      std::memcpy(&value, &bytes[at], sizeof(double));
    } else {
      std::memcpy(&narrow, &bytes[at], sizeof(float));
      value = static_cast<double>(narrow);
    }
    state.push_back(value);
  }
  for (std::size_t g = 0; g < learner.selection().groups(); ++g) {
    const TopK& top = learner.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      state.push_back(static_cast<double>(top.key(slot)));
      const auto weights = top.weights(slot);
      state.insert(state.end(), weights.begin(), weights.end());
    }
  }
  const Guards& guards = learner.guards();
  for (const auto count : {guards.uphill, guards.flat_pairs, guards.damped_pairs,
                           guards.rejected_pairs, guards.stored_pairs, learner.counters().examples,
                           learner.counters().batches, learner.counters().passes}) {
    state.push_back(static_cast<double>(count));
  }
  return state;
}

inline double largest_difference(ConstReals a, ConstReals b) {
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

// bear+ with two labels: one-byte cells and k exact weights.
inline Recipe posterior_recipe(std::size_t k) {
  Recipe recipe;
  recipe.storage = Recipe::StorageKind::cached;
  recipe.update = Recipe::UpdateKind::posterior;
  recipe.precision = Precision::int8;
  recipe.loss = Recipe::LossKind::logistic;
  recipe.intercept = true;
  recipe.width = 4096;
  recipe.depth = 1;
  recipe.k = k;
  return recipe;
}

}  // namespace bear::test

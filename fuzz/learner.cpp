// Any recipe on any stream: weights stay finite or training says that it diverged; what is restored
// goes on to the same numbers; a learner averaged with its like stays as it is.

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bear/exact.hpp"

namespace {

using bear::Learner;
using bear::Recipe;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

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

Recipe make_recipe(Source& source) {
  Recipe recipe;
  recipe.storage = static_cast<Recipe::StorageKind>(source.below(4));
  recipe.direction = static_cast<Recipe::DirectionKind>(source.below(4));
  recipe.loss = static_cast<Recipe::LossKind>(source.below(3));
  recipe.step = static_cast<Recipe::StepKind>(source.below(3));
  recipe.query = static_cast<bear::Query>(source.below(2));
  recipe.precision = static_cast<bear::Precision>(source.below(3));
  if (recipe.storage == Recipe::StorageKind::dense && recipe.precision == bear::Precision::int8) {
    recipe.precision = bear::Precision::float32;
  }
  recipe.dimension = 64;
  recipe.width = 1 + source.below(8);
  recipe.depth = 1 + source.below(6);
  recipe.history = source.below(4);
  recipe.k = source.below(4);
  recipe.per_class = source.below(2) == 1;
  recipe.reads_selection = recipe.k > 0 && source.below(2) == 1;
  recipe.classes = 2 + source.below(3);
  const std::uint8_t step = source.byte();
  recipe.step_size = step < 128 ? 0.5 : std::pow(10.0, static_cast<double>(step % 24) - 8.0);
  recipe.l2 = source.below(3) == 0 ? 0.1 : 0.0;
  recipe.intercept = source.below(2) == 1;
  recipe.batch_size = 1 + source.below(4);
  return recipe;
}

struct Rows {
  std::vector<std::int64_t> indptr{0};
  std::vector<bear::Key> keys;
  std::vector<float> values;
  std::vector<double> labels, weights;

  bear::BatchView view() const {
    bear::BatchView batch;
    batch.indptr = indptr;
    batch.keys = keys;
    batch.values = values;
    batch.labels = labels;
    batch.weights = weights;
    return batch;
  }
};

Rows make_rows(Source& source, const Learner& learner) {
  Rows rows;
  const std::size_t n = 1 + source.below(8);
  for (std::size_t i = 0; i < n; ++i) {
    bear::Key key = source.below(8);
    for (std::size_t e = source.below(5); e > 0; --e) {
      rows.keys.push_back(key);
      rows.values.push_back(source.real());
      key += 1 + source.below(8);
    }
    rows.indptr.push_back(static_cast<std::int64_t>(rows.keys.size()));
    const bool squared = learner.recipe().loss == Recipe::LossKind::squared;
    const std::size_t classes = std::max<std::size_t>(learner.classes(), 2);
    rows.labels.push_back(squared ? static_cast<double>(source.real())
                                  : static_cast<double>(source.below(classes)));
    rows.weights.push_back(std::abs(static_cast<double>(source.below(4))));
  }
  return rows;
}

void check_finite(Learner& learner) {
  require(std::isfinite(learner.storage().fill().largest), "cells are finite");
  for (const double value : learner.intercept()) {
    require(std::isfinite(value), "intercepts are finite");
  }
  for (std::size_t g = 0; g < learner.selection().groups(); ++g) {
    const bear::TopK& top = learner.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      require(std::isfinite(top.norm(slot)), "selected weights are finite");
    }
  }
}

std::vector<double> weights_of(const Learner& learner) {
  std::vector<bear::Key> keys(40);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::vector<double> weights(keys.size() * learner.classes());
  learner.query(keys, weights);
  return weights;
}

// A learner that was given everything another one has.
void restore(Learner& to, Learner& from) {
  const auto raw = from.storage().raw();
  std::memcpy(to.storage().bytes().data(), raw.data(), raw.size());
  to.storage().restore(from.storage().numbers());
  to.storage().set_factor(from.storage().factor());
  to.direction().restore(from.direction().numbers());
  to.direction().restore_history(from.direction().history());
  to.restore_watch(from.watch());
  to.intercept() = from.intercept();
  to.counters() = from.counters();
  to.guards() = from.guards();
  for (std::size_t g = 0; g < from.selection().groups(); ++g) {
    const bear::TopK& top = from.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      to.selection().top(g).insert(top.key(slot), top.weights(slot), top.name(slot),
                                   top.magnitude(slot));
    }
  }
}

bool learn(Learner& learner, const Rows& rows) {
  std::vector<double> margins(rows.labels.size() * learner.classes());
  try {
    learner.learn(rows.view(), margins);
  } catch (const bear::Diverged&) {
    check_finite(learner);
    return false;
  }
  check_finite(learner);
  return true;
}

// Two learners of one state are taken apart, averaged and put together.
void check_average(Learner& one, Learner& same) {
  std::vector<std::vector<bear::Key>> chosen(one.selection().groups());
  for (std::size_t g = 0; g < chosen.size(); ++g) {
    const bear::TopK& top = one.selection().top(g);
    for (const std::int32_t slot : top.ranked()) chosen[g].push_back(top.key(slot));
  }
  const std::vector<bear::Keys> keys(chosen.begin(), chosen.end());
  bear::Exact mean = bear::take_apart(one, keys);
  const bear::Exact other = bear::take_apart(same, keys);
  for (std::size_t i = 0; i < mean.cells.size(); ++i) {
    mean.cells[i] = 0.5 * mean.cells[i] + 0.5 * other.cells[i];
  }
  const auto numbers = one.storage().numbers();
  const bool narrow = one.recipe().precision == bear::Precision::int8;
  const bear::Returned nothing{std::vector<bear::Keys>(keys.size()),
                               std::vector<bear::ConstReals>(keys.size())};
  const auto before = weights_of(one);
  bear::put_together(one, mean.cells, nothing, narrow ? numbers[0] : 0.0,
                     narrow ? numbers[1] : 0.0);
  check_finite(one);
  require(narrow || weights_of(one) == before, "averaged with itself it stays as it is");
}

void check(Source& source) {
  const Recipe recipe = make_recipe(source);
  std::unique_ptr<Learner> first, second;
  try {
    first = std::make_unique<Learner>(recipe);
    second = std::make_unique<Learner>(recipe);
  } catch (const std::invalid_argument&) {
    return;  // parts that do not go together
  }
  bool sound = true;
  for (int i = 0; i < 3 && sound && !source.empty(); ++i)
    sound = learn(*first, make_rows(source, *first));
  if (!sound) return;
  restore(*second, *first);
  require(weights_of(*second) == weights_of(*first), "restored weights are the same");
  const Rows next = make_rows(source, *first);
  require(learn(*first, next) == learn(*second, next), "a restored learner goes on alike");
  require(weights_of(*second) == weights_of(*first), "and to the same numbers");
  check_average(*first, *second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  Source source(data, size);
  try {
    check(source);
  } catch (const std::invalid_argument&) {
    // Refused by name, as any caller's mistake.
  }
  return 0;
}

// Any recipe on any stream: weights stay finite or training says that it diverged; what is restored
// goes on to the same numbers; a learner averaged with its like stays as it is.

#include <algorithm>
#include <cstring>

#include "bear/exact.hpp"
#include "learners.hpp"

namespace {

using bear::Learner;
using bear::Recipe;
using namespace bear::testing;

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

// A learner that was given everything another one has.
void restore(Learner& to, Learner& from) {
  const auto raw = from.storage().raw();
  std::memcpy(to.storage().bytes().data(), raw.data(), raw.size());
  to.intercept() = from.intercept();
  to.counters() = from.counters();
  to.guards() = from.guards();
  for (std::size_t g = 0; g < from.selection().groups(); ++g) {
    const bear::TopK& top = from.selection().top(g);
    for (const std::int32_t slot : top.ranked()) {
      bear::TopK& own = to.selection().top(g);
      own.set_level(own.insert(top.key(slot), top.weights(slot), top.name(slot)), top.level(slot));
    }
  }
  to.restore(from.state(true));
}

// Cells and intercepts, byte for byte, and what is selected.
bool same(Learner& a, Learner& b) {
  const auto x = a.storage().raw(), y = b.storage().raw();
  if (!std::equal(x.begin(), x.end(), y.begin(), y.end())) return false;
  if (a.storage().factor() != b.storage().factor()) return false;
  for (std::size_t g = 0; g < a.selection().groups(); ++g) {
    const bear::TopK &p = a.selection().top(g), &q = b.selection().top(g);
    const auto slots = p.ranked(), others = q.ranked();
    const auto equal = [&](std::int32_t i, std::int32_t j) {
      return p.key(i) == q.key(j) && p.norm(i) == q.norm(j);
    };
    if (!std::equal(slots.begin(), slots.end(), others.begin(), others.end(), equal)) return false;
  }
  return a.intercept() == b.intercept() && a.state(true) == b.state(true);
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
void check_average(Learner& one, Learner& twin) {
  std::vector<std::vector<bear::Key>> chosen(one.selection().groups());
  for (std::size_t g = 0; g < chosen.size(); ++g) {
    const bear::TopK& top = one.selection().top(g);
    for (const std::int32_t slot : top.ranked()) chosen[g].push_back(top.key(slot));
  }
  const std::vector<bear::Keys> keys(chosen.begin(), chosen.end());
  bear::Exact mean = bear::take_apart(one, keys);
  const bear::Exact other = bear::take_apart(twin, keys);
  for (std::size_t i = 0; i < mean.cells().size(); ++i) {
    // Not the sum of halves: half of the least numbers there are is rounded.
    mean.cells()[i] += 0.5 * (other.cells()[i] - mean.cells()[i]);
  }
  const auto numbers = one.storage().numbers();
  const bool narrow = one.recipe().precision == bear::Precision::int8;
  const bear::Returned nothing{std::vector<bear::Keys>(keys.size()),
                               std::vector<bear::ConstReals>(keys.size())};
  const auto before = weights_of(one);  // after the lazy scale was applied, which rounds
  bear::put_together(one, mean, nothing, narrow ? numbers[0] : 0.0, narrow ? numbers[1] : 0.0);
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
  require(same(*first, *second), "what is restored is the same");
  const Rows next = make_rows(source, *first);
  require(learn(*first, next) == learn(*second, next), "a restored learner goes on alike");
  require(same(*first, *second), "and to the same numbers");
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

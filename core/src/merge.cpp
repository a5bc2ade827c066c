// Merging two learners of one recipe and seed.
#include <algorithm>

#include "bear/learner.hpp"

namespace bear {

namespace {

struct Item {
  Key key;
  std::string name;
  std::vector<double> weights;
};

// Union of the keys of two selections, in key order, with a name where one is known.
std::vector<Item> union_of(const TopK& mine, const TopK& theirs) {
  std::vector<Item> items;
  for (const TopK* top : {&mine, &theirs}) {
    for (const std::int32_t slot : top->ranked()) {
      items.push_back({top->key(slot), top->name(slot), {}});
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.key < b.key; });
  items.erase(std::unique(items.begin(), items.end(),
                          [](const Item& a, const Item& b) { return a.key == b.key; }),
              items.end());
  return items;
}

double squared_norm(const Item& item) { return dot(item.weights, item.weights); }

}  // namespace

// Everything a model knows of a key is linear in its cells and exact weights, once the keys that
// either side selected are exact on both: so they are taken out of both storages first, averaged,
// and all but the k largest put back.
void Learner::merge(const Learner& other, double mine, double theirs) {
  if (!(recipe_ == other.recipe_)) {
    throw std::invalid_argument("learners must have one recipe to merge");
  }
  Learner rest(other.recipe_);
  rest.storage_->merge(*other.storage_, 0.0, 1.0);

  std::vector<std::vector<Item>> chosen(selection_.groups());
  for (std::size_t g = 0; g < selection_.groups(); ++g) {
    const std::size_t first = selection_.first_class(g), width = selection_.top(g).width();
    chosen[g] = union_of(selection_.top(g), other.selection_.top(g));
    std::vector<double> here(classes_), there(classes_);
    for (Item& item : chosen[g]) {
      const Keys key(&item.key, 1);
      query(key, here);
      const bool exact_there = other.selection_.top(g).find(item.key) >= 0;
      (exact_there ? other : rest).query(key, there);
      for (std::size_t i = 0; i < width; ++i) {
        item.weights.push_back(mine * here[first + i] + theirs * there[first + i]);
      }
      if (selection_.top(g).find(item.key) < 0) {
        storage_->admit(item.key, first, ConstReals(here).subspan(first, width));
      }
      if (!exact_there) {
        rest.storage_->admit(item.key, first, ConstReals(there).subspan(first, width));
      }
    }
  }
  storage_->merge(*rest.storage_, mine, theirs);
  for (std::size_t g = 0; g < selection_.groups(); ++g) {
    TopK& top = selection_.top(g);
    std::stable_sort(chosen[g].begin(), chosen[g].end(), [](const Item& a, const Item& b) {
      return squared_norm(a) > squared_norm(b);
    });
    top.clear();
    for (const Item& item : chosen[g]) {
      if (!top.full()) {
        top.insert(item.key, item.weights, item.name);
      } else {
        storage_->release(item.key, selection_.first_class(g), item.weights);
      }
    }
  }
  for (std::size_t c = 0; c < classes_; ++c) {
    intercept_[c] = mine * intercept_[c] + theirs * other.intercept_[c];
  }
  direction_->reset();
  counters_.examples += other.counters_.examples;
  counters_.batches += other.counters_.batches;
}

}  // namespace bear

#include "bear/parse/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bear/parse/sort.hpp"

namespace bear::parse {

namespace {

// Equal keys are ordered by value, so that their sum is the same whatever order they came in.
constexpr auto before = [](const auto& a, const auto& b) {
  return a.key < b.key || (a.key == b.key && a.value < b.value);
};

}  // namespace

void Row::drop() {
  block_->keys.truncate(first_);
  block_->values.truncate(first_);
  block_->names.truncate(std::min(first_, block_->names.size()));
}

void Row::move_to(Block& other) {
  const std::size_t n = size(), to = other.keys.size();
  other.keys.append(block_->keys.data() + first_, n);
  other.values.append(block_->values.data() + first_, n);
  for (std::size_t i = first_; i < block_->names.size(); ++i) other.names.push(block_->names[i]);
  drop();
  block_ = &other;
  first_ = to;
}

void Row::sort_items() {
  if (items_.size() <= 24 || items_.size() > 16 * sort_buckets) {
    std::sort(items_.begin(), items_.end(), before);
  } else {
    bucket_sort(items_, spare_, 56, [](const Item& item) { return item.key; }, before);
  }
}

Row::Finished Row::put_in_order(Duplicates duplicates) {
  const std::size_t n = size();
  items_.clear();
  Item* item = items_.extend(n);
  const Key* keys = block_->keys.data() + first_;
  const float* values = block_->values.data() + first_;
  for (std::size_t i = 0; i < n; ++i) item[i] = {keys[i], values[i], static_cast<std::uint32_t>(i)};
  sort_items();
  const auto equal = std::adjacent_find(
      items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.key == b.key; });
  if (equal != items_.end()) {
    duplicate_ = equal->key;
    if (duplicates == Duplicates::refuse) return Finished::duplicate;
    if (const Finished merged = merge_equal(duplicates); merged != Finished::yes) return merged;
  }
  const std::size_t left = items_.size();
  block_->keys.truncate(first_ + left);
  block_->values.truncate(first_ + left);
  for (std::size_t i = 0; i < left; ++i) {
    block_->keys[first_ + i] = items_[i].key;
    block_->values[first_ + i] = items_[i].value;
  }
  if (named()) write_names();
  return Finished::yes;
}

Row::Finished Row::merge_equal(Duplicates duplicates) {
  std::size_t kept = 0;
  const std::size_t n = items_.size();
  const Strings& names = block_->names;
  for (std::size_t i = 0; i < n;) {
    Item item = items_[i];
    double sum = item.value;
    for (++i; i < n && items_[i].key == item.key; ++i) {
      sum = duplicates == Duplicates::sum ? sum + items_[i].value : items_[i].value;
      ++duplicates_;
      if (named() && names[first_ + item.place] != names[first_ + items_[i].place]) ++collisions_;
    }
    if (std::abs(sum) > std::numeric_limits<float>::max()) return Finished::out_of_range;
    item.value = static_cast<float>(sum);
    if (item.value != 0) items_[kept++] = item;
  }
  items_.truncate(kept);
  return Finished::yes;
}

// Names follow their entries: the row's names are set aside and written again in the new order.
void Row::write_names() {
  Strings& names = block_->names;
  const std::uint64_t start = names_start();
  const std::uint64_t* offsets = names.offsets.data() + first_;
  old_names_.data.clear();
  old_names_.offsets.clear();
  old_names_.data.append(names.data.data() + start, names.data.size() - start);
  old_names_.offsets.append(offsets, names.offsets.size() - first_);
  names.truncate(first_);
  for (const Item& item : items_) {
    const std::uint64_t from = old_names_.offsets[item.place];
    names.push({old_names_.data.data() + (from - start),
                static_cast<std::size_t>(old_names_.offsets[item.place + 1] - from)});
  }
}

}  // namespace bear::parse

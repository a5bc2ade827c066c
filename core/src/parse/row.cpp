#include "bear/parse/row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bear/sort.hpp"

namespace bear::parse {

namespace {

// Equal keys are ordered by value, so that their sum is the same whatever order they came in.
constexpr auto before = [](const auto& a, const auto& b) {
  return a.key < b.key || (a.key == b.key && a.value < b.value);
};

}  // namespace

void Row::clear_items() {
  items_.clear();
  given_.clear();
  hashed_.clear();
  once_.clear();
  text_.clear();
  ends_.clear();
  ends_.push(0);
}

void Row::drop() {
  clear_items();
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

Row::Pen Row::pen(std::size_t most, std::size_t bytes) {
  Pen pen;
  const std::size_t used = given_.size();
  if (space_.size() > copy_slack || used >= max_features_) return pen;
  pen.most = std::min(most, max_features_ - used);
  pen.text_ = text_.room(bytes + (pen.most * space_.size()) + (2 * copy_slack));
  pen.start_ = text_.data();
  pen.space_size_ = space_.size();
  copy_short(pen.space_, space_.data(), space_.size(), space_.capacity());
  pen.value_ = given_.room(pen.most + 1);
  pen.end_ = ends_.room(pen.most + 1);
  return pen;
}

void Row::put_away(const Pen& pen) {
  if (pen.most == 0) return;
  const auto n = static_cast<std::size_t>(pen.value_ - given_.end());
  given_.add_written(n);
  ends_.add_written(n);
  text_.add_written(static_cast<std::size_t>(pen.text_ - text_.end()));
  ascending_ = ascending_ && n == 0;
}

// Ids that came out of order leave the block, to be sorted as named features are.
void Row::take_ids() {
  take_sorted(block_->keys.data() + first_, block_->values.data() + first_, size());
  block_->keys.truncate(first_);
  block_->values.truncate(first_);
}

// All names of a row are hashed together: their hashes do not wait for one another, and the loop
// that reads the line stays short.
void Row::take_names() {
  const std::size_t n = given_.size(), known = hashed_.size();
  Key* const keys = hashed_.extend(n - known) - known;
  hash_(text_.data(), ends_.data() + known, n - known, keys + known);
  take_sorted(keys, given_.data(), n);
}

void Row::take_sorted(const Key* keys, const float* values, std::size_t n) {
  const auto item = [&](std::size_t i) {
    return Item{keys[i], values[i], static_cast<std::uint32_t>(i)};
  };
  bucket_sort<Item>(n, items_.extend(n), 64, [&](std::size_t i) { return keys[i]; }, item, before);
}

Row::Finished Row::put_in_order(Duplicates duplicates) {
  if (given_.empty()) {
    take_ids();
  } else {
    take_names();
  }
  const auto equal = std::adjacent_find(
      items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.key == b.key; });
  if (equal != items_.end()) {
    duplicate_ = equal->key;
    if (duplicates == Duplicates::refuse) return Finished::duplicate;
    if (const Finished merged = merge_equal(); merged != Finished::yes) return merged;
  }
  write_items();
  return Finished::yes;
}

bool Row::counts_once(const Item& item) const {
  const auto after = std::upper_bound(once_.begin(), once_.end(), item.place);
  return (after - once_.begin()) % 2 == 1;
}

Row::Finished Row::merge_equal() {
  std::size_t kept = 0;
  const std::size_t n = items_.size();
  const bool named = !given_.empty();
  for (std::size_t i = 0; i < n;) {
    Item item = items_[i];
    double sum = 0.0, once = 0.0;
    for (const std::size_t first = i; i < n && items_[i].key == item.key; ++i) {
      if (counts_once(items_[i])) {
        once = items_[i].value;
      } else {
        sum += items_[i].value;
      }
      duplicates_ += i > first;
      if (named && name(item) != name(items_[i])) ++collisions_;
    }
    sum += once;
    if (std::abs(sum) > std::numeric_limits<float>::max()) return Finished::out_of_range;
    item.value = static_cast<float>(sum);
    if (item.value != 0) items_[kept++] = item;
  }
  items_.truncate(kept);
  return Finished::yes;
}

void Row::write_items() {
  const std::size_t n = items_.size();
  Key* keys = block_->keys.extend(n);
  float* values = block_->values.extend(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = items_[i].key;
    values[i] = items_[i].value;
  }
  if (names_ && !given_.empty()) write_names();
}

void Row::write_names() {
  Strings& names = block_->names;
  char* const start = names.data.room(text_.size() + copy_slack);
  const std::size_t named = names.data.size();
  std::uint64_t* offset = names.offsets.extend(items_.size());
  const char* end = text_.data() + text_.size() + copy_slack;
  char* to = start;
  for (const Item& item : items_) {
    const std::string_view text = name(item);
    copy_short(to, text.data(), text.size(), static_cast<std::size_t>(end - text.data()));
    to += text.size();
    *offset++ = named + static_cast<std::size_t>(to - start);
  }
  names.data.add_written(static_cast<std::size_t>(to - start));
}

}  // namespace bear::parse

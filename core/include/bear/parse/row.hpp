// The row being read, written at the end of a block's arrays: entries go in as they come, and
// finish() brings them into order.
#pragma once

#include <cstdint>
#include <string_view>

#include "bear/key.hpp"
#include "bear/parse/block.hpp"
#include "bear/parse/options.hpp"

namespace bear::parse {

class Row {
 public:
  enum class Added { yes, too_many };
  enum class Finished { yes, duplicate, out_of_range };

  explicit Row(const Options& options)
      : hash_(options.seed), max_features_(options.max_features), names_(options.names) {}

  // Starts a row after the complete rows of the block.
  void start(Block& block) {
    block_ = &block;
    first_ = block.keys.size();
    ascending_ = true;
    duplicates_ = collisions_ = 0;
  }

  // A feature whose key is its name. A value of 0 means that the feature is absent.
  Added add(Key key, float value) {
    if (value == 0) return Added::yes;
    Buffer<Key>& keys = block_->keys;
    const std::size_t n = keys.size();
    if (n - first_ >= max_features_) return Added::too_many;
    ascending_ = ascending_ && (n == first_ || keys[n - 1] < key);
    keys.push(key);
    block_->values.push(value);
    return Added::yes;
  }

  // A feature whose key is the hash of its name.
  Added add(std::string_view name, float value) {
    if (value == 0) return Added::yes;
    if (names_ && block_->names.data.size() - names_start() > max_row_name_bytes)
      return Added::too_many;
    const Added added = add(hash_(name), value);
    if (added == Added::yes && names_) block_->names.push(name);
    return added;
  }

  // Sorts the entries by key unless they are sorted, and merges or refuses equal ones. A sum of 0
  // leaves the row. The result does not depend on the order the entries came in.
  Finished finish(Duplicates duplicates) {
    return ascending_ ? Finished::yes : put_in_order(duplicates);
  }

  // Forgets the row.
  void drop();
  // Moves the row to the end of another block.
  void move_to(Block& other);

  std::size_t size() const { return block_->keys.size() - first_; }
  // After finish() found a duplicate: its key.
  Key duplicate() const { return duplicate_; }
  // After finish() added some up: how many entries, and how many of these had another name.
  std::uint64_t duplicates() const { return duplicates_; }
  std::uint64_t collisions() const { return collisions_; }

  // Names of one row must have 32-bit offsets and fit in memory, however long they are.
  static constexpr std::size_t max_row_name_bytes = std::size_t{1} << 30;

 private:
  struct Item {
    Key key;
    float value;
    std::uint32_t place;
  };

  bool named() const { return block_->names.size() > first_; }
  std::size_t names_start() const { return block_->names.offsets[first_]; }
  void sort_items();
  Finished put_in_order(Duplicates duplicates);
  Finished merge_equal(Duplicates duplicates);
  void write_names();

  NameHash hash_;
  std::size_t max_features_;
  bool names_;
  Block* block_ = nullptr;
  std::size_t first_ = 0;
  bool ascending_ = true;
  Key duplicate_ = 0;
  std::uint64_t duplicates_ = 0, collisions_ = 0;
  Buffer<Item> items_, spare_;
  Strings old_names_;
};

}  // namespace bear::parse

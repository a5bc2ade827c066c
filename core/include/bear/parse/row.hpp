// The row being read. Ids, which mostly come in order, are written to the end of a block's arrays
// and put in order there if need be; named features wait here until finish() sorts them by key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
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
    clear_items();
    if (space_.size() > 0) use_space({});
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

  // Names of the features that follow begin with `text`, up to the next call or row.
  void use_space(std::string_view text) {
    space_.clear();
    space_.append(text.data(), text.size());
    space_.reserve(copy_slack);
  }
  std::size_t space_size() const { return space_.size(); }

  // Where named features are written one after another without a check of each: up to `most` of
  // them, whose names have `bytes` bytes together without their space. Only where the space is
  // short; `most` is 0 otherwise.
  class Pen {
   public:
    std::size_t most = 0;

    // Of the memory at `name`, copy_slack bytes and `size` bytes can be read. A feature without a
    // name or a value is left out.
    void add(const char* name, std::size_t size, float value) {
      std::memcpy(text_, space_, copy_slack);
      char* const to = text_ + space_size_;
      std::memcpy(to, name, copy_slack);
      if (size > copy_slack) [[unlikely]]
        std::memcpy(to, name, size);
      if (size == 0 || value == 0) [[unlikely]]
        return;
      text_ = to + size;
      *value_++ = value;
      *end_++ = static_cast<std::uint32_t>(text_ - start_);
    }

   private:
    friend Row;
    const char* start_;
    char* text_;
    char space_[copy_slack];
    std::size_t space_size_;
    float* value_;
    std::uint32_t* end_;
  };
  Pen pen(std::size_t most, std::size_t bytes);
  void put_away(const Pen& pen);

  // A feature whose key is the hash of its name, which is the space and `name` joined; of the
  // memory at `name`, `readable` bytes can be read. A row has named features only, or none.
  Added add(std::string_view name, std::size_t readable, float value) {
    if (value == 0) return Added::yes;
    if (given_.size() >= max_features_ || text_.size() > max_row_name_bytes) return Added::too_many;
    const std::size_t space = space_.size();
    char* text = text_.room(space + name.size() + copy_slack);
    copy_short(text, space_.data(), space, space_.capacity());
    copy_short(text + space, name.data(), name.size(), readable);
    add_written(space + name.size(), value);
    return Added::yes;
  }

  // Whether named features from here on count once, however often they come.
  void count_once(bool once) {
    if (once == (once_.size() % 2 == 0)) once_.push(static_cast<std::uint32_t>(given_.size()));
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

  friend struct RowProbe;  // of the tests: no two names with one key are known

  // A feature whose name stands in the room of text_.
  void add_written(std::size_t size, float value) {
    given_.push(value);
    ascending_ = false;
    text_.add_written(size);
    ends_.push(static_cast<std::uint32_t>(text_.size()));
  }
  bool counts_once(const Item& item) const;
  void clear_items();
  void take_names();
  void take_ids();
  void take_sorted(const Key* keys, const float* values, std::size_t n);
  Finished put_in_order(Duplicates duplicates);
  Finished merge_equal();
  void write_items();
  void write_names();
  std::string_view name(const Item& item) const {
    const std::uint32_t from = ends_[item.place];
    return {text_.data() + from, ends_[item.place + 1] - from};
  }

  NameHash hash_;
  Buffer<char> space_;
  std::size_t max_features_;
  bool names_;
  Block* block_ = nullptr;
  std::size_t first_ = 0;
  bool ascending_ = true;
  Key duplicate_ = 0;
  std::uint64_t duplicates_ = 0, collisions_ = 0;
  Buffer<Item> items_;
  // Values of named features in the order they came, their names end to end with copy_slack after
  // the last, and the keys of those that are hashed.
  Buffer<float> given_;
  Buffer<char> text_;
  Buffer<std::uint32_t> ends_;
  Buffer<Key> hashed_;
  Buffer<std::uint32_t> once_;  // numbers of features at which they begin to count once, or end to
};

}  // namespace bear::parse

// Rows of named values, handed over column by column, turned into CSR arrays with ascending keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bear/key.hpp"

namespace bear::parse {

// A value that cannot be used: its row is left out. `column` counts the table's columns from 0.
struct RowError {
  std::size_t row;
  std::size_t column;
  const char* code;
  std::string message;
  std::string excerpt;
};

// What RowBuilder makes. `kept` names the rows that have no error, in order; every other array
// speaks of those rows only. The name arrays stay empty unless names are kept.
struct Rows {
  std::vector<std::size_t> kept;
  std::vector<std::int64_t> indptr;
  std::vector<Key> keys;
  std::vector<float> values;
  std::vector<char> name_data;
  std::vector<std::uint64_t> name_offsets;
  std::vector<RowError> errors;  // the first of each bad row, by row
};

// Collects entries in any order. Values of one feature in one row add up; zeros are dropped.
class RowBuilder {
 public:
  RowBuilder(std::size_t n_rows, std::uint64_t seed, bool keep_names, std::size_t max_name_bytes,
             std::size_t max_features);

  // A feature whose name is two parts joined, such as "city=" and "paris".
  void add(std::size_t row, std::size_t column, std::string_view prefix, std::string_view name,
           double value);
  // One feature for many rows: name it once, then add its values.
  void use_name(std::string_view name);
  void add_used(std::size_t row, std::size_t column, double value);
  void fail(RowError error);
  Rows finish();

 private:
  struct Entry {
    Key key;
    std::uint64_t name_at;
    std::uint32_t name_size;
    std::uint32_t row;
    float value;
  };

  void push(std::size_t row, std::size_t column, double value);
  void group_by_row();
  void finish_row(std::size_t row, Entry* first, Entry* last, Rows& out);

  NameHash hash_;
  bool keep_names_;
  std::size_t n_rows_;
  std::size_t max_name_bytes_;
  std::size_t max_features_;
  Key used_key_ = 0;
  std::uint64_t used_at_ = 0;
  std::uint32_t used_size_ = 0;
  std::vector<char> names_;
  std::vector<Entry> entries_;
  std::vector<Entry> grouped_;
  std::vector<std::size_t> starts_;
  std::vector<RowError> errors_;
  std::vector<std::size_t> error_of_row_;  // index into errors_ plus one, 0 = none
};

}  // namespace bear::parse

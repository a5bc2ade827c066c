// Tables in Arrow's C data interface: their columns as features, without a copy and without a
// library. The structs are those of the published interface, whose layout is fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bear/parse/table.hpp"

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace bear::parse {

// What a column holds, as far as features go.
enum class ColumnShape { number, text, items, named_values, nothing, unsupported, time };

ColumnShape column_shape(const ArrowSchema& schema);

// One column, or one child of it; positions count from 0 whatever the array's offset.
class ArrowColumn {
 public:
  ArrowColumn(const ArrowSchema& schema, const ArrowArray& array)
      : schema_(&schema), array_(&array) {}

  bool valid(std::int64_t i) const;
  // Of a date or a timestamp.
  Moment moment(std::int64_t i) const;
  bool is_time() const;
  NumberKind number(std::int64_t i, double& value) const;
  // Text of a scalar; numbers in their shortest form. `scratch` holds what must be printed.
  std::string_view text(std::int64_t i, std::string& scratch) const;
  bool is_text() const;
  bool is_utf8_text() const;
  // Items of a list or map: positions begin to end of child(0).
  void items(std::int64_t i, std::int64_t& begin, std::int64_t& end) const;
  ArrowColumn child(std::int64_t i) const { return {*schema_->children[i], *array_->children[i]}; }
  std::int64_t shift() const { return array_->offset; }

 private:
  std::int64_t integer(std::int64_t i) const;
  double real(std::int64_t i) const;
  std::string_view bytes(std::int64_t i) const;
  template <class T>
  const T* buffer(int i) const {
    return static_cast<const T*>(array_->buffers[i]);
  }
  // Buffers that came through a message need not begin at a multiple of their type's size.
  template <class T>
  T load(std::size_t at) const {
    T value;
    std::memcpy(&value, buffer<char>(1) + at * sizeof(T), sizeof(T));
    return value;
  }

  const ArrowSchema* schema_;
  const ArrowArray* array_;
};

// A record batch. The caller keeps schema and array alive.
class ArrowTable : public Table {
 public:
  ArrowTable(const ArrowSchema& schema, const ArrowArray& array);

  std::size_t n_rows() const override { return static_cast<std::size_t>(array_->length); }
  std::size_t n_columns() const { return static_cast<std::size_t>(schema_->n_children); }
  NumberKind number(std::size_t row, std::size_t column, double& value) const override;
  bool text(std::size_t row, std::size_t column, std::string& out) const override;
  NumberKind moment(std::size_t row, std::size_t column, Moment& out) const override;
  void add_column(const ColumnUse& use, std::size_t first, std::size_t last,
                  RowBuilder& out) const override;

 private:
  ArrowColumn column(std::size_t i) const;
  bool row_valid(std::size_t row) const { return ArrowColumn(*schema_, *array_).valid(at(row)); }
  static std::int64_t at(std::size_t row) { return static_cast<std::int64_t>(row); }

  const ArrowSchema* schema_;
  const ArrowArray* array_;
};

}  // namespace bear::parse

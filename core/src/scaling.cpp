#include "bear/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bear {

namespace {

[[noreturn]] void refuse(const char* message) { throw std::invalid_argument(message); }

void check_columns(const Columns& columns) {
  const std::size_t n = columns.keys.size();
  if (columns.means.size() != n || columns.sizes.size() != n || columns.missing.size() != n ||
      columns.name_offsets.size() != n + 1) {
    refuse("columns must have a key, a mean, a size and a name each");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && columns.keys[i] <= columns.keys[i - 1]) refuse("keys of columns must rise");
    if (!std::isfinite(columns.means[i]) || !std::isfinite(columns.sizes[i]) ||
        !(columns.sizes[i] > 0.0)) {
      refuse("columns must have finite means and sizes above 0");
    }
    if (columns.name_offsets[i + 1] < columns.name_offsets[i]) refuse("names of columns must rise");
  }
  if (columns.name_offsets[n] > columns.name_data.size()) refuse("names of columns must fit");
}

// Takes the entries of a row and of the columns in the order of their keys.
class Writer {
 public:
  Writer(const BatchView& batch, const Columns& columns, double most)
      : batch_(batch),
        columns_(columns),
        most_(std::min<double>(most, std::numeric_limits<float>::max())),
        named_(batch.named()) {
    const std::size_t entries = batch.last_entry() - batch.first_entry();
    out_.indptr.reserve(batch.n_rows() + 1);
    out_.indptr.push_back(0);
    out_.keys.reserve(entries);
    out_.values.reserve(entries);
    if (named_) out_.name_offsets.push_back(0);
  }

  void row(std::size_t number) {
    auto entry = static_cast<std::size_t>(batch_.indptr[number]);
    const auto last = static_cast<std::size_t>(batch_.indptr[number + 1]);
    std::size_t column = 0;
    while (entry < last || column < columns_.keys.size()) {
      const bool past = column == columns_.keys.size();
      const bool absent = entry == last || (!past && columns_.keys[column] < batch_.keys[entry]);
      if (absent) {
        absent_column(column++);
      } else if (!past && columns_.keys[column] == batch_.keys[entry]) {
        write(batch_.keys[entry], scaled(column++, batch_.values[entry]), batch_name(entry));
        ++entry;
      } else {
        write(batch_.keys[entry], batch_.values[entry], batch_name(entry));
        ++entry;
      }
    }
    out_.indptr.push_back(static_cast<std::int64_t>(out_.keys.size()));
  }

  ScaledRows take() { return std::move(out_); }

 private:
  float scaled(std::size_t column, double value) const {
    const double moved = (value - columns_.means[column]) / columns_.sizes[column];
    return static_cast<float>(std::clamp(moved, -most_, most_));
  }

  std::string_view batch_name(std::size_t entry) const {
    return named_ ? batch_.name(entry) : std::string_view();
  }

  void absent_column(std::size_t column) {
    if (columns_.means[column] == 0.0 || columns_.missing[column] != 0) return;
    write(columns_.keys[column], scaled(column, 0.0), columns_.name(column));
  }

  // A value of 0 says the same as one that is not there, and must not be selected.
  template <class Name>
  void write(Key key, float value, const Name& name) {
    if (value == 0.0F) return;
    out_.keys.push_back(key);
    out_.values.push_back(value);
    if (!named_) return;
    out_.name_data.insert(out_.name_data.end(), name.begin(), name.end());
    out_.name_offsets.push_back(out_.name_data.size());
  }

  const BatchView& batch_;
  const Columns& columns_;
  const double most_;
  const bool named_;
  ScaledRows out_;
};

}  // namespace

ScaledRows scale_rows(const BatchView& batch, const Columns& columns, double most) {
  check_bounds(batch);
  check_columns(columns);
  if (!(most > 0.0)) refuse("values must have room above 0");
  Writer writer(batch, columns, most);
  for (std::size_t row = 0; row < batch.n_rows(); ++row) writer.row(row);
  return writer.take();
}

}  // namespace bear

#include "bear/parse/arrow.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace bear::parse {
namespace {

bool is_any_of(std::string_view format, std::string_view letters) {
  return format.size() == 1 && letters.find(format[0]) != std::string_view::npos;
}

constexpr std::string_view kIntegers = "cCsSiIlLb";
constexpr std::string_view kReals = "efg";

bool is_text_format(std::string_view format) {
  return is_any_of(format, "uUzZ") || format == "vu" || format == "vz";
}

bool is_number_format(std::string_view format) {
  return is_any_of(format, kIntegers) || is_any_of(format, kReals);
}

// Dates, and timestamps of any unit and zone.
bool is_time_format(std::string_view format) {
  return format == "tdD" || format == "tdm" || format.substr(0, 2) == "ts";
}

bool is_list(std::string_view format) {
  return format == "+l" || format == "+L" || format.substr(0, 3) == "+w:";
}

const ArrowSchema& value_schema(const ArrowSchema& schema) {
  return schema.dictionary != nullptr ? *schema.dictionary : schema;
}

bool is_pair(const ArrowSchema& schema) {
  if (std::string_view(schema.format) != "+s" || schema.n_children != 2) return false;
  const std::string_view name = value_schema(*schema.children[0]).format;
  return (is_text_format(name) || is_any_of(name, kIntegers)) &&
         is_number_format(value_schema(*schema.children[1]).format);
}

double half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = static_cast<double>(bits & 0x3ff);
  double value = 0.0;
  if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else if (exponent < 31)
    value = std::ldexp(fraction + 1024.0, exponent - 25);
  else
    value = fraction == 0.0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

// Whether bytes are UTF-8: no stray or missing continuation, no overlong form, no surrogate.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || i + size > text.size()) return false;
    for (std::size_t j = 1; j < size; ++j)
      if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
    const auto next = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
        (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f))
      return false;
    i += size;
  }
  return true;
}

}  // namespace

ColumnShape column_shape(const ArrowSchema& schema) {
  const std::string_view format = value_schema(schema).format;
  if (is_number_format(format)) return ColumnShape::number;
  if (is_text_format(format)) return ColumnShape::text;
  if (format == "n") return ColumnShape::nothing;
  if (is_time_format(format)) return ColumnShape::time;
  if (format == "+m" && is_pair(*schema.children[0])) return ColumnShape::named_values;
  if (!is_list(format)) return ColumnShape::unsupported;
  const ArrowSchema& item = *schema.children[0];
  if (is_pair(item)) return ColumnShape::named_values;
  const std::string_view kind = value_schema(item).format;
  return is_text_format(kind) || is_any_of(kind, kIntegers) ? ColumnShape::items
                                                            : ColumnShape::unsupported;
}

bool ArrowColumn::valid(std::int64_t i) const {
  if (std::string_view(schema_->format) == "n") return false;
  if (array_->n_buffers == 0 || array_->buffers[0] == nullptr) {
    if (schema_->dictionary == nullptr) return true;
  } else {
    const std::int64_t at = i + array_->offset;
    if (((buffer<std::uint8_t>(0)[at / 8] >> (at % 8)) & 1) == 0) return false;
    if (schema_->dictionary == nullptr) return true;
  }
  return ArrowColumn(*schema_->dictionary, *array_->dictionary).valid(integer(i));
}

std::int64_t ArrowColumn::integer(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i + array_->offset);
  switch (schema_->format[0]) {
    case 'b':
      return (buffer<std::uint8_t>(1)[at / 8] >> (at % 8)) & 1;
    case 'c':
      return buffer<std::int8_t>(1)[at];
    case 'C':
      return buffer<std::uint8_t>(1)[at];
    case 's':
      return load<std::int16_t>(at);
    case 'S':
      return load<std::uint16_t>(at);
    case 'i':
      return load<std::int32_t>(at);
    case 'I':
      return load<std::uint32_t>(at);
    default:
      return load<std::int64_t>(at);
  }
}

double ArrowColumn::real(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i + array_->offset);
  switch (schema_->format[0]) {
    case 'e':
      return half(load<std::uint16_t>(at));
    case 'f':
      return static_cast<double>(load<float>(at));
    case 'g':
      return load<double>(at);
    case 'L':
      return static_cast<double>(load<std::uint64_t>(at));
    default:
      return static_cast<double>(integer(i));
  }
}

std::string_view ArrowColumn::bytes(std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i + array_->offset);
  const char kind = schema_->format[0];
  if (kind == 'v') {  // 16 bytes: size, then the text itself or a buffer's number and an offset
    const char* view = buffer<char>(1) + at * 16;
    std::array<std::int32_t, 4> word{};
    std::memcpy(word.data(), view, 16);
    const auto size = static_cast<std::size_t>(word[0]);
    if (size <= 12) return {view + 4, size};
    return {buffer<char>(2 + word[2]) + word[3], size};
  }
  const bool large = kind == 'U' || kind == 'Z';
  const std::int64_t from = large ? load<std::int64_t>(at) : load<std::int32_t>(at);
  const std::int64_t to = large ? load<std::int64_t>(at + 1) : load<std::int32_t>(at + 1);
  return to == from ? std::string_view()
                    : std::string_view(buffer<char>(2) + from, static_cast<std::size_t>(to - from));
}

bool ArrowColumn::is_time() const { return is_time_format(value_schema(*schema_).format); }

Moment ArrowColumn::moment(std::int64_t i) const {
  if (schema_->dictionary != nullptr)
    return ArrowColumn(*schema_->dictionary, *array_->dictionary).moment(integer(i));
  const std::string_view format = schema_->format;
  const auto at = static_cast<std::size_t>(i + array_->offset);
  if (format == "tdD") return moment_of(std::int64_t{load<std::int32_t>(at)} * 86400, false);
  std::int64_t unit = 1;
  if (format == "tdm" || format[2] == 'm') unit = 1000;
  if (format[2] == 'u') unit = 1000000;
  if (format[2] == 'n') unit = 1000000000;
  const auto value = load<std::int64_t>(at);
  const std::int64_t seconds = value / unit - (value % unit < 0 ? 1 : 0);
  return moment_of(seconds, format[1] == 's');
}

bool ArrowColumn::is_text() const { return is_text_format(value_schema(*schema_).format); }

bool ArrowColumn::is_utf8_text() const {
  const std::string_view format = value_schema(*schema_).format;
  return format == "u" || format == "U" || format == "vu";
}

NumberKind ArrowColumn::number(std::int64_t i, double& value) const {
  if (!valid(i)) return NumberKind::absent;
  if (schema_->dictionary != nullptr)
    return ArrowColumn(*schema_->dictionary, *array_->dictionary).number(integer(i), value);
  if (is_text()) return cell_number(bytes(i), value);
  if (is_time()) {  // as days since 1970
    value = static_cast<double>(moment(i).seconds) / 86400.0;
    return NumberKind::number;
  }
  value = real(i);
  return std::isfinite(value) ? NumberKind::number : NumberKind::not_finite;
}

std::string_view ArrowColumn::text(std::int64_t i, std::string& scratch) const {
  if (schema_->dictionary != nullptr)
    return ArrowColumn(*schema_->dictionary, *array_->dictionary).text(integer(i), scratch);
  if (is_text()) return bytes(i);
  const std::string_view format = schema_->format;
  if (is_time()) {
    scratch = moment_text(moment(i));
    return scratch;
  }
  if (format == "b") return integer(i) != 0 ? "true" : "false";
  std::array<char, 32> digits{};
  std::to_chars_result end{};
  char* last = digits.data() + digits.size();
  if (format == "L")
    end = std::to_chars(digits.data(), last, static_cast<std::uint64_t>(integer(i)));
  else if (format == "f")
    end = std::to_chars(digits.data(), last, static_cast<float>(real(i)));
  else if (is_any_of(format, kReals))
    end = std::to_chars(digits.data(), last, real(i));
  else
    end = std::to_chars(digits.data(), last, integer(i));
  scratch.assign(digits.data(), end.ptr);
  return scratch;
}

void ArrowColumn::items(std::int64_t i, std::int64_t& begin, std::int64_t& end) const {
  const std::string_view format = schema_->format;
  const auto at = static_cast<std::size_t>(i + array_->offset);
  if (format[1] == 'w') {
    std::int64_t size = 0;
    std::from_chars(format.data() + 3, format.data() + format.size(), size);
    begin = (i + array_->offset) * size;
    end = begin + size;
  } else if (format == "+L") {
    begin = load<std::int64_t>(at);
    end = load<std::int64_t>(at + 1);
  } else {
    begin = load<std::int32_t>(at);
    end = load<std::int32_t>(at + 1);
  }
}

ArrowTable::ArrowTable(const ArrowSchema& schema, const ArrowArray& array)
    : schema_(&schema), array_(&array) {
  if (std::string_view(schema.format) != "+s" || schema.n_children != array.n_children)
    throw std::invalid_argument("a stream of record batches is needed, not of single arrays");
}

ArrowColumn ArrowTable::column(std::size_t i) const {
  return {*schema_->children[i], *array_->children[i]};
}

NumberKind ArrowTable::number(std::size_t row, std::size_t i, double& value) const {
  if (!row_valid(row)) return NumberKind::absent;
  return column(i).number(at(row) + array_->offset, value);
}

bool ArrowTable::text(std::size_t row, std::size_t i, std::string& out) const {
  const ArrowColumn got = column(i);
  const std::int64_t place = at(row) + array_->offset;
  if (!row_valid(row) || !got.valid(place)) return false;
  std::string scratch;
  out = got.text(place, scratch);
  return !out.empty();
}

NumberKind ArrowTable::moment(std::size_t row, std::size_t i, Moment& out) const {
  const ArrowColumn got = column(i);
  if (!got.is_time()) return Table::moment(row, i, out);
  const std::int64_t place = at(row) + array_->offset;
  if (!row_valid(row) || !got.valid(place)) return NumberKind::absent;
  out = got.moment(place);
  return NumberKind::number;
}

namespace {

// Adds what one cell of one column holds.
class CellAdder {
 public:
  CellAdder(const ArrowColumn& column, const ColumnUse& use, ColumnShape shape, RowBuilder& out)
      : column_(column),
        use_(use),
        shape_(shape),
        out_(out),
        prefix_(use.name + "="),
        pair_prefix_(use.name + "^") {}

  void add(std::size_t row, std::int64_t at) {
    if (!column_.valid(at)) return;
    if (shape_ == ColumnShape::items || shape_ == ColumnShape::named_values)
      add_items(row, at);
    else if (use_.categorical)
      add_name(row, column_, at, prefix_, 1.0);
    else
      add_number(row, at);
  }

 private:
  void add_number(std::size_t row, std::int64_t at) {
    double value = 0.0;
    const NumberKind kind = column_.number(at, value);
    if (has_value(kind))
      out_.add_used(row, use_.column, value);
    else if (kind != NumberKind::absent)
      fail(kind, row, column_, at);
  }

  void add_name(std::size_t row, const ArrowColumn& names, std::int64_t at, std::string_view prefix,
                double value) {
    const std::string_view name = names.text(at, scratch_);
    if (names.is_utf8_text() && !is_utf8(name)) {
      out_.fail({row, use_.column, "TAB-UTF8",
                 "text that is not UTF-8 in column '" + use_.name + "'",
                 std::string(name.substr(0, 40))});
      return;
    }
    if (!name.empty()) out_.add(row, use_.column, prefix, name, value);
  }

  void add_items(std::size_t row, std::int64_t at) {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    column_.items(at, begin, end);
    const ArrowColumn item = column_.child(0);
    for (std::int64_t i = begin; i < end; ++i) {
      if (!item.valid(i)) continue;
      if (shape_ == ColumnShape::items)
        add_name(row, item, i, prefix_, 1.0);
      else
        add_pair(row, item, i + item.shift());
    }
  }

  void add_pair(std::size_t row, const ArrowColumn& pair, std::int64_t at) {
    const ArrowColumn names = pair.child(0);
    const ArrowColumn values = pair.child(1);
    if (!names.valid(at) || !values.valid(at)) return;
    double value = 0.0;
    const NumberKind kind = values.number(at, value);
    if (has_value(kind))
      add_name(row, names, at, pair_prefix_, value);
    else if (kind != NumberKind::absent)
      fail(kind, row, values, at);
  }

  void fail(NumberKind kind, std::size_t row, const ArrowColumn& column, std::int64_t at) {
    const std::string shown(column.text(at, scratch_));
    out_.fail(number_error(kind, row, use_, shown));
  }

  const ArrowColumn& column_;
  const ColumnUse& use_;
  ColumnShape shape_;
  RowBuilder& out_;
  std::string prefix_, pair_prefix_;
  std::string scratch_;
};

}  // namespace

void ArrowTable::add_column(const ColumnUse& use, std::size_t first, std::size_t last,
                            RowBuilder& out) const {
  const ArrowColumn got = column(use.column);
  const ColumnShape shape = column_shape(*schema_->children[use.column]);
  if (shape == ColumnShape::nothing) return;
  if (shape == ColumnShape::unsupported) throw std::invalid_argument("unsupported column type");
  CellAdder adder(got, use, shape, out);
  out.use_name(use.name);
  for (std::size_t row = first; row < last; ++row)
    if (row_valid(row)) adder.add(row - first, at(row) + array_->offset);
}

}  // namespace bear::parse

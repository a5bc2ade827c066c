#include "bear/parse/csv.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bear::parse {
namespace {

constexpr std::size_t kMaxColumns = std::size_t{1} << 20;
constexpr std::size_t kExcerptBytes = 40;

std::string counted(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

CsvTable::CsvTable(char delimiter, std::size_t max_record_bytes, char decimal)
    : delimiter_(delimiter), max_record_bytes_(max_record_bytes), decimal_(decimal) {
  if (decimal != '.' && decimal != ',') throw std::invalid_argument("decimal must be . or ,");
}

void CsvTable::feed(std::string_view chunk, bool final) {
  byte_base_ += static_cast<std::int64_t>(at_);
  chunk_.erase(0, at_);
  at_ = 0;
  chunk_.append(chunk);
  final_ = final;
}

bool CsvTable::settle_bom() {
  if (bom_settled_) return true;
  if (chunk_.size() < 3 && !final_) return false;
  bom_settled_ = true;
  had_bom_ = chunk_.compare(0, 3, "\xef\xbb\xbf") == 0;
  if (had_bom_) at_ = 3;
  line_start_byte_ = byte();
  return true;
}

bool CsvTable::read(std::size_t max_rows, std::size_t max_bytes) {
  if (!settle_bom()) return false;
  while (true) {
    if (state_ == State::start) {
      if (n_rows() >= max_rows) return true;
      const auto taken = records_.empty() ? 0 : byte() - records_.front().start_byte;
      if (static_cast<std::size_t>(taken) >= max_bytes) return true;
    }
    if (at_ == chunk_.size()) break;
    take_run();
    if (at_ < chunk_.size()) step(chunk_[at_]);
  }
  if (!final_) return false;
  end_of_input();
  return true;
}

// Bytes that mean nothing special are copied in one piece.
void CsvTable::take_run() {
  if (state_ == State::discard) {
    at_ = std::min(chunk_.find('\n', at_), chunk_.size());
    return;
  }
  if (state_ != State::plain && state_ != State::quoted) return;
  const bool quoted = state_ == State::quoted;
  std::size_t end = at_;
  for (; end < chunk_.size(); ++end) {
    const char c = chunk_[end];
    if (c == '\n' || c == '\0' || (quoted ? c == '"' : c == delimiter_ || c == '\r')) break;
  }
  const auto size = static_cast<std::size_t>(byte() - now_.start_byte) + (end - at_);
  if (size > max_record_bytes_) {
    broken("COM-LINE-LONG",
           "a line is longer than the limit of " + std::to_string(max_record_bytes_) + " bytes");
    blame_start();
    return;
  }
  bytes_.insert(bytes_.end(), chunk_.begin() + static_cast<std::ptrdiff_t>(at_),
                chunk_.begin() + static_cast<std::ptrdiff_t>(end));
  at_ = end;
}

void CsvTable::begin_record() {
  now_ = {cell_ends_.size(), cell_ends_.size(), bytes_.size(), line_ + 1, 0, byte(), 0};
  cell_column_ = 1;
  state_ = State::cell_start;
}

// One byte that decides something; consumes it.
void CsvTable::step(char c) {
  if (state_ == State::start && c != '\n' && c != '\r') begin_record();
  if (c == '\0' && state_ != State::discard) {
    broken("COM-NUL", "a NUL byte; text has none");
  } else if (state_ == State::quoted) {
    if (c == '"') {
      state_ = State::quote_seen;
    } else {  // a line end, the same text whether LF or CRLF
      const std::size_t from = cell_ends_.empty() ? 0 : cell_ends_.back();
      if (bytes_.size() > from && bytes_.back() == '\r') bytes_.pop_back();
      bytes_.push_back(c);
    }
  } else if (state_ == State::quote_seen && c == '"') {
    bytes_.push_back(c);
    state_ = State::quoted;
  } else {
    step_outside(c);
  }
  ++at_;
  if (c == '\n') {
    ++line_;
    line_start_byte_ = byte();
  }
}

void CsvTable::step_outside(char c) {
  if (c == '\n') {
    if (state_ == State::start || (state_ == State::after_cr && now_.start_byte < 0)) {
      ++counts_.lines;
      ++counts_.blank;
    } else if (state_ == State::discard) {
      ++counts_.lines;
      ++counts_.skipped;
    } else {
      end_cell();
      if (state_ != State::discard) end_record();
      if (state_ == State::discard) {
        ++counts_.lines;
        ++counts_.skipped;
      }
    }
    state_ = State::start;
  } else if (state_ == State::discard) {
    return;
  } else if (state_ == State::after_cr) {
    broken("COM-CR", "a carriage return inside a line; CR line ends? convert them to LF");
    --errors_.back().column;
  } else if (c == '\r') {
    if (state_ == State::start) {
      begin_record();
      now_.start_byte = -1;  // only a line end so far
    }
    state_ = State::after_cr;
  } else if (c == delimiter_) {
    end_cell();
  } else if (state_ == State::quote_seen) {
    broken("CSV-QUOTE", "text after a closing quote; a quote inside quotes is written twice");
  } else if (c == '"' && state_ == State::cell_start) {
    state_ = State::quoted;
  } else {
    bytes_.push_back(c);
    state_ = State::plain;
  }
}

void CsvTable::end_cell() {
  cell_ends_.push_back(bytes_.size());
  cell_columns_.push_back(cell_column_);
  cell_column_ = static_cast<std::uint32_t>(byte() - now_.start_byte + 2);
  now_.last = cell_ends_.size();
  state_ = State::cell_start;
  const std::size_t most = columns_ > 0 ? columns_ : kMaxColumns;
  if (now_.last - now_.first > most)
    broken("CSV-COLUMNS", "more cells than the " + counted(most, "column") + " there are");
}

void CsvTable::end_record() {
  const std::size_t cells = now_.last - now_.first;
  if (columns_ > 0 && cells != columns_) {
    broken("CSV-COLUMNS",
           counted(cells, "cell") + " where there are " + counted(columns_, "column"));
    return;
  }
  ++counts_.lines;
  now_.end_line = line_ + 1;
  now_.end_byte = byte() + 1;
  records_.push_back(now_);
}

// The first bytes of the present record, with the delimiters between its cells.
std::string CsvTable::excerpt() const {
  std::string out;
  std::size_t from = now_.first_byte;
  for (std::size_t i = now_.first; i < cell_ends_.size() && out.size() < kExcerptBytes; ++i) {
    if (i > now_.first) out += delimiter_;
    out.append(bytes_.data() + from, cell_ends_[i] - from);
    from = cell_ends_[i];
  }
  if (from < bytes_.size() && out.size() < kExcerptBytes) {
    if (now_.last > now_.first) out += delimiter_;
    out.append(bytes_.data() + from, bytes_.size() - from);
  }
  out.resize(std::min(out.size(), kExcerptBytes));
  return out;
}

void CsvTable::broken(const char* code, std::string message) {
  errors_.push_back(
      {line_ + 1, byte() - line_start_byte_ + 1, code, std::move(message), excerpt()});
  bytes_.resize(now_.first_byte);
  cell_ends_.resize(now_.first);
  cell_columns_.resize(now_.first);
  state_ = State::discard;
}

// The last error is one of the whole record.
void CsvTable::blame_start() {
  errors_.back().line = now_.line;
  errors_.back().column = 1;
}

void CsvTable::end_of_input() {
  if (state_ == State::start) return;
  no_final_newline_ = true;
  if (state_ == State::quoted) {
    const std::size_t from = now_.last > now_.first ? cell_ends_.back() : now_.first_byte;
    const std::string cell(bytes_.begin() + static_cast<std::ptrdiff_t>(from), bytes_.end());
    broken("CSV-QUOTE-OPEN",
           "a quote opens here and never closes, so the rest of the file is one cell");
    blame_start();
    errors_.back().column = cell_column_;
    errors_.back().excerpt = '"' + cell.substr(0, std::min(cell.find('\n'), kExcerptBytes));
  }
  step_outside('\n');
  ++line_;
}

void CsvTable::drop(std::size_t rows) {
  errors_.clear();
  counts_ = {};
  if (rows == 0) return;
  const bool open = state_ != State::start;  // a record that is not all there yet stays
  const Record* const next = rows < n_rows() ? &records_[rows] : open ? &now_ : nullptr;
  const std::size_t cells = next == nullptr ? cell_ends_.size() : next->first;
  const std::size_t bytes = next == nullptr ? bytes_.size() : next->first_byte;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(bytes));
  cell_ends_.erase(cell_ends_.begin(), cell_ends_.begin() + static_cast<std::ptrdiff_t>(cells));
  cell_columns_.erase(cell_columns_.begin(),
                      cell_columns_.begin() + static_cast<std::ptrdiff_t>(cells));
  records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(rows));
  for (std::size_t& end : cell_ends_) end -= bytes;
  const auto move_up = [&](Record& record) {
    record.first -= cells;
    record.last -= cells;
    record.first_byte -= bytes;
  };
  for (Record& record : records_) move_up(record);
  if (open) move_up(now_);
}

std::string_view CsvTable::cell(std::size_t row, std::size_t column) const {
  const std::size_t i = records_[row].first + column;
  const std::size_t from = i == 0 ? 0 : cell_ends_[i - 1];
  return {bytes_.data() + from, cell_ends_[i] - from};
}

std::int64_t CsvTable::column_of(std::size_t row, std::size_t column) const {
  return cell_columns_[records_[row].first + column];
}

NumberKind CsvTable::number(std::size_t row, std::size_t column, double& value) const {
  return number_of(cell(row, column), value);
}

NumberKind CsvTable::number_of(std::string_view cell, double& value) const {
  if (decimal_ == '.') return cell_number(cell, value);
  const bool grouped = cell.find('.') != std::string_view::npos;
  std::string pointed(cell);
  for (char& c : pointed) c = c == ',' ? '.' : c == '.' ? ',' : c;
  const NumberKind kind = cell_number(pointed, value);
  // A point can only group digits: 1.234 is above a thousand.
  return grouped && kind == NumberKind::number ? NumberKind::text : kind;
}

bool CsvTable::text(std::size_t row, std::size_t column, std::string& out) const {
  out = cell(row, column);
  return !out.empty();
}

void CsvTable::add_column(const ColumnUse& use, std::size_t first, std::size_t last,
                          RowBuilder& out) const {
  const std::string prefix = use.name + "=";
  if (!use.categorical) out.use_name(use.name);
  for (std::size_t row = first; row < last; ++row) {
    const std::string_view got = cell(row, use.column);
    if (use.categorical) {
      if (!got.empty()) out.add(row - first, use.column, prefix, got, 1.0);
      continue;
    }
    double value = 0.0;
    const NumberKind kind = number_of(got, value);
    if (has_value(kind)) {
      out.add_used(row - first, use.column, value);
    } else if (kind != NumberKind::absent) {
      out.fail(number_error(kind, row - first, use, got));
    }
  }
}

}  // namespace bear::parse

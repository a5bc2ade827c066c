// Comma- and tab-separated tables (RFC 4180) from chunks of bytes, and their cells as features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bear/parse/rows.hpp"
#include "bear/parse/table.hpp"

namespace bear::parse {

// A record that breaks the format; it is left out of the table.
struct RecordError {
  std::int64_t line;
  std::int64_t column;
  const char* code;
  std::string message;
  std::string excerpt;
};

struct CsvCounts {
  std::int64_t lines = 0;  // records, broken and blank ones among them
  std::int64_t blank = 0;
  std::int64_t skipped = 0;
};

// Keeps the cells of some records, which are the rows of a Table. The state between two bytes is
// all in members, so that how the bytes were cut into chunks cannot matter.
class CsvTable : public Table {
 public:
  // decimal: what stands before the fraction of a number, a point or a comma.
  CsvTable(char delimiter, std::size_t max_record_bytes, char decimal = '.');

  void feed(std::string_view chunk, bool final);
  // Reads on until max_rows rows are kept or they took max_bytes; false = feed more first.
  bool read(std::size_t max_rows, std::size_t max_bytes);
  // Forgets the first rows, and the errors and counts so far.
  void drop(std::size_t rows);
  // From now on a record must have this many cells.
  void expect_columns(std::size_t columns) { columns_ = columns; }

  std::size_t n_rows() const override { return records_.size(); }
  std::size_t row_columns(std::size_t row) const {
    return records_[row].last - records_[row].first;
  }
  std::string_view cell(std::size_t row, std::size_t column) const;
  NumberKind number(std::size_t row, std::size_t column, double& value) const override;
  bool text(std::size_t row, std::size_t column, std::string& out) const override;
  void add_column(const ColumnUse& use, std::size_t first, std::size_t last,
                  RowBuilder& out) const override;

  std::int64_t line_of(std::size_t row) const { return records_[row].line; }
  // Byte of its record at which a cell starts, from 1.
  std::int64_t column_of(std::size_t row, std::size_t column) const;
  std::int64_t end_of(std::size_t row) const { return records_[row].end_byte; }
  std::int64_t end_line_of(std::size_t row) const { return records_[row].end_line; }
  bool done() const { return final_ && at_ == chunk_.size() && state_ == State::start; }
  bool no_final_newline() const { return no_final_newline_; }
  bool had_bom() const { return had_bom_; }
  std::int64_t line() const { return line_; }
  const std::vector<RecordError>& errors() const { return errors_; }
  const CsvCounts& counts() const { return counts_; }

 private:
  enum class State { start, cell_start, plain, quoted, quote_seen, after_cr, discard };
  struct Record {
    std::size_t first, last;  // its cells
    std::size_t first_byte;   // of the first cell, in bytes_
    std::int64_t line, end_line;
    std::int64_t start_byte, end_byte;
  };

  NumberKind number_of(std::string_view cell, double& value) const;
  void step(char c);
  void step_outside(char c);
  void take_run();
  void begin_record();
  void end_cell();
  void end_record();
  void end_of_input();
  bool settle_bom();
  void broken(const char* code, std::string message);
  void blame_start();
  std::string excerpt() const;
  std::int64_t byte() const { return byte_base_ + static_cast<std::int64_t>(at_); }

  char delimiter_;
  std::size_t max_record_bytes_;
  char decimal_;
  std::size_t columns_ = 0;
  std::string chunk_;
  std::size_t at_ = 0;
  std::int64_t byte_base_ = 0;
  bool final_ = false;
  bool bom_settled_ = false;
  bool had_bom_ = false;
  bool no_final_newline_ = false;
  State state_ = State::start;
  std::int64_t line_ = 0;             // lines finished
  std::int64_t line_start_byte_ = 0;  // of the present line
  Record now_{};                      // the record being read
  std::vector<char> bytes_;
  std::vector<std::size_t> cell_ends_;       // cell i ends before bytes_[cell_ends_[i]]
  std::vector<std::uint32_t> cell_columns_;  // byte of its record the cell starts at
  std::uint32_t cell_column_ = 1;
  std::vector<Record> records_;
  std::vector<RecordError> errors_;
  CsvCounts counts_;
};

}  // namespace bear::parse

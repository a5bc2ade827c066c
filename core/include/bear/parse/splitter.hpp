// Chunks of bytes in, lines out. A line that lies whole in its chunk is never copied.
#pragma once

#include <cstdint>
#include <string_view>

#include "bear/parse/buffer.hpp"

namespace bear::parse {

class Splitter {
 public:
  // overlong: the line passes the limit; what is handed out is only its beginning.
  enum class Found { line, overlong, hungry, end };

  explicit Splitter(std::size_t max_line_bytes) : limit_(max_line_bytes) {}

  // The chunk is borrowed until all of it has been read; `final` says that none follows.
  void feed(std::string_view chunk, bool final);

  // Counts on from the lines and bytes that were read before, by another. Not within a line.
  void start_at(std::uint64_t byte, std::int64_t lines);

  // The next line, without its LF or CR LF. The byte after the line can be read and is the CR or
  // LF, so that scanning for the end of a word needs no other bound.
  Found next(std::string_view& line);

  // Where the memory ends that can be read after the line handed out last.
  const char* readable_end(std::string_view line) const {
    return carry_used_ ? line.data() + line.size() : end_;
  }

  // For sequences, which may be longer than any line should be: the bytes not yet read, and
  // reading on by n of them, of which `lines` are newlines. Not within a line that next() began.
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void skip(std::size_t n, std::int64_t lines);
  // The bytes skipped last, at the very end, were a line without a newline.
  void end_cut_line();

  bool final() const { return final_; }
  bool exhausted() const { return at_ == end_; }
  std::uint64_t byte() const { return byte_; }   // decoded bytes read, all lines handed out
  std::int64_t lines() const { return lines_; }  // lines handed out
  bool cut() const { return cut_; }              // the last line had no newline

 private:
  bool within_line() const { return carry_.size() > 0 || discarded_ > 0; }
  Found keep(std::string_view& line);
  Found hand_out(std::string_view& line, std::uint64_t bytes);
  void carry(const char* from, std::size_t n);

  std::size_t limit_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool final_ = false, cut_ = false;
  bool carry_used_ = false;      // the line handed out last lies in carry_
  Buffer<char> carry_;           // beginning of the line that no chunk so far has ended
  std::uint64_t discarded_ = 0;  // bytes of that line that were not kept
  std::uint64_t byte_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace bear::parse

#include "bear/parse/splitter.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "bear/compat.hpp"
#include "bear/parse/block.hpp"

namespace bear::parse {

void Splitter::feed(std::string_view chunk, bool final) {
  if (at_ != end_) throw std::logic_error("feed: the last chunk has not been read yet");
  if (final_) throw std::logic_error("feed: the last chunk was the final one");
  at_ = chunk.data();
  end_ = at_ + chunk.size();
  final_ = final;
}

void Splitter::start_at(std::uint64_t byte, std::int64_t lines) {
  if (at_ != end_ || (within_line() && !carry_used_))
    throw std::logic_error("start_at: there is an unread line");
  byte_ = byte;
  lines_ = lines;
}

Splitter::Found Splitter::next(std::string_view& line) {
  if (carry_used_) {
    carry_.clear();
    carry_used_ = false;
  }
  const char* newline =
      at_ == end_
          ? nullptr
          : static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
  if (newline == nullptr) return keep(line);
  const char* start = at_;
  at_ = newline + 1;
  if (!within_line()) {
    line = {start, static_cast<std::size_t>(newline - start)};
    return hand_out(line, line.size() + 1);
  }
  carry(start, static_cast<std::size_t>(at_ - start));
  const std::uint64_t bytes = carry_.size() + discarded_;
  line = {carry_.data(), carry_.size() - (discarded_ > 0 ? 0 : 1)};
  return hand_out(line, bytes);
}

void Splitter::skip(std::size_t n, std::int64_t lines) {
  at_ += n;
  byte_ += n;
  lines_ += lines;
}

void Splitter::end_cut_line() {
  cut_ = true;
  ++lines_;
}

// No newline is left in the chunk: what remains begins a line that a later chunk ends.
Splitter::Found Splitter::keep(std::string_view& line) {
  if (at_ != end_) carry(at_, static_cast<std::size_t>(end_ - at_));
  at_ = end_;
  if (!final_) return Found::hungry;
  if (!within_line()) return Found::end;
  cut_ = true;
  const std::uint64_t bytes = carry_.size() + discarded_;
  if (discarded_ == 0) carry_.push('\n');
  line = {carry_.data(), compat::to_size(bytes - discarded_)};
  return hand_out(line, bytes);
}

void Splitter::carry(const char* from, std::size_t n) {
  // One byte more than the limit for a CR, one for the LF.
  if (discarded_ == 0 && carry_.size() + n <= limit_ + 2) {
    carry_.append(from, n);
    return;
  }
  if (carry_.size() < excerpt_bytes) {
    const std::size_t kept = std::min(n, excerpt_bytes - carry_.size());
    carry_.append(from, kept);
    discarded_ += n - kept;
  } else {
    discarded_ += n + (carry_.size() - excerpt_bytes);
    Buffer<char> excerpt;
    excerpt.append(carry_.data(), excerpt_bytes);
    carry_ = std::move(excerpt);
  }
}

Splitter::Found Splitter::hand_out(std::string_view& line, std::uint64_t bytes) {
  ++lines_;
  byte_ += bytes;
  const bool discarded = discarded_ > 0;
  discarded_ = 0;
  carry_used_ = !carry_.empty();
  if (!line.empty() && line.back() == '\r' && !discarded) line.remove_suffix(1);
  return discarded || line.size() > limit_ ? Found::overlong : Found::line;
}

}  // namespace bear::parse

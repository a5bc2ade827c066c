// Growing arrays that parsers fill and hand away: plain values, and byte strings end to end.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bear/compat.hpp"

namespace bear::parse {

// Like std::vector for plain values, but never clears memory that is about to be written, which
// costs a tenth of the time of the fastest parser.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  void push(T value) {
    if (size_ == capacity_) grow(1);
    data_[size_++] = value;
  }
  void append(const T* from, std::size_t n) {
    if (n == 0) return;
    std::memcpy(extend(n), from, n * sizeof(T));
  }
  // Room for n more values, to be written by the caller.
  T* extend(std::size_t n) {
    if (n > capacity_ - size_) grow(n);
    size_ += n;
    return data_ + (size_ - n);
  }
  // The same, of which add_written() then takes what has been written.
  T* room(std::size_t n) {
    if (n > capacity_ - size_) grow(n);
    return data_ + size_;
  }
  void add_written(std::size_t n) { size_ += n; }
  void reserve(std::size_t n) {
    if (n > capacity_) reallocate(n);
  }
  void truncate(std::size_t n) {
    if (n < size_) size_ = n;
  }
  void clear() { size_ = 0; }
  void free() { Buffer().swap(*this); }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  BEAR_NOINLINE void grow(std::size_t n) {
    const std::size_t doubled = capacity_ < 16 ? 16 : capacity_ * 2;
    reallocate(doubled < size_ + n ? size_ + n : doubled);
  }
  void reallocate(std::size_t n) {
    T* moved = static_cast<T*>(std::realloc(data_, n * sizeof(T)));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = moved;
    capacity_ = n;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// Copies n bytes of which `readable` can be read and at least copy_slack more than n be written.
// Names are short, and a copy of fixed length is one load and one store.
inline constexpr std::size_t copy_slack = 16;
inline void copy_short(char* to, const char* from, std::size_t n, std::size_t readable) {
  if (n <= copy_slack && readable >= copy_slack) [[likely]] {
    std::memcpy(to, from, copy_slack);
  } else if (n > 0) {  // an empty text may have no memory at all
    std::memcpy(to, from, n);
  }
}

// Byte strings end to end: string i is data[offsets[i]] to data[offsets[i + 1]].
struct Strings {
  Buffer<char> data;
  Buffer<std::uint64_t> offsets;

  Strings() { offsets.push(0); }

  std::size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {data.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  void push(std::string_view text) {
    data.append(text.data(), text.size());
    offsets.push(data.size());
  }
  void truncate(std::size_t n) {
    offsets.truncate(n + 1);
    data.truncate(compat::to_size(offsets.back()));
  }
  // Empty strings up to n of them: for columns that start only when a first value is seen.
  void pad(std::size_t n) {
    while (size() < n) offsets.push(data.size());
  }
};

}  // namespace bear::parse

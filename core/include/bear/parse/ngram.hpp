// Texts to n-grams of words and of characters.
//
// A word is a run of what in_word() takes; a word n-gram is n words with one space between, such as
// `new york`. Character n-grams are n code points of the text in which every run of white space
// counts as one space; their names start with "#", which no word has: `#ing`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "bear/parse/buffer.hpp"

namespace bear::parse {

struct NgramOptions {
  int word_low = 1, word_high = 1;  // 0 and 0: none
  int char_low = 0, char_high = 0;
  bool lower = true;
  bool counts = true;  // else the value of every n-gram that occurs is 1
};

class Ngrams {
 public:
  static constexpr std::size_t longest = 64;

  // Throws std::invalid_argument when a range is not 0 to 0 or within 1 to `longest`.
  explicit Ngrams(const NgramOptions& options);

  // Calls sink(name) for every n-gram of the text, `prefix` being put before each name. Stops when
  // the sink returns false, and returns it.
  template <class Sink>
  bool each(std::string_view text, std::string_view prefix, Sink&& sink) {
    name_.clear();
    name_.append(prefix.data(), prefix.size());
    const std::string_view folded = fold(text);
    return each_words(folded, sink) && each_chars(folded, sink);
  }

 private:
  // Where the last few units began.
  class Starts {
   public:
    void push(std::size_t start) { at_[n_++ % longest] = start; }
    std::size_t size() const { return n_ < longest ? n_ : longest; }
    // The start of the n-th unit from the end, from 1.
    std::size_t from_end(std::size_t n) const { return at_[(n_ - n) % longest]; }

   private:
    std::array<std::size_t, longest> at_;
    std::size_t n_ = 0;
  };

  std::string_view fold(std::string_view text);
  void join_words(std::string_view text);
  void squeeze(std::string_view text);
  // Start of the unit after the one that begins at `at`.
  std::size_t next_word(std::size_t at) const;
  std::size_t next_char(std::size_t at) const;

  template <class Sink>
  bool each_words(std::string_view text, Sink&& sink) {
    if (word_high_ == 0) return true;
    join_words(text);
    Starts starts;
    const std::size_t prefix = name_.size();
    for (std::size_t at = 0; at < units_.size();) {
      starts.push(at);
      const std::size_t end = next_word(at);
      if (!emit(starts, end, word_low_, word_high_, prefix, sink)) return false;
      at = end + 1;
    }
    return true;
  }

  template <class Sink>
  bool each_chars(std::string_view text, Sink&& sink) {
    if (char_high_ == 0) return true;
    squeeze(text);
    Starts starts;
    name_.push('#');
    const std::size_t prefix = name_.size();
    for (std::size_t at = 0; at < units_.size();) {
      starts.push(at);
      at = next_char(at);
      if (!emit(starts, at, char_low_, char_high_, prefix, sink)) return false;
    }
    return true;
  }

  // The n-grams that end at `end`.
  template <class Sink>
  bool emit(const Starts& starts, std::size_t end, std::size_t low, std::size_t high,
            std::size_t prefix, Sink&& sink) {
    for (std::size_t n = low; n <= high && n <= starts.size(); ++n) {
      const std::size_t from = starts.from_end(n);
      name_.truncate(prefix);
      name_.append(units_.data() + from, end - from);
      if (!sink(std::string_view(name_.data(), name_.size()))) return false;
    }
    name_.truncate(prefix);
    return true;
  }

  std::size_t word_low_, word_high_, char_low_, char_high_;
  bool lower_;
  Buffer<char> folded_;  // the text in lower case
  Buffer<char> units_;   // its words with one space between, or its squeezed characters
  Buffer<char> name_;
};

}  // namespace bear::parse

#include "bear/parse/ngram.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "bear/parse/utf8.hpp"

namespace bear::parse {

namespace {

std::size_t checked(const char* what, int low, int high, int value) {
  const bool none = low == 0 && high == 0;
  if (!none && (low < 1 || high < low || high > static_cast<int>(Ngrams::longest)))
    throw std::invalid_argument(std::string(what) + " must be (0, 0) or a range within 1 to " +
                                std::to_string(Ngrams::longest) + ", got (" + std::to_string(low) +
                                ", " + std::to_string(high) + ")");
  return static_cast<std::size_t>(value);
}

constexpr auto ascii_words = [] {
  std::array<bool, 128> table{};
  for (char c = 0; c < 127; ++c) table[static_cast<std::size_t>(c)] = in_ascii_word(c);
  return table;
}();

const char* word_end(const char* at, const char* end) {
  while (at != end) {
    const auto byte = static_cast<unsigned char>(*at);
    std::uint32_t c;
    const std::size_t n = byte < 0x80 ? 1 : decode(at, end, c);
    if (byte < 0x80 ? !ascii_words[byte] : !in_word(c)) break;
    at += n;
  }
  return at;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

Ngrams::Ngrams(const NgramOptions& o)
    : word_low_(checked("words", o.word_low, o.word_high, o.word_low)),
      word_high_(static_cast<std::size_t>(o.word_high)),
      char_low_(checked("chars", o.char_low, o.char_high, o.char_low)),
      char_high_(static_cast<std::size_t>(o.char_high)),
      lower_(o.lower) {
  if (word_high_ == 0 && char_high_ == 0)
    throw std::invalid_argument("words or chars must ask for n-grams, got (0, 0) for both");
}

std::string_view Ngrams::fold(std::string_view text) {
  if (!lower_) return text;
  folded_.clear();
  append_lower(text, folded_);
  return {folded_.data(), folded_.size()};
}

void Ngrams::join_words(std::string_view text) {
  units_.clear();
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* stop = word_end(at, end);
    if (stop != at) {
      if (!units_.empty()) units_.push(' ');
      units_.append(at, static_cast<std::size_t>(stop - at));
      at = stop;
    } else {
      std::uint32_t c;
      at += decode(at, end, c);
    }
  }
}

void Ngrams::squeeze(std::string_view text) {
  units_.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_space(text[i])) {
      units_.push(text[i]);
    } else if (i == 0 || !is_space(text[i - 1])) {
      units_.push(' ');
    }
  }
}

std::size_t Ngrams::next_word(std::size_t at) const {
  const void* space = std::memchr(units_.data() + at, ' ', units_.size() - at);
  return space == nullptr
             ? units_.size()
             : static_cast<std::size_t>(static_cast<const char*>(space) - units_.data());
}

std::size_t Ngrams::next_char(std::size_t at) const {
  std::uint32_t c;
  return at + decode(units_.data() + at, units_.data() + units_.size(), c);
}

}  // namespace bear::parse

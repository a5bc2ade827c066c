// Why a row is predicted what it is: the entries that add most to its margin.
#pragma once

#include <string>
#include <string_view>

#include "bear/batch.hpp"
#include "bear/types.hpp"

namespace bear {

// Of each row: its margin, the constant in it, and its largest parts, weight times value. Of
// several classes the margin is that of the most probable one, less the mean over the classes, and
// so are constant and parts: what all classes have in common moves no probability.
struct Reasons {
  explicit Reasons(std::size_t most_parts) : most(most_parts) {}

  std::size_t most;
  std::vector<double> margins, constants;  // by row
  std::vector<std::int64_t> entries;       // most for each row, -1 where there are fewer
  std::vector<double> parts;               // by falling size; of those 0
};

// What rows have in common that are written out.
struct ReasonForm {
  bool json = false;
  unsigned letter_bits = 0;  // of a key that is made of letters, first letter highest; 0: a number
  std::size_t letters = 0;
  std::string_view alphabet;
  bool states_proof = false;
  Keys proven;  // rising
};

// Writes the reasons of a row so that the numbers add up to the last digit written: all have as
// many decimals, six digits for the largest, and what is left of the margin is computed from them.
class ReasonWriter {
 public:
  explicit ReasonWriter(const ReasonForm& form) : form_(form) {}

  // name(entry, text): appends the name of an entry, made safe for the form.
  template <class Name>
  void write(const Reasons& reasons, std::size_t row, const Name& name, const BatchView& batch,
             std::string& text) {
    scale(reasons, row);
    const double* parts = reasons.parts.data() + row * reasons.most;
    const std::int64_t* entries = reasons.entries.data() + row * reasons.most;
    const std::int64_t margin = whole(reasons.margins[row]);
    const std::int64_t constant = whole(reasons.constants[row]);
    std::int64_t rest = margin - constant;
    text += form_.json ? ", \"margin\": " : "\t";
    number(margin, text);
    text += form_.json ? ", \"intercept\": " : "\t";
    number(constant, text);
    if (form_.json) text += ", \"reasons\": [";
    std::size_t written = 0;
    for (; written < reasons.most && entries[written] >= 0; ++written) {
      const std::int64_t part = whole(parts[written]);
      if (part == 0) break;
      rest -= part;
      const auto entry = static_cast<std::size_t>(entries[written]);
      if (form_.json) text += written == 0 ? "{\"feature\": " : ", {\"feature\": ";
      if (!form_.json) text += '\t';
      name(entry, text);
      text += form_.json ? ", \"part\": " : "\t";
      number(part, text);
      if (form_.states_proof) proof(batch.keys[entry], text);
      if (form_.json) text += '}';
    }
    if (form_.json) {
      text += "], \"rest\": ";
    } else {
      const std::size_t cells = form_.states_proof ? 3 : 2;
      text.append(cells * (reasons.most - written) + 1, '\t');
    }
    number(rest, text);
  }

 private:
  void scale(const Reasons& reasons, std::size_t row);
  std::int64_t whole(double x) const;
  void number(std::int64_t whole, std::string& text) const;
  void proof(Key key, std::string& text) const;

  ReasonForm form_;
  int decimals_ = 6;
  double unit_ = 1e6;
};

// Appends the name that a key has in itself: its digits, or its letters.
void append_key_name(const ReasonForm& form, Key key, std::string& text);

// Whether a name can stand in a cell of a table, or between quotes, as it is.
bool is_plain(std::string_view name, bool json);

}  // namespace bear

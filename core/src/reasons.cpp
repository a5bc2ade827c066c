#include "bear/reasons.hpp"

#include <charconv>

#include "bear/learner.hpp"

namespace bear {

namespace {

constexpr double kLargestWhole = 4e18;

// Keeps the largest parts of a row, by falling size; of equal ones the first.
void keep(double part, std::int64_t entry, std::size_t most, std::size_t& kept, double* parts,
          std::int64_t* entries) {
  if (part == 0.0 || (kept == most && !(std::abs(part) > std::abs(parts[most - 1])))) return;
  std::size_t at = kept < most ? kept++ : most - 1;
  for (; at > 0 && std::abs(parts[at - 1]) < std::abs(part); --at) {
    parts[at] = parts[at - 1];
    entries[at] = entries[at - 1];
  }
  parts[at] = part;
  entries[at] = entry;
}

}  // namespace

void Learner::explain(const BatchView& batch, bool selected_only, Reals margins,
                      Reasons& reasons) const {
  const std::size_t rows = batch.n_rows(), most = reasons.most;
  std::vector<double> constant(classes_);
  const std::array<std::int64_t, 2> empty{0, 0};
  BatchView none;
  none.indptr = empty;
  predict(none, selected_only, constant);
  reasons.margins.resize(rows);
  reasons.constants.resize(rows);
  reasons.entries.assign(checked_product(rows, most, "reasons"), -1);
  reasons.parts.assign(rows * most, 0.0);
  Scoring scoring(recipe_.seed);
  for (std::size_t start = 0; start < rows; start += kScoredRows) {
    const std::size_t stop = std::min(start + kScoredRows, rows);
    score(batch.rows(start, stop), selected_only, scoring,
          margins.subspan(start * classes_, (stop - start) * classes_));
    const ActiveSet& active = scoring.active;
    const std::size_t first = active.batch().first_entry();
    for (std::size_t row = start; row < stop; ++row) {
      const ConstReals own = margins.subspan(row * classes_, classes_);
      const auto top =
          static_cast<std::size_t>(std::max_element(own.begin(), own.end()) - own.begin());
      const auto of_class = [&](const double* numbers) {
        if (classes_ == 1) return numbers[0];
        double sum = 0.0;
        for (std::size_t c = 0; c < classes_; ++c) sum += numbers[c];
        return numbers[top] - sum / static_cast<double>(classes_);
      };
      reasons.margins[row] = of_class(own.data());
      reasons.constants[row] = of_class(constant.data());
      std::size_t kept = 0;
      const auto end = static_cast<std::size_t>(batch.indptr[row + 1]);
      for (auto e = static_cast<std::size_t>(batch.indptr[row]); e < end; ++e) {
        const double weight =
            of_class(scoring.weights.data() + active.column(e - first) * classes_);
        keep(weight * static_cast<double>(batch.values[e]), static_cast<std::int64_t>(e), most,
             kept, reasons.parts.data() + row * most, reasons.entries.data() + row * most);
      }
    }
  }
}

void ReasonWriter::scale(const Reasons& reasons, std::size_t row) {
  double largest = std::max(std::abs(reasons.margins[row]), std::abs(reasons.constants[row]));
  if (reasons.most > 0) largest = std::max(largest, std::abs(reasons.parts[row * reasons.most]));
  decimals_ = 5;
  unit_ = 1e5;
  for (double bound = 10.0; largest >= bound && decimals_ > 0; bound *= 10.0) {
    --decimals_;
    unit_ /= 10.0;
  }
  for (double bound = 1.0; largest < bound && decimals_ < 15; bound /= 10.0) {
    ++decimals_;
    unit_ *= 10.0;
  }
  unit_ = std::round(unit_);
}

std::int64_t ReasonWriter::whole(double x) const {
  return std::llround(std::clamp(x * unit_, -kLargestWhole, kLargestWhole));
}

void ReasonWriter::number(std::int64_t whole, std::string& text) const {
  std::array<char, 24> digits;
  const bool negative = whole < 0;
  const auto size = static_cast<std::uint64_t>(negative ? -whole : whole);
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), size).ptr;
  const auto n = end - digits.data();
  if (negative) text += '-';
  const auto decimals = static_cast<std::ptrdiff_t>(decimals_);
  if (n <= decimals) {
    text += "0.";
    text.append(static_cast<std::size_t>(decimals - n), '0');
    text.append(digits.data(), static_cast<std::size_t>(n));
    return;
  }
  const std::string_view all(digits.data(), static_cast<std::size_t>(n));
  text += all.substr(0, all.size() - static_cast<std::size_t>(decimals_));
  if (decimals == 0) return;
  text += '.';
  text += all.substr(all.size() - static_cast<std::size_t>(decimals_));
}

void ReasonWriter::proof(Key key, std::string& text) const {
  const bool found = std::binary_search(form_.proven.begin(), form_.proven.end(), key);
  if (form_.json) {
    text += found ? ", \"proven\": true" : ", \"proven\": false";
  } else {
    text += found ? "\tproven" : "\tnot proven";
  }
}

void append_key_name(const ReasonForm& form, Key key, std::string& text) {
  if (form.letter_bits == 0) {
    std::array<char, 24> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), key).ptr;
    text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    return;
  }
  const Key mask = (Key{1} << form.letter_bits) - 1;
  for (std::size_t i = form.letters; i-- > 0;) {
    text += form.alphabet[static_cast<std::size_t>((key >> (form.letter_bits * i)) & mask)];
  }
}

bool is_plain(std::string_view name, bool json) {
  if (name.empty()) return json;
  if (!json && (name[0] == '=' || name[0] == '+' || name[0] == '-' || name[0] == '@')) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return c >= ' ' && c <= '~' && !(json && (c == '"' || c == '\\'));
  });
}

}  // namespace bear

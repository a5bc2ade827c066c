#include "bear/parse/kmer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

#include "bear/sort.hpp"

namespace bear::parse {

namespace {

constexpr std::string_view iupac_letters = "-ACMGRSVTWYHKDBN";  // by the bases each stands for
constexpr std::size_t piece = 4096;

// A byte to its code. `other` is what letters outside ACGT become.
std::array<std::uint8_t, 256> code_table(bool iupac, std::uint8_t other, std::uint8_t none) {
  std::array<std::uint8_t, 256> table;
  table.fill(none);
  for (std::size_t set = 1; set < iupac_letters.size(); ++set) {
    const auto letter = static_cast<unsigned char>(iupac_letters[set]);
    const std::size_t base = std::string_view("ACGT").find(iupac_letters[set]);
    const auto plain = base == std::string_view::npos ? other : static_cast<std::uint8_t>(base);
    table[letter] = table[letter | 0x20] = iupac ? static_cast<std::uint8_t>(set) : plain;
  }
  table['U'] = table['u'] = table['T'];  // RNA
  return table;
}

// A pairs with T and C with G, so the complement of a set of bases is its four bits reversed.
std::array<std::uint8_t, 16> complement_table(bool iupac) {
  std::array<std::uint8_t, 16> table{};
  for (unsigned c = 0; c < 16; ++c) {
    const unsigned reversed = (c & 1) << 3 | (c & 2) << 1 | (c & 4) >> 1 | (c & 8) >> 3;
    table[c] = static_cast<std::uint8_t>(iupac ? reversed : 3 - (c & 3));
  }
  return table;
}

}  // namespace

Kmers::Kmers(const KmerOptions& o, std::size_t max_features)
    : codes_(code_table(o.iupac, breaks, no_letter)),
      complements_(complement_table(o.iupac)),
      k_(static_cast<std::size_t>(o.k)),
      window_(o.window),
      stride_(o.stride == 0 ? o.window : o.stride),
      max_features_(max_features),
      bits_(o.iupac ? 4 : 2),
      canonical_(o.canonical),
      counts_(o.counts) {
  const int longest = o.iupac ? 16 : 32;
  if (o.k < 1 || o.k > longest)
    throw std::invalid_argument("k must be 1 to " + std::to_string(longest) + ", got " +
                                std::to_string(o.k));
  if (o.window != 0 && o.window < k_)
    throw std::invalid_argument("window must be 0 or at least k = " + std::to_string(o.k) +
                                ", got " + std::to_string(o.window));
  constexpr std::size_t longest_window = std::size_t{1} << 26;
  if (o.window > longest_window || o.stride > longest_window)
    throw std::invalid_argument("window and stride must be at most 2^26 letters");
  mask_ = o.k == longest ? ~Key{0} : (Key{1} << (bits_ * o.k)) - 1;
}

void Kmers::start() {
  n_letters_ = n_reads_ = 0;
  letters_.clear();
  overlap_ = gap_ = 0;
  forget_read();
}

void Kmers::forget_read() {
  forward_ = reverse_ = 0;
  run_ = 0;
  read_letters_ = valid_ = 0;
  pending_.clear();
  distinct_.clear();
  times_.clear();
  too_many_ = false;
}

std::size_t Kmers::read(std::string_view text) {
  std::uint8_t codes[piece];
  std::size_t used = 0;
  while (used < text.size() && !full()) {
    const std::size_t room =
        window_ == 0 ? piece : std::min(piece, window_ - letters_.size() + gap_);
    const std::size_t n = std::min(room, text.size() - used);
    std::size_t i = 0;
    for (; i < n; ++i) {
      codes[i] = codes_[static_cast<unsigned char>(text[used + i])];
      if (codes[i] == no_letter) break;
    }
    if (window_ == 0) {
      roll(codes, i);
    } else {
      const std::size_t left_out = std::min(gap_, i);
      gap_ -= left_out;
      letters_.append(codes + left_out, i - left_out);
    }
    used += i;
    if (i < n) break;
  }
  n_letters_ += used;
  return used;
}

bool Kmers::rest() const {
  if (window_ == 0 || n_reads_ == 0) return true;
  return letters_.size() > overlap_ && letters_.size() >= k_;
}

bool Kmers::take(Row& row) {
  if (window_ > 0) roll(letters_.data(), letters_.size());
  fold();
  bool fits = !too_many_;
  for (std::size_t i = 0; i < distinct_.size() && fits; ++i) {
    const float value = counts_ ? static_cast<float>(times_[i]) : 1.0F;
    fits = row.add(distinct_[i], value) == Row::Added::yes;
  }
  const std::uint64_t windows = read_letters_ < k_ ? 0 : read_letters_ - k_ + 1;
  invalid_ = windows - valid_;
  ++n_reads_;
  forget_read();
  slide();
  return fits;
}

// Moves the window on: what the next read shares with this one stays.
void Kmers::slide() {
  if (window_ == 0) return;
  const std::size_t gone = std::min(stride_, letters_.size());
  overlap_ = letters_.size() - gone;
  gap_ = stride_ - gone;
  std::copy(letters_.begin() + gone, letters_.end(), letters_.begin());
  letters_.truncate(overlap_);
}

void Kmers::roll(const std::uint8_t* codes, std::size_t n) {
  Key forward = forward_, reverse = reverse_;
  std::size_t run = run_;
  const int top = bits_ * static_cast<int>(k_ - 1);
  const std::size_t before = pending_.size();
  Key* out = pending_.extend(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t code = codes[i];
    if (code == breaks) {
      run = 0;
      continue;
    }
    forward = (forward << bits_ | code) & mask_;
    reverse = reverse >> bits_ | Key{complements_[code]} << top;
    run += run < k_;
    if (run == k_) *out++ = canonical_ ? std::min(forward, reverse) : forward;
  }
  pending_.truncate(static_cast<std::size_t>(out - pending_.data()));
  valid_ += pending_.size() - before;
  read_letters_ += n;
  forward_ = forward;
  reverse_ = reverse;
  run_ = run;
  // Long sequences are counted now and then, so that memory follows the number of different k-mers.
  if (pending_.size() >= std::max(std::size_t{1} << 20, distinct_.size())) fold();
}

// Counts the pending k-mers.
void Kmers::fold() {
  sort_pending();
  if (distinct_.size() > 0) std::swap(distinct_, old_distinct_), std::swap(times_, old_times_);
  distinct_.clear();
  times_.clear();
  merge_into_counts();
  old_distinct_.clear();
  old_times_.clear();
  pending_.clear();
  if (distinct_.size() > max_features_) {
    too_many_ = true;
    distinct_.clear();
    times_.clear();
  }
}

void Kmers::merge_into_counts() {
  std::size_t old = 0;
  for (std::size_t i = 0; i < pending_.size();) {
    const Key key = pending_[i];
    const std::size_t from = i;
    while (i < pending_.size() && pending_[i] == key) ++i;
    for (; old < old_distinct_.size() && old_distinct_[old] < key; ++old) {
      distinct_.push(old_distinct_[old]);
      times_.push(old_times_[old]);
    }
    const bool again = old < old_distinct_.size() && old_distinct_[old] == key;
    distinct_.push(key);
    times_.push(i - from + (again ? old_times_[old] : 0));
    old += again;
  }
  distinct_.append(old_distinct_.data() + old, old_distinct_.size() - old);
  times_.append(old_times_.data() + old, old_times_.size() - old);
}

// Whole genomes are sorted digit by digit, 11 bits at a time, lowest first; reads by buckets.
void Kmers::sort_pending() {
  const std::size_t n = pending_.size();
  const int used = bits_ * static_cast<int>(k_);
  if (n <= 24) {
    std::sort(pending_.begin(), pending_.end());
  } else if (n <= 4096) {
    spare_.clear();
    bucket_sort<Key>(pending_, spare_.extend(n), used, std::identity(), std::less<Key>());
    std::swap(pending_, spare_);
  } else {
    constexpr int digit = 11;
    for (int shift = 0; shift < used; shift += digit) sort_by_digit(shift, digit);
  }
}

void Kmers::sort_by_digit(int shift, int bits) {
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  std::array<std::uint32_t, 2049> starts{};
  for (const Key key : pending_) ++starts[((key >> shift) & mask) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  spare_.clear();
  Key* sorted = spare_.extend(pending_.size());
  for (const Key key : pending_) sorted[starts[(key >> shift) & mask]++] = key;
  std::swap(pending_, spare_);
}

}  // namespace bear::parse

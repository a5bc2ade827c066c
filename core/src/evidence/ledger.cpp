#include "bear/evidence/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bear/evidence/gain.hpp"
#include "bear/math.hpp"
#include "bear/selection.hpp"

namespace bear::evidence {

namespace {

constexpr double kShrinkage = 2.0;   // variance that a bet is shrunk by
constexpr double kLargestBet = 1.5;  // log odds ratio
constexpr double kStart = 1.5;       // |z| at which a test starts
constexpr float kLong = 0x1p+20F;    // floats would soon stop counting
constexpr std::uint32_t kNone = ~std::uint32_t{0};

double bet_of(const Record& record) {
  const double estimate =
      static_cast<double>(record.shift) / (static_cast<double>(record.variance) + kShrinkage);
  return std::clamp(estimate, -kLargestBet, kLargestBet);
}

}  // namespace

void Bank::take_back(const Record& record) {
  if (record.tested())
    cash += static_cast<double>(record.stake) * math::exp(std::min(record.log_e, 0.0));
}

Ledger::Ledger(std::size_t heaps, std::size_t k, std::size_t classes, Score score,
               std::uint64_t seed)
    : k_(k),
      classes_(classes),
      score_(score),
      seed_(mix64(seed ^ kGolden)),
      records_(heaps),
      parked_(heaps) {}

void Ledger::share(std::uint64_t part) {
  shared_ = true;
  count_.origin = mix64(seed_ ^ mix64(count_.origin + kGolden * (part + 1))) >> 33 | 1;
}

std::uint64_t Ledger::row_number(std::size_t i) const {
  constexpr std::uint64_t kLower = ~std::uint32_t{0};
  return count_.origin << 32 | ((count_.rows + i) & kLower);
}

bool Ledger::may_start(const Record& record) {
  const auto shift = static_cast<double>(record.shift);
  const auto variance = static_cast<double>(record.variance);
  return !record.tested() && variance > 0.0 && shift * shift >= kStart * kStart * variance;
}

void Ledger::draw(const Rows& rows, std::span<const Occurrence> occurrences) {
  drawn_.clear();
  if (frozen_) {
    count_.later += rows.size();
    return;
  }
  list_rows(rows);
  for (const std::uint32_t row : kept_) {
    if (!rows.hashes.empty() && rows.hashes[row] != 0) copies_.add(rows.hashes[row]);
  }
  if (count_.origin == 0 && !rows.hashes.empty()) {
    count_.origin = std::accumulate(rows.hashes.begin(), rows.hashes.end(), seed_) >> 33 | 1;
  }
  row_hashes_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) row_hashes_[i] = Sample::hash(row_number(i));
  for (std::size_t start = 0, stop = 0; start < occurrences.size(); start = stop) {
    const Occurrence& first = occurrences[start];
    while (stop < occurrences.size() && occurrences[stop].slot == first.slot &&
           occurrences[stop].heap == first.heap) {
      ++stop;
    }
    auto& heap = records_[first.heap];
    if (first.slot >= heap.size() || !heap[first.slot].live) continue;
    observe(heap[first.slot], rows, occurrences.subspan(start, stop - start));
    drawn_.push_back({heap[first.slot].key, first.heap, first.slot});
  }
  count_.rows += rows.size();
}

// Rows of weight 0 are no rows. The others are told apart by stratum, and scored within it.
void Ledger::list_rows(const Rows& rows) {
  const std::size_t n = rows.size();
  labels_ = rows.labels;
  stratum_.assign(n, 0);
  kept_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.weights.empty() || rows.weights[i] > 0.0) {
      kept_.push_back(static_cast<std::uint32_t>(i));
    } else {
      stratum_[i] = kNone;
    }
  }
  values_.clear();
  if (!rows.strata.empty()) {
    for (const std::uint32_t i : kept_) values_.push_back(rows.strata[i]);
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    for (const std::uint32_t i : kept_) {
      const auto at = std::lower_bound(values_.begin(), values_.end(), rows.strata[i]);
      stratum_[i] = static_cast<std::uint32_t>(at - values_.begin());
    }
  }
  drawn_rows_ = kept_.size();
  const std::size_t strata = std::max<std::size_t>(values_.size(), 1);
  sizes_.assign(strata, 0);
  for (const std::uint32_t i : kept_) ++sizes_[stratum_[i]];
  present_.assign(strata, 0);
  score_sums_.assign(strata, 0.0);
  count_.drawn += drawn_rows_;
  if (!values_.empty()) {
    for (const std::uint32_t size : sizes_) count_.small += size <= 2 ? size : 0;
  }
  drawn_labels_.clear();
  for (const std::uint32_t i : kept_) drawn_labels_.push_back(labels_[i]);
  mark_ones(drawn_labels_, score_ == Score::ranks, ones_);
  order_.add(ones_);
  if (score_ == Score::ranks) {
    rank_rows(rows);
  } else {
    count_labels();
  }
}

void Ledger::count_labels() {
  positive_.assign(sizes_.size() * classes_, 0);
  of_class_.resize(labels_.size());
  for (const std::uint32_t i : kept_) {
    of_class_[i] = static_cast<std::uint32_t>(labels_[i]);
    ++positive_[stratum_[i] * classes_ + of_class_[i]];
  }
}

// Ties are broken at random, by the number of the row, so that ranks are exchangeable when labels
// are.
void Ledger::rank_rows(const Rows& rows) {
  ranks_.assign(rows.size(), 0.0);
  order_of_ = kept_;
  const auto draw = [&](std::uint32_t i) { return mix64(seed_ + row_number(i)); };
  std::sort(order_of_.begin(), order_of_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (stratum_[a] != stratum_[b]) return stratum_[a] < stratum_[b];
    return labels_[a] != labels_[b] ? labels_[a] < labels_[b] : draw(a) < draw(b);
  });
  for (std::size_t at = 0, first = 0; at < order_of_.size(); ++at) {
    if (stratum_[order_of_[at]] != stratum_[order_of_[first]]) first = at;
    ranks_[order_of_[at]] = static_cast<double>(at - first);
  }
}

bool Ledger::in_every_row(std::span<const Occurrence> occurrences) const {
  if (occurrences.size() < drawn_rows_) return false;
  std::size_t weighed = 0;
  for (const Occurrence& one : occurrences) weighed += stratum_[one.row] != kNone;
  return weighed == drawn_rows_;
}

// A column of numbers that every row has is split at its mean so far.
void Ledger::observe(Record& record, const Rows& rows, std::span<const Occurrence> occurrences) {
  const bool split = in_every_row(occurrences);
  touched_.clear();
  double sum = 0.0;
  std::uint64_t met = 0;
  for (const Occurrence& one : occurrences) {
    const std::uint32_t stratum = stratum_[one.row];
    if (stratum == kNone) continue;
    ++met;
    sum += static_cast<double>(one.value);
    if (const std::uint64_t own = row_hashes_[one.row]; own < record.sample.limit) {
      const std::uint64_t place = shared_ ? 0 : count_.rows + one.row + 1;
      record.sample.add(row_number(one.row), own,
                        rows.places.empty() ? place : rows.places[one.row]);
    }
    if (split && (record.rows == 0 || !(one.value > record.mean))) continue;
    if (present_[stratum]++ == 0) touched_.push_back(stratum);
    if (score_ == Score::ranks) {
      score_sums_[stratum] += ranks_[one.row];
    } else {
      score_sums_[stratum] += of_class_[one.row] == record.label ? 1.0 : 0.0;
    }
  }
  if (met == 0) return;
  score_presence(record);
  record.rows += met;
  const double mean = static_cast<double>(record.mean);
  record.mean = static_cast<float>(mean + (sum - mean * static_cast<double>(met)) /
                                              static_cast<double>(record.rows));
}

void Ledger::score_presence(Record& record) {
  std::sort(touched_.begin(), touched_.end());  // whatever the order of the rows
  const double bet = bet_of(record);
  double shift = static_cast<double>(record.shift);
  double variance = static_cast<double>(record.variance);
  for (const std::uint32_t stratum : touched_) {
    const std::size_t b = sizes_[stratum], n = present_[stratum];
    const double score = score_sums_[stratum];
    const double used = record.tested() ? bet : 0.0;
    const Gain gain = score_ == Score::ranks
                          ? gain_of_ranks(b, n, score, used)
                          : gain_of_labels(b, positive_[stratum * classes_ + record.label], n,
                                           static_cast<std::size_t>(score), used);
    record.log_e += gain.log_gain;
    shift += gain.shift;
    variance += gain.variance;
    present_[stratum] = 0;
    score_sums_[stratum] = 0.0;
  }
  record.shift = static_cast<float>(shift);
  record.variance = static_cast<float>(variance);
  if (record.variance > kLong) {  // only their ratio is used from here on
    record.shift /= 2.0F;
    record.variance /= 2.0F;
  }
}

void Ledger::leave(std::size_t heap, Record& record) {
  if (!record.live) return;
  if (shared_ && record.tested()) {
    parked_[heap].push_back(record);
  } else {
    bank_.take_back(record);
  }
  record.live = false;
}

void Ledger::follow(const Selection& selection) {
  struct Change {
    Key key;
    std::uint32_t heap, slot;
  };
  std::vector<Change> left, entered;
  for (std::size_t g = 0; g < records_.size(); ++g) {
    const TopK& top = selection.top(g);
    auto& records = records_[g];
    if (records.size() < top.size()) records.resize(top.size());
    for (std::size_t slot = 0; slot < top.size(); ++slot) {
      const Key key = top.key(static_cast<std::int32_t>(slot));
      const Record& record = records[slot];
      if (record.live && record.key == key) continue;
      const auto heap = static_cast<std::uint32_t>(g), at = static_cast<std::uint32_t>(slot);
      if (record.live) left.push_back({record.key, heap, at});
      entered.push_back({key, heap, at});
    }
  }
  // In an order that no slot has a part in: the sum of what comes back depends on it.
  std::sort(left.begin(), left.end(), [](const Change& a, const Change& b) {
    return a.key != b.key ? a.key < b.key : a.heap < b.heap;
  });
  for (const Change& change : left) leave(change.heap, records_[change.heap][change.slot]);
  for (const Change& change : entered) {
    const TopK& top = selection.top(change.heap);
    Record& record = records_[change.heap][change.slot];
    record = Record{};
    record.key = change.key;
    record.live = true;
    record.since = count_.rows;
    auto& parked = parked_[change.heap];
    const auto known = std::find_if(parked.begin(), parked.end(),
                                    [&](const Record& r) { return r.key == change.key; });
    if (known != parked.end()) {
      record = *known;
      parked.erase(known);
      continue;
    }
    if (score_ == Score::ranks) continue;
    if (records_.size() > 1) {
      record.label = change.heap;
    } else if (classes_ > 1) {
      const ConstReals weights = top.weights(static_cast<std::int32_t>(change.slot));
      record.label = weights.size() == 1
                         ? 1
                         : static_cast<std::uint32_t>(
                               std::max_element(weights.begin(), weights.end()) - weights.begin());
    }
  }
  if (!frozen_ && !shared_) start_tests();
}

void Ledger::start_tests() {
  std::erase_if(drawn_, [&](const Drawn& drawn) {
    const Record& record = records_[drawn.heap][drawn.slot];
    return record.key != drawn.key || !may_start(record);
  });
  std::sort(drawn_.begin(), drawn_.end(), [](const Drawn& a, const Drawn& b) {
    return a.key != b.key ? a.key < b.key : a.heap < b.heap;
  });
  for (const Drawn& drawn : drawn_) {
    records_[drawn.heap][drawn.slot].stake = bank_.stake(slots());
  }
}

}  // namespace bear::evidence

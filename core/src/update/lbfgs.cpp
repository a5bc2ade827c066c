#include "bear/update/lbfgs.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

constexpr double kMeanRate = 0.05;  // of the running mean curvature
constexpr double kDampBelow = 0.2;  // share of the mean below which a pair is lifted
constexpr double kLeastCurvature = 1e-10;
constexpr std::size_t kScalars = 3;  // count, newest, mean curvature
constexpr const char* kUnfit = "the history of pairs does not fit together";

// A count that was kept as a double.
std::size_t whole(double number, double below) {
  if (!(number >= 0.0 && number < below) || number != std::floor(number)) {
    throw std::invalid_argument(kUnfit);
  }
  return static_cast<std::size_t>(number);
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Lbfgs::Lbfgs(std::size_t history, std::size_t classes)
    : history_(history),
      classes_(classes),
      pairs_(history),
      sr_(history * history),
      rr_(history * history) {}

void Lbfgs::reset() {
  for (auto& pair : pairs_) pair = Pair{};
  newest_ = count_ = 0;
  mean_curvature_ = 0.0;
  slot_of_.clear();
  slot_keys_.clear();
  slot_uses_.clear();
  free_slots_.clear();
  column_of_slot_.clear();
  slot_of_column_.clear();
}

// Marks, for the slots the active keys have, the column each stands in.
void Lbfgs::number(const ActiveSet& active) {
  for (const std::int32_t slot : slot_of_column_) {
    if (slot >= 0) column_of_slot_[static_cast<std::size_t>(slot)] = -1;
  }
  slot_of_column_.assign(active.size(), -1);
  if (count_ == 0) return;
  for (std::size_t a = 0; a < active.size(); ++a) {
    const std::int32_t slot = slot_of_.find(active.keys()[a]);
    slot_of_column_[a] = slot;
    if (slot >= 0) column_of_slot_[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(a);
  }
}

template <std::size_t N>
std::array<Lbfgs::Dots, N> Lbfgs::dots(const Pair& pair,
                                       const std::array<ConstReals, N>& vectors) const {
  std::array<Dots, N> sums{};
  for (std::size_t i = 0; i < pair.slots.size(); ++i) {
    const std::int32_t column = column_of_slot_[static_cast<std::size_t>(pair.slots[i])];
    if (column < 0) continue;
    const std::size_t at = static_cast<std::size_t>(column) * classes_;
    for (std::size_t c = 0; c < classes_; ++c) {
      for (std::size_t n = 0; n < N; ++n) {
        sums[n].s += pair.s[i * classes_ + c] * vectors[n][at + c];
        sums[n].r += pair.r[i * classes_ + c] * vectors[n][at + c];
      }
    }
  }
  return sums;
}

void Lbfgs::coefficients(ConstReals sg, ConstReals rg, Reals a, Reals c, double gam) {
  for (std::size_t q = 0; q < count_; ++q) {
    double sum = sg[q];
    for (std::size_t h = 0; h < q; ++h) sum -= a[h] * sr(ring(q), ring(h));
    a[q] = sum / sr(ring(q), ring(q));
  }
  for (std::size_t q = count_; q-- > 0;) {
    double sum = rg[q];
    for (std::size_t h = 0; h < count_; ++h) sum -= a[h] * rr(ring(q), ring(h));
    sum *= gam;
    for (std::size_t h = q + 1; h < count_; ++h) sum += c[h] * sr(ring(h), ring(q));
    c[q] = a[q] - sum / sr(ring(q), ring(q));
  }
}

void Lbfgs::direct(const Point& point, Reals z) {
  number(point.active);
  std::copy(point.gradient.begin(), point.gradient.end(), z.begin());
  if (count_ == 0) return;
  std::vector<double> sg(count_), rg(count_), a(count_), c(count_);
  for (std::size_t q = 0; q < count_; ++q) {
    const auto [with_g] = dots<1>(pairs_[ring(q)], {point.gradient});
    sg[q] = with_g.s;
    rg[q] = with_g.r;
  }
  const double gam = sr(newest_, newest_) / rr(newest_, newest_);
  coefficients(sg, rg, a, c, gam);
  for (double& value : z) value *= gam;
  for (std::size_t q = 0; q < count_; ++q) {
    const Pair& pair = pairs_[ring(q)];
    for (std::size_t i = 0; i < pair.slots.size(); ++i) {
      const std::int32_t column = column_of_slot_[static_cast<std::size_t>(pair.slots[i])];
      if (column < 0) continue;
      double* at = z.data() + static_cast<std::size_t>(column) * classes_;
      for (std::size_t k = 0; k < classes_; ++k) {
        at[k] += c[q] * pair.s[i * classes_ + k] - gam * a[q] * pair.r[i * classes_ + k];
      }
    }
  }
}

// Guards, in this order: length, Powell damping against the mean curvature, positive curvature.
bool Lbfgs::admissible(ConstReals s, Guards& guards) {
  const double ss = dot(s, s), rr = dot(change_, change_);
  if (!(ss > 0.0) || !(rr > 0.0) || !std::isfinite(ss) || !std::isfinite(rr)) {
    ++guards.flat_pairs;
    return false;
  }
  const double kappa = dot(change_, s) / ss;
  const double positive = std::max(kappa, 0.0);
  mean_curvature_ = mean_curvature_ == 0.0
                        ? positive
                        : mean_curvature_ + kMeanRate * (positive - mean_curvature_);
  if (kappa < kDampBelow * mean_curvature_) {
    const double theta = (1.0 - kDampBelow) * mean_curvature_ / (mean_curvature_ - kappa);
    for (std::size_t i = 0; i < s.size(); ++i) {
      change_[i] = theta * change_[i] + (1.0 - theta) * mean_curvature_ * s[i];
    }
    ++guards.damped_pairs;
  }
  if (dot(change_, s) <= kLeastCurvature * ss) {
    ++guards.rejected_pairs;
    return false;
  }
  return true;
}

void Lbfgs::observe(const ActiveSet& active, ConstReals step, ConstReals change, Guards& guards) {
  change_.assign(change.begin(), change.end());
  if (!admissible(step, guards)) return;
  const std::size_t place = count_ == 0 ? 0 : (newest_ + 1) % history_;
  for (std::size_t q = 0; q < count_; ++q) {
    const std::size_t i = ring(q);
    if (i == place) continue;  // the oldest, about to be replaced
    const auto [with_r, with_s] = dots<2>(pairs_[i], {change_, step});
    sr(i, place) = with_r.s;
    sr(place, i) = with_s.r;
    rr(i, place) = rr(place, i) = with_r.r;
  }
  sr(place, place) = dot(step, change_);
  rr(place, place) = dot(change_, change_);
  newest_ = place;
  count_ = std::min(count_ + 1, history_);
  store(active, step);
  ++guards.stored_pairs;
}

void Lbfgs::forget(Pair& pair) {
  for (const std::int32_t slot : pair.slots) {
    const auto i = static_cast<std::size_t>(slot);
    if (--slot_uses_[i] > 0) continue;
    slot_of_.erase(slot_keys_[i]);
    free_slots_.push_back(slot);
  }
  pair.slots.clear();
}

// A slot for a key that has none.
std::int32_t Lbfgs::take_slot(Key key) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::int32_t>(slot_keys_.size()));
    slot_keys_.push_back(0);
    slot_uses_.push_back(0);
    column_of_slot_.push_back(-1);
  }
  const std::int32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slot_keys_[static_cast<std::size_t>(slot)] = key;
  slot_of_.insert(key, slot);
  return slot;
}

void Lbfgs::store(const ActiveSet& active, ConstReals s) {
  Pair& pair = pairs_[newest_];
  // New keys take their slots before the old pair gives its own back, so that no slot of a key
  // of this batch changes hands in between.
  std::vector<std::int32_t> slots(active.size());
  for (std::size_t a = 0; a < active.size(); ++a) {
    std::int32_t slot = slot_of_column_[a];
    if (slot < 0) slot = take_slot(active.keys()[a]);
    ++slot_uses_[static_cast<std::size_t>(slot)];
    slots[a] = slot;
  }
  forget(pair);
  pair.slots = std::move(slots);
  pair.s.assign(s.begin(), s.end());
  pair.r = change_;
}

// Numbers: the scalars, both tables of inner products, the sizes of all places of the ring, then
// s and r of each place. Keys: those of each place.
Fields Lbfgs::state() const {
  std::vector<double> numbers{static_cast<double>(count_), static_cast<double>(newest_),
                              mean_curvature_};
  std::vector<std::uint64_t> keys;
  append(numbers, sr_);
  append(numbers, rr_);
  for (const auto& pair : pairs_) numbers.push_back(static_cast<double>(pair.slots.size()));
  for (const auto& pair : pairs_) {
    for (const std::int32_t slot : pair.slots) {
      keys.push_back(slot_keys_[static_cast<std::size_t>(slot)]);
    }
    numbers.insert(numbers.end(), pair.s.begin(), pair.s.end());
    numbers.insert(numbers.end(), pair.r.begin(), pair.r.end());
  }
  return {{"pairs.numbers", numbers}, {"pairs.keys", keys}};
}

void Lbfgs::restore(const Fields& fields) {
  reset();
  const auto found = fields.find("pairs.keys");
  if (found == fields.end()) return;
  const auto* const held = std::get_if<std::vector<std::uint64_t>>(&found->second);
  const auto* const given = std::get_if<std::vector<double>>(&fields.at("pairs.numbers"));
  if (held == nullptr || given == nullptr) throw std::invalid_argument(kUnfit);
  const auto& keys = *held;
  const auto& numbers = *given;
  const std::size_t table = history_ * history_, sizes = kScalars + 2 * table;
  std::size_t at = sizes + history_;
  if (numbers.size() != at + 2 * keys.size() * classes_) {
    throw std::invalid_argument(kUnfit);
  }
  const auto begin = numbers.begin();
  const auto part = [&](std::size_t start, std::size_t n) {
    const auto from = begin + static_cast<std::ptrdiff_t>(start);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(n));
  };
  std::size_t first = 0;
  for (std::size_t place = 0; place < history_; ++place) {
    const double left = static_cast<double>(keys.size() - first);
    const std::size_t n = whole(numbers[sizes + place], left + 1.0);
    Pair& pair = pairs_[place];
    for (std::size_t i = first; i < first + n; ++i) {
      const std::int32_t known = slot_of_.find(keys[i]);
      const std::int32_t slot = known < 0 ? take_slot(keys[i]) : known;
      ++slot_uses_[static_cast<std::size_t>(slot)];
      pair.slots.push_back(slot);
    }
    pair.s = part(at, n * classes_);
    pair.r = part(at + n * classes_, n * classes_);
    at += 2 * n * classes_;
    first += n;
  }
  if (first != keys.size()) {
    throw std::invalid_argument(kUnfit);
  }
  if (history_ == 0) return;
  count_ = whole(numbers[0], static_cast<double>(history_ + 1));
  newest_ = whole(numbers[1], static_cast<double>(history_));
  mean_curvature_ = numbers[2];
  sr_ = part(kScalars, table);
  rr_ = part(kScalars + table, table);
}

std::unique_ptr<Update> make_lbfgs(const Parts& parts) {
  return std::make_unique<Gradient>(
      parts, std::make_unique<Lbfgs>(parts.recipe.history, parts.loss.classes()));
}

}  // namespace bear

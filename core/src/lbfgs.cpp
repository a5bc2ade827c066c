#include "bear/direction/lbfgs.hpp"

#include <algorithm>
#include <cmath>

namespace bear {

namespace {

constexpr double kMeanRate = 0.05;  // of the running mean curvature
constexpr double kDampBelow = 0.2;  // share of the mean below which a pair is lifted
constexpr double kLeastCurvature = 1e-10;

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

std::unique_ptr<Direction> make_lbfgs(std::size_t history, std::size_t classes) {
  return std::make_unique<Lbfgs>(history, classes);
}

}  // namespace bear

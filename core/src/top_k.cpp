#include <algorithm>
#include <cmath>

#include "bear/selection.hpp"

namespace bear {

namespace {

constexpr double kMagnitudeRate = 0.1;

}  // namespace

TopK::TopK(std::size_t k, std::size_t width, Precision precision, std::uint64_t seed)
    : k_(k), width_(width), precision_(precision), slots_(0, seed) {
  checked_product(k, width, "k x classes");
}

void TopK::clear() {
  order_.clear();
  slots_.clear();
  free_.resize(keys_.size());
  for (std::size_t i = 0; i < free_.size(); ++i) {
    free_[i] = static_cast<std::int32_t>(free_.size() - 1 - i);
  }
}

// Room for one more: what a model takes in memory follows what it has selected, not what a file
// says it might.
void TopK::grow() {
  if (keys_.size() == keys_.capacity()) {
    const std::size_t room = std::min(k_, std::max<std::size_t>(2 * keys_.size(), 16));
    keys_.reserve(room);
    weights_.reserve(room * width_);
    norms_.reserve(room);
    bounds_.reserve(room);
    magnitudes_.reserve(room);
    names_.reserve(room);
    aliases_.reserve(room);
    positions_.reserve(room);
    order_.reserve(room);
    slots_.reserve(room);
  }
  free_.push_back(static_cast<std::int32_t>(keys_.size()));
  keys_.push_back(0);
  weights_.resize(weights_.size() + width_);
  norms_.push_back(0.0);
  bounds_.push_back(0.0);
  magnitudes_.push_back(1.0F);
  names_.emplace_back();
  aliases_.emplace_back();
  positions_.push_back(0);
}

bool TopK::less(std::int32_t a, std::int32_t b) const {
  const double x = bounds_[index(a)], y = bounds_[index(b)];
  return x != y ? x < y : key(a) > key(b);
}

// A bound that is a norm, and the least of all bounds, is the least norm.
std::int32_t TopK::smallest() {
  while (norm(order_.front()) != bounds_[index(order_.front())]) {
    set_bound(order_.front());
    sift_down(0);
  }
  return order_.front();
}

void TopK::put(std::size_t at, std::int32_t slot) {
  order_[at] = slot;
  positions_[index(slot)] = at;
}

void TopK::sift_up(std::size_t at) {
  const std::int32_t slot = order_[at];
  while (at > 0 && less(slot, order_[(at - 1) / 2])) {
    put(at, order_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  put(at, slot);
}

void TopK::sift_down(std::size_t at) {
  const std::int32_t slot = order_[at];
  for (std::size_t child = 2 * at + 1; child < size(); child = 2 * at + 1) {
    if (child + 1 < size() && less(order_[child + 1], order_[child])) ++child;
    if (!less(order_[child], slot)) break;
    put(at, order_[child]);
    at = child;
  }
  put(at, slot);
}

double TopK::narrow(double weight) const {
  return precision_ == Precision::float64 ? weight
                                          : static_cast<double>(static_cast<float>(weight));
}

void TopK::update(std::int32_t slot, double keep, ConstReals change) {
  double* at = weights_.data() + index(slot) * width_;
  for (std::size_t i = 0; i < width_; ++i) at[i] = narrow(keep * at[i] + change[i]);
  measure(slot);
}

void TopK::meet(std::int32_t slot, double square) {
  const double known = magnitude(slot) * magnitude(slot);
  const double now = std::sqrt(known + kMagnitudeRate * (square - known));
  magnitudes_[index(slot)] = static_cast<float>(now);
  measure(slot);
}

double TopK::measured(std::int32_t slot) const { return norm_of(weights(slot)) * magnitude(slot); }

void TopK::measure(std::int32_t slot) {
  const double norm = norms_[index(slot)] = measured(slot);
  if (norm >= bounds_[index(slot)]) return;
  set_bound(slot);
  sift_up(positions_[index(slot)]);
}

std::int32_t TopK::insert(Key key, ConstReals weights, std::string_view name, double magnitude) {
  if (free_.empty()) grow();
  const std::int32_t slot = free_.back();
  free_.pop_back();
  keys_[index(slot)] = key;
  names_[index(slot)] = name;
  aliases_[index(slot)].clear();
  std::transform(weights.begin(), weights.end(),
                 weights_.begin() + static_cast<std::ptrdiff_t>(index(slot) * width_),
                 [this](double weight) { return narrow(weight); });
  magnitudes_[index(slot)] = static_cast<float>(magnitude);
  norms_[index(slot)] = measured(slot);
  set_bound(slot);
  slots_.insert(key, slot);
  order_.push_back(slot);
  positions_[index(slot)] = size() - 1;
  sift_up(size() - 1);
  return slot;
}

void TopK::remove_smallest() {
  const std::int32_t slot = smallest();
  slots_.erase(key(slot));
  free_.push_back(slot);
  put(0, order_.back());
  order_.pop_back();
  if (!order_.empty()) sift_down(0);
}

void TopK::scale(double c) {
  for (const std::int32_t slot : order_) {
    double* at = weights_.data() + index(slot) * width_;
    for (std::size_t i = 0; i < width_; ++i) at[i] = narrow(c * at[i]);
    norms_[index(slot)] = measured(slot);
    set_bound(slot);
  }
  for (std::size_t at = size() / 2; at-- > 0;) sift_down(at);  // rounding may have made ties
}

std::vector<std::int32_t> TopK::ranked() const {
  std::vector<std::int32_t> slots = order_;
  std::sort(slots.begin(), slots.end(), [&](auto a, auto b) {
    return norm(a) != norm(b) ? norm(a) > norm(b) : key(a) < key(b);
  });
  return slots;
}

}  // namespace bear

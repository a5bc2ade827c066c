#include <algorithm>
#include <bit>
#include <cmath>

#include "bear/math.hpp"
#include "bear/selection.hpp"

namespace bear {

namespace {

constexpr double kLargestByte = 127.0;
constexpr int kLeastExponent = -127, kMostExponent = 127;

// The first half of a float, which the other half, at random in proportion, makes one larger.
double shorter(double weight, std::uint64_t random) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(weight));
  const auto added = static_cast<std::uint32_t>(random >> 48);
  return static_cast<double>(std::bit_cast<float>((bits + added) & 0xffff0000U));
}

// The least power of two that the largest weight is at most 127 times; 0 where all are zero.
double unit_of(ConstReals weights) {
  double largest = 0.0;
  for (const double weight : weights) largest = std::max(largest, std::abs(weight));
  if (largest == 0.0) return 0.0;
  int exponent = 0;
  const double part = std::frexp(largest / kLargestByte, &exponent);
  if (part == 0.5) --exponent;  // a power of two itself
  return std::ldexp(1.0, std::clamp(exponent, kLeastExponent, kMostExponent));
}

}  // namespace

TopK::TopK(std::size_t k, std::size_t width, Precision precision, std::uint64_t seed, Size size)
    : k_(k), width_(width), precision_(precision), size_(size), slots_(0, seed) {
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
    worths_.reserve(room);
    bounds_.reserve(room);
    levels_.reserve(room);
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
  worths_.push_back(0.0);
  bounds_.push_back(0.0);
  levels_.push_back(0);
  names_.emplace_back();
  aliases_.emplace_back();
  positions_.push_back(0);
}

bool TopK::less(std::int32_t a, std::int32_t b) const {
  const double x = bounds_[index(a)], y = bounds_[index(b)];
  return x != y ? x < y : key(a) > key(b);
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

// Bytes and short floats are rounded up or down at random in proportion, as in cells.
void TopK::narrow(std::int32_t slot) {
  const Reals own = Reals(weights_).subspan(index(slot) * width_, width_);
  const std::uint64_t bits = mix64(salt_ ^ key(slot));
  switch (precision_) {
    case Precision::float64:
      return;
    case Precision::float32:
      for (double& weight : own) weight = static_cast<double>(static_cast<float>(weight));
      return;
    case Precision::bfloat16:
      for (std::size_t i = 0; i < width_; ++i) own[i] = shorter(own[i], bits + i * kGolden);
      return;
    case Precision::int8:
      const double unit = unit_of(own);
      for (std::size_t i = 0; i < width_ && unit > 0.0; ++i) {
        own[i] = unit * std::floor(own[i] / unit + uniform(mix64(bits + i * kGolden)));
      }
  }
}

void TopK::update(std::int32_t slot, double keep, ConstReals change) {
  double* at = weights_.data() + index(slot) * width_;
  for (std::size_t i = 0; i < width_; ++i) at[i] = keep * at[i] + change[i];
  narrow(slot);
  measure(slot);
}

void TopK::measure(std::int32_t slot) {
  norms_[index(slot)] = size_of(this->weights(slot), size_);
  if (value(slot) >= bounds_[index(slot)]) return;
  set_bound(slot);
  sift_up(positions_[index(slot)]);
}

std::int32_t TopK::insert(Key key, ConstReals weights, std::string_view name) {
  if (free_.empty()) grow();
  const std::int32_t slot = free_.back();
  free_.pop_back();
  keys_[index(slot)] = key;
  names_[index(slot)] = name;
  aliases_[index(slot)].clear();
  std::copy(weights.begin(), weights.end(),
            weights_.begin() + static_cast<std::ptrdiff_t>(index(slot) * width_));
  narrow(slot);
  levels_[index(slot)] = 0;
  norms_[index(slot)] = size_of(this->weights(slot), size_);
  worths_[index(slot)] = 1.0;
  set_bound(slot);
  slots_.insert(key, slot);
  order_.push_back(slot);
  positions_[index(slot)] = size() - 1;
  sift_up(size() - 1);
  return slot;
}

void TopK::remove_front() {
  const std::int32_t slot = front();
  slots_.erase(key(slot));
  free_.push_back(slot);
  put(0, order_.back());
  order_.pop_back();
  if (!order_.empty()) sift_down(0);
}

void TopK::scale(double c) {
  for (const std::int32_t slot : order_) {
    double* at = weights_.data() + index(slot) * width_;
    for (std::size_t i = 0; i < width_; ++i) at[i] *= c;
    narrow(slot);
    norms_[index(slot)] = size_of(this->weights(slot), size_);
    set_bound(slot);
  }
  for (std::size_t at = size() / 2; at-- > 0;) sift_down(at);  // rounding may have made ties
}

std::vector<std::int32_t> TopK::ranked() const {
  std::vector<std::int32_t> slots = order_;
  std::sort(slots.begin(), slots.end(), [&](auto a, auto b) {
    return value(a) != value(b) ? value(a) > value(b) : key(a) < key(b);
  });
  return slots;
}

}  // namespace bear

// What a run that stopped needs beyond its model to go on to the same bytes.
#include <cmath>

#include "bear/direction/lbfgs.hpp"
#include "bear/learner.hpp"

namespace bear {

namespace {

constexpr std::size_t kScalars = 3;  // count, newest, mean curvature
constexpr double kLargestCount = 9e15;

// A count that was kept as a double.
std::size_t whole(double number, double below) {
  if (!(number >= 0.0 && number < below) || number != std::floor(number)) {
    throw std::invalid_argument("the history of pairs does not fit together");
  }
  return static_cast<std::size_t>(number);
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void Direction::restore_history(const History& history) {
  if (!history.keys.empty() || !history.numbers.empty()) {
    throw std::invalid_argument("this direction keeps no history");
  }
}

// Numbers: the scalars, both tables of inner products, the sizes of all places of the ring, then
// s and r of each place. Keys: those of each place.
History Lbfgs::history() const {
  History out;
  out.numbers = {static_cast<double>(count_), static_cast<double>(newest_), mean_curvature_};
  append(out.numbers, sr_);
  append(out.numbers, rr_);
  for (const auto& pair : pairs_) out.numbers.push_back(static_cast<double>(pair.slots.size()));
  for (const auto& pair : pairs_) {
    for (const std::int32_t slot : pair.slots) {
      out.keys.push_back(slot_keys_[static_cast<std::size_t>(slot)]);
    }
    out.numbers.insert(out.numbers.end(), pair.s.begin(), pair.s.end());
    out.numbers.insert(out.numbers.end(), pair.r.begin(), pair.r.end());
  }
  return out;
}

void Lbfgs::restore_history(const History& history) {
  reset();
  const auto& numbers = history.numbers;
  const std::size_t table = history_ * history_, sizes = kScalars + 2 * table;
  std::size_t at = sizes + history_;
  if (numbers.size() != at + 2 * history.keys.size() * classes_) {
    throw std::invalid_argument("the history of pairs does not fit together");
  }
  const auto begin = numbers.begin();
  const auto part = [&](std::size_t start, std::size_t n) {
    const auto from = begin + static_cast<std::ptrdiff_t>(start);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(n));
  };
  std::size_t first = 0;
  for (std::size_t place = 0; place < history_; ++place) {
    const double left = static_cast<double>(history.keys.size() - first);
    const std::size_t n = whole(numbers[sizes + place], left + 1.0);
    Pair& pair = pairs_[place];
    for (std::size_t i = first; i < first + n; ++i) {
      const std::int32_t known = slot_of_.find(history.keys[i]);
      const std::int32_t slot = known < 0 ? take_slot(history.keys[i]) : known;
      ++slot_uses_[static_cast<std::size_t>(slot)];
      pair.slots.push_back(slot);
    }
    pair.s = part(at, n * classes_);
    pair.r = part(at + n * classes_, n * classes_);
    at += 2 * n * classes_;
    first += n;
  }
  if (first != history.keys.size()) {
    throw std::invalid_argument("the history of pairs does not fit together");
  }
  if (history_ == 0) return;
  count_ = whole(numbers[0], static_cast<double>(history_ + 1));
  newest_ = whole(numbers[1], static_cast<double>(history_));
  mean_curvature_ = numbers[2];
  sr_ = part(kScalars, table);
  rr_ = part(kScalars + table, table);
}

std::vector<double> Learner::watch() const {
  return {mean_loss_, mean_null_, static_cast<double>(blown_up_), counters_.gradient_norm,
          counters_.step_size};
}

void Learner::restore_watch(ConstReals watch) {
  if (watch.size() != 5) throw std::invalid_argument("the guards of a run are five numbers");
  blown_up_ = whole(watch[2], kLargestCount);
  mean_loss_ = watch[0];
  mean_null_ = watch[1];
  counters_.gradient_norm = watch[3];
  counters_.step_size = watch[4];
}

}  // namespace bear

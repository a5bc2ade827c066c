#include "bear/exact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "bear/key_row.hpp"
#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

// Its update is never asked: only cells and selection are.
Recipe widened(Recipe recipe) {
  recipe.precision = Precision::float64;
  recipe.update = Recipe::UpdateKind::gradient;
  return recipe;
}

template <class T>
std::span<T> cells_as(Learner& learner) {
  const auto bytes = learner.storage().bytes();
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// The numbers in the cells of a learner, in double precision.
class Numbers {
 public:
  explicit Numbers(Learner& learner)
      : bytes_(learner.storage().bytes()),
        precision_(learner.recipe().precision),
        counted_(learner.storage().counting() != nullptr) {
    if (precision_ == Precision::int8) unit_ = learner.storage().numbers()[0];
  }

  std::size_t size() const {
    switch (precision_) {
      case Precision::float64:
        return bytes_.size() / sizeof(double);
      case Precision::float32:
        return bytes_.size() / sizeof(float);
      default:
        return bytes_.size();
    }
  }

  // Those from one on.
  void read(std::size_t from, Reals to) const {
    switch (precision_) {
      case Precision::float64:
        return read_as<double>(from, to);
      case Precision::float32:
        return read_as<float>(from, to);
      default:
        return counted_ ? read_as<CountedByte>(from, to) : read_as<std::int8_t>(from, to);
    }
  }

 private:
  template <class T>
  void read_as(std::size_t from, Reals to) const {
    const T* const cells = reinterpret_cast<const T*>(bytes_.data()) + from;
    const double unit = unit_;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = unit * static_cast<double>(cells[i]);
  }

  std::span<const std::byte> bytes_;
  Precision precision_;
  bool counted_;
  double unit_ = 1.0;
};

// Some keys of each group, where they stand, and all numbers that stand there.
class Taken {
 public:
  Taken(Learner& wide, const std::vector<Keys>& keys) : wide_(wide) {
    if (keys.size() != wide.selection().groups()) {
      throw std::invalid_argument("keys must be given for each group");
    }
    for (const Keys group : keys) {
      rows_.push_back(std::make_unique<KeyRow>(group, wide.recipe().seed));
      wide.storage().locate(rows_.back()->active(), places_.emplace_back());
      for (const std::uint64_t place : places_.back().cells) list(compat::to_size(place / 2));
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  }

  // Places of numbers in the cells that a key may change, rising.
  const std::vector<std::size_t>& touched() const { return touched_; }

  // Weights of the keys by group. They are taken out of the cells of `wide`, where what is touched
  // must be as in those of the learner.
  std::vector<std::vector<double>> take_out(const Learner& learner) {
    std::vector<std::vector<double>> weights;
    for (std::size_t g = 0; g < rows_.size(); ++g) weights.push_back(take_out(learner, g));
    return weights;
  }

 private:
  void list(std::size_t cell) {
    for (std::size_t c = 0; c < wide_.classes(); ++c) {
      touched_.push_back(cell * wide_.classes() + c);
    }
  }

  std::vector<double> take_out(const Learner& learner, std::size_t group) {
    const TopK& top = learner.selection().top(group);
    const std::size_t first = learner.selection().first_class(group), width = top.width();
    const Keys keys = rows_[group]->active().keys();
    std::vector<double> weights(keys.size() * width), all(learner.classes());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::int32_t slot = top.find(keys[i]);
      wide_.storage().query_one(places_[group], i, all);
      auto own = ConstReals(all).subspan(first, width);
      if (slot < 0) {
        wide_.storage().admit(keys[i], first, own);
      } else if (learner.storage().exact()) {
        own = top.weights(slot);
      }
      std::copy(own.begin(), own.end(), weights.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
    return weights;
  }

  Learner& wide_;
  std::vector<std::unique_ptr<KeyRow>> rows_;
  std::vector<Places> places_;
  std::vector<std::size_t> touched_;
};

std::vector<double> counters_of(const Learner& learner) {
  const CountingCells* cells = learner.storage().counting();
  return cells == nullptr ? std::vector<double>{} : cells->counts();
}

// A learner whose keys were taken out: its numbers are read a block at a time, so that no more than
// one block of them is ever wide.
class Apart {
 public:
  // No learner stands for one that is zero throughout.
  Apart(Learner* learner, Learner& wide, Taken& taken) : taken_(taken) {
    if (learner == nullptr) return;
    numbers_.emplace(*learner);
    const auto cells = cells_as<double>(wide);
    if (numbers_->size() != cells.size()) throw std::invalid_argument("learners must be of a size");
    for (const std::size_t at : taken.touched()) numbers_->read(at, cells.subspan(at, 1));
    weights_ = taken.take_out(*learner);
    for (const std::size_t at : taken.touched()) left_.push_back(cells[at]);
    counts_ = counters_of(*learner);
    learner_ = learner;
  }

  // What is known of the weights of keys, and of numbers in the cells.
  void known(const Keys& keys, std::size_t group, std::size_t from, Reals to) const {
    std::fill(to.begin(), to.end(), 0.0);
    if (learner_ == nullptr) return;
    const TopK& top = learner_->selection().top(group);
    const KeyHash hash(learner_->recipe().seed);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Key key = keys[(from + i) / top.width()];
      const std::int32_t slot = top.find(key);
      const std::size_t at =
          compat::to_size(bucket_of(hash(key), learner_->recipe().width)) * learner_->classes();
      to[i] = slot < 0 ? known_at(at)
                       : learner_->update().information(Counter::count_at(top.level(slot)), true);
    }
  }
  void known(std::size_t from, Reals to) const {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = known_at(from + i);
  }

  void weights(std::size_t group, std::size_t from, Reals to) const {
    if (!numbers_) return std::fill(to.begin(), to.end(), 0.0);
    std::copy_n(weights_[group].begin() + static_cast<std::ptrdiff_t>(from), to.size(), to.begin());
  }

  void cells(std::size_t from, Reals to) const {
    if (!numbers_) return std::fill(to.begin(), to.end(), 0.0);
    numbers_->read(from, to);
    const auto& touched = taken_.touched();
    const auto first = std::lower_bound(touched.begin(), touched.end(), from);
    auto left = left_.begin() + (first - touched.begin());
    for (auto at = first; at != touched.end() && *at < from + to.size(); ++at) {
      to[*at - from] = *left++;
    }
  }

 private:
  double known_at(std::size_t at) const {
    if (counts_.empty()) return 0.0;
    const std::size_t word = std::min(at / Counter::kBytes, counts_.size() - 1);
    return learner_->update().information(counts_[word], false);
  }

  const Learner* learner_ = nullptr;
  std::vector<double> counts_;  // by word
  const Taken& taken_;
  std::optional<Numbers> numbers_;
  std::vector<std::vector<double>> weights_;
  std::vector<double> left_;  // of what is touched
};

// sum += share * (to - base); squares += those of the moves, in sums that need not wait for one
// another.
void add_moves(ConstReals base, ConstReals to, double share, Reals sum,
               std::array<double, 4>& squares) {
  std::array<double, 4> own = squares;
  const auto one = [&](std::size_t i, double& square) {
    const double move = to[i] - base[i];
    square += move * move;
    sum[i] += share * move;
  };
  std::size_t i = 0;
  for (; i + 4 <= sum.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) one(i + j, own[j]);
  }
  for (; i < sum.size(); ++i) one(i, own[0]);
  squares = own;
}

constexpr std::size_t kBlock = 1024;  // four divides it

template <class Visit>
void each_block(Reals all, Visit visit) {
  for (std::size_t from = 0; from < all.size(); from += kBlock) {
    visit(from, all.subspan(from, std::min(kBlock, all.size() - from)));
  }
}

// mean = that of the moves of all parts away from the first, where they end; read(i, from, block)
// gives numbers of the first and of the parts. 0 to 1 says how far the mean is stretched to the
// length of the moves.
template <class Read>
void average_into(Reals mean, ConstReals shares, double stretch, Read read) {
  std::vector<std::array<double, 4>> squares(shares.size());
  std::array<double, kBlock> base_block{}, part_block{};
  double length = 0.0;
  each_block(mean, [&](std::size_t from, Reals sum) {
    const Reals base(base_block.data(), sum.size()), part(part_block.data(), sum.size());
    read(0, from, base);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      read(i + 1, from, part);
      add_moves(base, part, shares[i], sum, squares[i]);
    }
    for (const double move : sum) length += move * move;
  });
  double lengths = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    lengths += shares[i] * ((squares[i][0] + squares[i][1]) + (squares[i][2] + squares[i][3]));
  }
  const double whole = length > 0.0 ? std::sqrt(lengths / length) : 1.0;
  const double factor = 1.0 + stretch * (whole - 1.0);
  each_block(mean, [&](std::size_t from, Reals sum) {
    const Reals base(base_block.data(), sum.size());
    read(0, from, base);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = base[i] + factor * sum[i];
  });
}

double largest_of(ConstReals numbers) {
  std::array<double, 4> largest{};  // comparisons that need not wait for one another
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    largest[i % 4] = std::max(largest[i % 4], std::abs(numbers[i]));
  }
  return *std::max_element(largest.begin(), largest.end());
}

template <class Byte>
void round_to_bytes(ConstReals from, Learner& learner, double quantum, double writes) {
  using Number = Digits<Byte>;
  quantum = std::max(quantum, largest_of(from) / Number::kTop);
  const auto to = cells_as<Byte>(learner);
  const std::uint64_t salt =
      mix64(learner.recipe().seed + kGolden) + static_cast<std::uint64_t>(writes) * kGolden;
  for (std::size_t i = 0; i < to.size() && quantum > 0.0; ++i) {
    to[i] = Byte{};
    if (from[i] == 0.0) continue;  // as most of a wide sketch are
    const double draw = uniform(mix64(salt ^ (i * kGolden)));
    to[i] = Number::write(to[i], Number::round(from[i] / quantum, draw));
  }
  const double numbers[] = {quantum, writes};
  learner.storage().restore(numbers);
}

// What was counted before the start, and by every part since, in counts of the first part.
std::vector<double> add_counters(const std::vector<Learner*>& parts, const Learner* start) {
  const double unit = parts[0]->update().information(1.0, true);
  const auto counts = [&](const Learner* learner) {
    auto found = counters_of(*learner);
    const double factor = unit > 0.0 ? learner->update().information(1.0, true) / unit : 1.0;
    for (double& count : found) count *= factor;
    return found;
  };
  const auto before = start == nullptr ? std::vector<double>{} : counts(start);
  std::vector<double> sum = before;
  for (const Learner* part : parts) {
    const auto counted = counts(part);
    sum.resize(counted.size());
    for (std::size_t i = 0; i < counted.size(); ++i) {
      sum[i] += std::max(counted[i] - (before.empty() ? 0.0 : before[i]), 0.0);
    }
  }
  return sum;
}

// mean = that of the product of posteriors, each over the prior; the first is what all began from.
// known_sum = what the product knows. read and known give numbers of the first and of the parts.
// Posteriors are of one weight each and know nothing of what features share, so moves made for the
// same reason would add up to too long a step: with a limit it is no longer than theirs are.
template <class Read, class Known>
void multiply_into(Reals mean, Reals known_sum, ConstReals shares, double prior, bool limit,
                   Read read, Known known) {
  double length = 0.0, lengths = 0.0;
  std::array<double, kBlock> base_block{}, base_known{}, part_block{}, part_known{};
  each_block(mean, [&](std::size_t from, Reals sum) {
    const std::size_t n = sum.size();
    const Reals base(base_block.data(), n), part(part_block.data(), n);
    const Reals at_base(base_known.data(), n), at_part(part_known.data(), n);
    read(0, from, base);
    known(0, from, at_base);
    std::array<double, kBlock> total{};
    for (std::size_t i = 0; i < n; ++i) {
      total[i] = at_base[i];
      sum[i] = (prior + at_base[i]) * base[i];
    }
    for (std::size_t k = 1; k <= shares.size(); ++k) {
      read(k, from, part);
      known(k, from, at_part);
      for (std::size_t i = 0; i < n; ++i) {
        lengths += shares[k - 1] * (part[i] - base[i]) * (part[i] - base[i]);
        const double own = std::max(at_part[i], at_base[i]);
        total[i] += own - at_base[i];
        sum[i] += (prior + own) * part[i] - (prior + at_base[i]) * base[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] /= prior + total[i];
      length += (sum[i] - base[i]) * (sum[i] - base[i]);
    }
    if (!known_sum.empty())
      std::copy_n(total.begin(), n, known_sum.begin() + static_cast<std::ptrdiff_t>(from));
  });
  if (!limit || !(length > lengths)) return;
  const double factor = std::sqrt(lengths / length);
  each_block(mean, [&](std::size_t from, Reals sum) {
    const Reals base(base_block.data(), sum.size());
    read(0, from, base);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = base[i] + factor * (sum[i] - base[i]);
  });
}

}  // namespace

Reals Exact::cells() const { return cells_as<double>(*wide); }

Exact take_apart(Learner& learner, const std::vector<Keys>& keys) {
  Exact exact{
      {}, std::make_unique<Learner>(widened(learner.recipe())), counters_of(learner), {}, {}, {}};
  Taken taken(*exact.wide, keys);
  Numbers(learner).read(0, exact.cells());
  exact.weights = taken.take_out(learner);
  return exact;
}

Exact average(const std::vector<Learner*>& parts, ConstReals shares, Learner* start,
              const std::vector<Keys>& keys) {
  if (parts.empty() || shares.size() != parts.size()) {
    throw std::invalid_argument("there must be parts, and a share for each");
  }
  Exact mean{{},
             std::make_unique<Learner>(widened(parts[0]->recipe())),
             add_counters(parts, start),
             {},
             {},
             {}};
  Taken taken(*mean.wide, keys);
  const double stretch = start == nullptr ? 0.0 : 1.0;
  // Without a start, moves are counted from zero.
  std::vector<Apart> all{Apart(start, *mean.wide, taken)};
  for (Learner* part : parts) all.emplace_back(part, *mean.wide, taken);
  double prior = 0.0;
  std::vector<const Update*> updates;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    prior += shares[i] * parts[i]->update().prior();
    updates.push_back(&parts[i]->update());
  }
  const auto cells = [&](std::size_t i, std::size_t from, Reals to) { all[i].cells(from, to); };
  for (std::size_t g = 0; g < keys.size(); ++g) {
    const std::size_t width = parts[0]->selection().top(g).width();
    const auto read = [&](std::size_t i, std::size_t from, Reals to) {
      all[i].weights(g, from, to);
    };
    const Reals weights = mean.weights.emplace_back(keys[g].size() * width);
    auto& levels = mean.levels.emplace_back(keys[g].size());
    auto& worths = mean.worths.emplace_back(keys[g].size(), 1.0);
    if (!(prior > 0.0)) {
      average_into(weights, shares, stretch, read);
      continue;
    }
    std::vector<double> known(weights.size());
    multiply_into(
        weights, known, shares, prior, start != nullptr, read,
        [&](std::size_t i, std::size_t from, Reals to) { all[i].known(keys[g], g, from, to); });
    const double unit = parts[0]->update().information(1.0, true);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] = static_cast<std::uint8_t>(Counter::raised(0, known[i * width] / unit, 0.5));
      worths[i] = parts[0]->update().worth(levels[i]);
    }
  }
  if (prior > 0.0) {
    multiply_into(mean.cells(), {}, shares, prior, start != nullptr, cells,
                  [&](std::size_t i, std::size_t from, Reals to) { all[i].known(from, to); });
  } else {
    average_into(mean.cells(), shares, stretch, cells);
  }
  mean.state =
      parts[0]->update().merged(updates, shares, start == nullptr ? nullptr : &start->update());
  return mean;
}

void put_together(Learner& learner, Exact& exact, const Returned& returned, double quantum,
                  double writes) {
  const Reals cells = exact.cells();
  const std::size_t groups = learner.selection().groups();
  if (cells.size() != Numbers(learner).size() || returned.keys.size() != groups ||
      returned.weights.size() != groups) {
    throw std::invalid_argument("cells and keys must be those of the learner");
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t width = learner.selection().top(g).width();
    const std::size_t first = learner.selection().first_class(g);
    if (returned.weights[g].size() != returned.keys[g].size() * width) {
      throw std::invalid_argument("weights must be one per key and class");
    }
    for (std::size_t i = 0; i < returned.keys[g].size(); ++i) {
      exact.wide->storage().release(returned.keys[g][i], first,
                                    returned.weights[g].subspan(i * width, width));
    }
  }
  switch (learner.recipe().precision) {
    case Precision::float64:
      std::copy(cells.begin(), cells.end(), cells_as<double>(learner).begin());
      break;
    case Precision::float32:
      std::transform(cells.begin(), cells.end(), cells_as<float>(learner).begin(),
                     [](double cell) { return static_cast<float>(cell); });
      break;
    default:
      if (learner.storage().counting() == nullptr) {
        round_to_bytes<std::int8_t>(cells, learner, quantum, writes);
        break;
      }
      round_to_bytes<CountedByte>(cells, learner, quantum, writes);
      learner.storage().counting()->set_counts(exact.counters);
      break;
  }
}

}  // namespace bear

#include "bear/update/posterior.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <sstream>
#include <utility>

#include "bear/float_exp.hpp"
#include "bear/hash.hpp"
#include "bear/math.hpp"
#include "bear/storage/byte_cells.hpp"

namespace bear {

namespace {

// The constants of the rule; docs/explanation/steps.md says what each is worth.
constexpr double kFirstScale = 3.0, kMostScale = 30.0;  // prior variance of a row's margin
constexpr double kLeastScale = 0.001;                   // the same
constexpr double kCount = 1.0 / 32.0;                   // of the prior's information, in one count
constexpr std::size_t kMostEntries = 32768;             // of a minibatch, and
constexpr std::size_t kMostNumbers = std::size_t{1} << 22;  // with many classes, entries x classes
constexpr float kAgain = 0.2F;      // of what is known in a coordinate, beyond which to sweep again
constexpr double kSettled = 0.003;  // of the duals, that moves no more than this
constexpr int kMostSweeps = 50;
constexpr double kFollow = 0.05;    // change of log s after which weights follow it
constexpr double kClipped = 0.001;  // of the numbers in cells, that may be
constexpr double kNoiseMemory = 0.02;
constexpr float kWidth = 0.3926991F;  // pi / 8: sigmoid of a normal margin is that of a shorter one

constexpr double kLeastSize = 1e-30, kMostSize = 1e30;  // of what is kept in floats
constexpr double kExact = 1e-6;   // of the square of numbers: less is rounding
constexpr float kAlone = 0.999F;  // of the weight of a minibatch, in one row

// A number for each class, and zeros beyond them.
template <int N>
struct Lanes {
  explicit Lanes(int) {}
  float* data() { return v; }
  const float* data() const { return v; }
  float& operator[](int c) { return v[c]; }
  float operator[](int c) const { return v[c]; }
  alignas(N == 1 ? sizeof(float) : 4 * sizeof(float)) float v[static_cast<std::size_t>(N)] = {};
};
template <>
struct Lanes<0> {
  explicit Lanes(int n) : v(static_cast<std::size_t>(n)) {}
  float* data() { return v.data(); }
  const float* data() const { return v.data(); }
  float& operator[](int c) { return v[static_cast<std::size_t>(c)]; }
  float operator[](int c) const { return v[static_cast<std::size_t>(c)]; }
  std::vector<float> v;
};

inline void add_to(int n, float x, const float* from, float* to) {
  for (int c = 0; c < n; ++c) to[c] += x * from[c];
}

// Four sums in a fixed order, whatever the width of a vector.
template <class Value>
float sum_over(int n, const Value& value) {
  if (n == 1) return value(0);
  float sums[4] = {};
  for (int c = 0; c < n; c += 4) {
    for (int i = 0; i < 4; ++i) sums[i] += value(c + i);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
inline float product(int n, const float* a, const float* b) {
  return sum_over(n, [=](int c) { return a[c] * b[c]; });
}

// A draw from [0, 1) for each lane.
inline float lane_draw(std::uint64_t bits, int lane) {
  auto x = static_cast<std::uint32_t>(bits >> 16) + static_cast<std::uint32_t>(lane) * 0x9E3779B9U;
  if (lane > 0) {
    x ^= x >> 16, x *= 0x7FEB352DU, x ^= x >> 15, x *= 0x846CA68BU, x ^= x >> 16;
  }
  return static_cast<float>(x >> 8) * 0x1p-24F;
}
inline double count_draw(std::uint64_t bits) { return static_cast<double>(bits >> 48) * 0x1p-16; }

// A loss in floats, by its residuals y - p of a row; squared errors are in units of their noise.
template <int N>
struct RowLoss {
  int classes, lanes;
  bool squared;

  int n() const { return N > 0 ? N : lanes; }

  void residual(const float* m, float y, float* r) const {
    if constexpr (N == 1) {
      r[0] = squared ? y - m[0] : y - sigmoid_of(m[0]);
    } else {
      float top = m[0];
      for (int c = 1; c < classes; ++c) top = std::max(top, m[c]);
      for (int c = 0; c < n(); ++c) r[c] = exp_of(m[c] - top);
      for (int c = classes; c < n(); ++c) r[c] = 0.0F;
      const float share = -1.0F / sum_over(n(), [=](int c) { return r[c]; });
      for (int c = 0; c < n(); ++c) r[c] *= share;
      r[static_cast<int>(y)] += 1.0F;
    }
  }

  // Of the loss, the mean over classes.
  float curvature(const float* r, float y) const {
    if (squared) return 1.0F;
    if constexpr (N == 1) {
      return std::max(std::abs(r[0]) * (1.0F - std::abs(r[0])), 1e-6F);
    } else {
      const float own = 1.0F - r[static_cast<int>(y)];  // the probability of the label
      const float square = product(n(), r, r) - (1.0F - own) * (1.0F - own) + own * own;
      return std::max(1.0F - square, 1e-6F) / static_cast<float>(classes);
    }
  }
  // That along a change of all classes that a weight may make.
  float widest(const float* r, float y) const {
    return curvature(r, y) * std::max(static_cast<float>(classes) / 2.0F, 1.0F);
  }
  // Second derivative along u.
  float bend(const float* r, float y, const float* u) const {
    if constexpr (N == 1) {
      return curvature(r, y) * u[0] * u[0];
    } else {
      const int label = static_cast<int>(y);
      const float along = product(n(), r, u) - u[label];  // r less the label is -p
      const float square =
          u[label] * u[label] - sum_over(n(), [=](int c) { return r[c] * u[c] * u[c]; });
      return std::max(square - along * along, 0.0F);  // but for rounding it is not below 0
    }
  }

  // a = the residual at f + k a.
  void dual(const float* f, float k, float y, float* a) const {
    if constexpr (N == 1) {
      if (squared) {
        a[0] = (y - f[0]) / (1.0F + k);
        return;
      }
      // Two steps of Newton on u = f + k a, labels turned to 1, from where p bends or near it.
      const float side = y > 0.5F ? 1.0F : -1.0F, least = side * f[0];
      float u = std::max(least, std::min(least + k, 0.0F)), p = sigmoid_of(-u);
      for (int i = 0; i < 2; ++i) {
        u -= (u - least - k * p) / (1.0F + k * p * (1.0F - p));
        p = sigmoid_of(-u);
      }
      a[0] = side * p;
    } else {
      // One curvature for all classes: half of sum p (1 - p), then that of the last step.
      Lanes<N> at(n()), now(n()), r(n());
      std::copy_n(f, n(), at.data());
      std::fill_n(a, n(), 0.0F);
      residual(f, y, r.data());
      float h = widest(r.data(), y);
      for (int i = 0; i < 6; ++i) {
        const float size = 1.0F / (1.0F + h * k);
        float fall = 0.0F, square = 0.0F;
        for (int c = 0; c < n(); ++c) {
          now[c] = (r[c] - a[c]) * size;
          a[c] += now[c];
          at[c] += k * now[c];
        }
        square = k * product(n(), now.data(), now.data());
        fall = product(n(), now.data(), r.data());
        const Lanes<N> step = now;
        residual(at.data(), y, now.data());
        if (square > 1e-12F) {
          h = std::max((fall - product(n(), step.data(), now.data())) / square, 1e-4F);
        }
        r = now;
      }
      std::copy_n(r.data(), n(), a);
    }
  }
};

enum : std::size_t { kSelected = 0, kCells = 1 };

template <int N>
class Posterior final : public Update {
 public:
  explicit Posterior(const Parts& parts)
      : parts_(parts),
        cells_(*parts.storage.counting()),
        classes_(static_cast<int>(parts.loss.classes())),
        lanes_(classes_ == 1 ? 1 : (classes_ + 7) / 8 * 8),
        loss_{classes_, lanes_, parts.recipe.loss == Recipe::LossKind::squared},
        hash_(parts.recipe.seed) {
    state_.offset.resize(parts.loss.classes());
    state_.noise = loss_.squared ? 0.0 : 1.0;
  }

  double solve(const BatchView& batch, const Before& before) override {
    batch_ = batch;
    next_ = state_;
    weigh();
    meet_values();
    tabulate();
    number_keys();
    read_weights();
    split_rows();
    if (before.selected != nullptr) list(*before.selected);
    if (!before.selected_margins.empty() && per_class()) predict_by_class(before.selected_margins);
    find_margins();
    predict(before);
    residual_.resize(before.margins.size());
    const double value =
        parts_.loss.gradient(before.margins, {batch.labels, batch.weights}, residual_);
    start_constant();
    start_noise();
    learn_scale();
    sweep();
    move_constants();
    move_weights(value);
    return value;
  }

  void write() override {
    parts_.selection.draw_from(parts_.counters.batches);
    draws_ = mix64(parts_.recipe.seed ^ mix64(parts_.counters.batches + 1));
    if (cells_.grain() == 0.0 && next_.scale > 0.0) {
      cells_.set_grain(std::sqrt(next_.scale * next_.noise) / 127.0);
    }
    while (clipped() > kClipped) cells_.double_quantum();
    write_cells();
    write_selected();
    for (std::size_t c = 0; c < state_.offset.size(); ++c) {
      const double own = constant_[c], others = constant_[static_cast<std::size_t>(n()) + c];
      if (parts_.recipe.intercept) {
        parts_.intercept[c] = shift_ + own + others;
        next_.offset[c] = loss_.squared ? state_.offset[c] - others : -others;
      }
    }
    state_ = next_;
    select();
    follow();
  }

  std::size_t most_entries() const override {
    return std::min(kMostEntries, kMostNumbers / static_cast<std::size_t>(n()));
  }

  ConstReals selected_offset() const override { return state_.offset; }
  void move_selected_offset(ConstReals change) override {
    for (std::size_t c = 0; c < change.size(); ++c) state_.offset[c] += change[c];
  }

  double prior() const override { return state_.scale > 0.0 ? 1.0 / state_.scale : 0.0; }
  double information(double count, bool selected) const override {
    return state_.unit * (selected ? count : count / sharing());
  }

  // What was summed up is added up, that of the start once; all else is a mean.
  Fields merged(const std::vector<const Update*>& parts, ConstReals shares,
                const Update* start) const override {
    PosteriorState sum = static_cast<const Posterior*>(parts[0])->state_;
    const double unit = sum.unit;
    for (const auto& [name, number] : kNames) sum.*number = 0.0;
    std::fill(sum.offset.begin(), sum.offset.end(), 0.0);
    const auto add = [&](const Update* part, double share, double often) {
      const PosteriorState& own = static_cast<const Posterior*>(part)->state_;
      for (const auto& [name, number] : kNames) sum.*number += share * own.*number;
      for (const auto number : kSums) sum.*number += (often - share) * own.*number;
      for (std::size_t c = 0; c < sum.offset.size(); ++c) sum.offset[c] += share * own.offset[c];
    };
    for (std::size_t i = 0; i < parts.size(); ++i) add(parts[i], shares[i], 1.0);
    if (start != nullptr) add(start, 0.0, 1.0 - static_cast<double>(parts.size()));
    for (const auto number : kSums) {
      if (number != &PosteriorState::product) sum.*number = std::max(sum.*number, 0.0);
    }
    sum.unit = unit;
    return fields_of(sum);
  }

  Fields state(bool /*exact*/) const override { return fields_of(state_); }

  // After cells and selection.
  void restore(const Fields& fields) override {
    for (const auto& [name, number] : kNames) {
      state_.*number = numbers_of(fields, name, 1)[0];
      if (!(state_.*number >= 0.0) && number != &PosteriorState::product) {
        throw std::invalid_argument(std::string(name) + " must not be below 0");
      }
    }
    state_.offset = numbers_of(fields, "offset", state_.offset.size());
    for (std::size_t g = 0; g < parts_.selection.groups(); ++g) {
      TopK& top = parts_.selection.top(g);
      for (const std::int32_t slot : top.ranked()) top.set_worth(slot, worth_of(top.level(slot)));
    }
  }

  double worth(std::size_t level) const override { return worth_of(level); }
  double mean_worth() const override {
    const auto counts = std::as_const(cells_).counts();
    double sum = 0.0;
    for (const double count : counts) sum += worth_of_count(count / sharing());
    return counts.empty() ? worth_of_count(0.0) : sum / static_cast<double>(counts.size());
  }

 private:
  static constexpr std::pair<const char*, double PosteriorState::*> kNames[] = {
      {"scale", &PosteriorState::scale},
      {"followed", &PosteriorState::followed},
      {"unit", &PosteriorState::unit},
      {"squares", &PosteriorState::squares},
      {"rows", &PosteriorState::rows},
      {"bend", &PosteriorState::bend},
      {"noise", &PosteriorState::noise},
      {"known_selected", &PosteriorState::known_selected},
      {"known_cells", &PosteriorState::known_cells},
      {"selected_square", &PosteriorState::selected_square},
      {"cells_square", &PosteriorState::cells_square},
      {"product", &PosteriorState::product},
      {"doubt", &PosteriorState::doubt}};

  static constexpr double PosteriorState::* kSums[] = {
      &PosteriorState::squares,      &PosteriorState::rows,
      &PosteriorState::bend,         &PosteriorState::known_selected,
      &PosteriorState::known_cells,  &PosteriorState::selected_square,
      &PosteriorState::cells_square, &PosteriorState::product};

  static Fields fields_of(const PosteriorState& state) {
    Fields fields;
    for (const auto& [name, number] : kNames) fields[name] = std::vector<double>{state.*number};
    fields["offset"] = state.offset;
    return fields;
  }

  struct Entry {
    std::uint32_t column;
    float z;  // the value, then times the root of the variance
  };
  struct Row {
    std::uint32_t first, last;       // entries
    float q = 0, c = 0, spread = 0;  // z.z, z.mean, sum of z z V / s
  };
  // Of a coordinate: these, then its weights and their changes by class.
  enum : std::size_t { kVariance, kRoot, kMean, kKnown, kNumbers };
  struct Claim {
    std::uint64_t hash;
    std::uint32_t entry, column, first;  // first: of its numbers in moves_
    float size;
  };

  int n() const { return N > 0 ? N : lanes_; }
  std::size_t rows() const { return batch_.n_rows(); }
  std::size_t stride() const { return kNumbers + 2 * static_cast<std::size_t>(n()); }
  float* coordinate(std::size_t column) { return coordinates_.data() + column * stride(); }
  float* weights_at(float* at) const { return at + kNumbers; }
  float* change_at(float* at) const { return at + kNumbers + n(); }
  std::size_t lane_row(std::size_t i) const { return i * static_cast<std::size_t>(n()); }
  float* margin(std::size_t part, std::size_t i) { return margins_[part].data() + lane_row(i); }
  float* dual(std::size_t part, std::size_t i) { return duals_[part].data() + lane_row(i); }
  float* constant(std::size_t part) { return constant_.data() + lane_row(part); }
  std::size_t width() const { return parts_.recipe.width; }
  bool per_class() const { return parts_.selection.groups() > 1; }

  // Cells that are in use, to a counter.
  double sharing() const {
    const double used = static_cast<double>(cells_.used()) / static_cast<double>(cells_.size());
    return 1.0 + static_cast<double>(std::max(8 / classes_, 1) - 1) * used;
  }
  // V^-1/4 at the first s, but for a factor that all have.
  static double worth_of_count(double count) { return std::sqrt(std::sqrt(1.0 + kCount * count)); }
  static double worth_of(std::size_t level) { return worth_of_count(Counter::count_at(level)); }

  // Weights beside their mean so far, and as shares of the minibatch's.
  void weigh() {
    const Targets targets{batch_.labels, batch_.weights};
    const double total = targets.total();
    // A label that was learned before is less news the more often it was; of numbers the noise that
    // is left says how much a row tells.
    const double times = loss_.squared ? 1.0 : 1.0 + static_cast<double>(parts_.counters.passes);
    const double mean = total > 0.0 ? times * mean_weight(parts_.counters, targets) : 1.0;
    importance_.resize(rows());
    share_.resize(rows());
    labels_.resize(rows());
    total_ = static_cast<float>(total / mean);
    shift_ = loss_.squared && parts_.recipe.intercept ? parts_.intercept[0] : 0.0;
    float most = 0.0F;
    for (std::size_t i = 0; i < rows(); ++i) {
      importance_[i] = static_cast<float>(targets.weight(i) / mean);
      share_[i] = total > 0.0 ? static_cast<float>(targets.weight(i) / total) : 0.0F;
      labels_[i] = static_cast<float>(batch_.labels[i] - shift_);
      most = std::max(most, share_[i]);
    }
    centred_ = parts_.recipe.intercept && total > 0.0 && most < kAlone;
    constant_.assign(2 * static_cast<std::size_t>(n()), 0.0F);
    for (std::size_t c = 0; c < state_.offset.size() && !loss_.squared; ++c) {
      constant_[c] = static_cast<float>(parts_.intercept[c] + state_.offset[c]);
      constant_[static_cast<std::size_t>(n()) + c] = static_cast<float>(-state_.offset[c]);
    }
  }

  // The size of rows, which s is measured by; the first that is not 0 begins it.
  void meet_values() {
    const auto values =
        batch_.values.subspan(batch_.first_entry(), batch_.last_entry() - batch_.first_entry());
    double sums[4] = {};
    for (std::size_t e = 0; e < values.size(); ++e) {
      sums[e % 4] += static_cast<double>(values[e]) * static_cast<double>(values[e]);
    }
    next_.squares += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    next_.rows += static_cast<double>(rows());
    if (!(next_.squares > 0.0)) return;
    const double unit = next_.rows / next_.squares;
    if (next_.scale == 0.0) {
      next_.scale = std::clamp(kFirstScale * unit, kLeastSize, kMostSize);
      next_.followed = next_.scale;
      next_.unit = kCount / next_.scale;
    }
    next_.scale = within(next_.scale);
  }
  double within(double scale) const {
    const double unit = next_.rows / next_.squares;
    return std::clamp(std::clamp(scale, kLeastScale * unit, kMostScale * unit), kLeastSize,
                      kMostSize);
  }

  // Variances by level, so that no key takes a quotient or a root.
  void tabulate() {
    const double shared = sharing();
    for (std::size_t part : {kSelected, kCells}) {
      for (std::size_t level = 0; level <= Counter::kMostLevel; ++level) {
        const double count = Counter::count_at(level) / (part == kCells ? shared : 1.0);
        const double variance = next_.scale / (1.0 + next_.scale * next_.unit * count);
        variance_[part][level] = static_cast<float>(variance);
        root_[part][level] = static_cast<float>(std::sqrt(variance));
        worth_[part][level] = static_cast<float>(worth_of_count(count));
      }
    }
  }

  // Numbers what the entries address: the cell of a key, or its slot where it is selected. Loops of
  // their own, without a branch that depends on a key.
  void number_keys() {
    const std::size_t first = batch_.first_entry(), size = batch_.last_entry() - first;
    if (size >= std::size_t{1} << 30) {
      throw std::invalid_argument("a minibatch must hold fewer than 2^30 entries, got " +
                                  std::to_string(size));
    }
    const Key* const keys = batch_.keys.data() + first;
    hashes_.resize(size);
    places_.resize(size);
    columns_.resize(size);
    if (addresses_.size() < size + 2) addresses_.resize(size + 2);
    if (entries_.size() < size + 1) entries_.resize(size + 1), chosen_.resize(size + 1);
    const KeyHash hash = hash_;
    const std::uint64_t wide = width();
    std::uint64_t* const hashes = hashes_.data();
    std::uint64_t* const places = places_.data();
    for (std::size_t e = 0; e < size; ++e) hashes[e] = hash(keys[e]);
    for (std::size_t e = 0; e < size; ++e) places[e] = bucket_of(hashes[e], wide);
    for (std::size_t g = parts_.selection.groups(); g-- > 0;) {
      const TopK& top = parts_.selection.top(g);
      std::uint32_t* const may = chosen_.data();
      std::size_t listed = 0;
      for (std::size_t e = 0; e < size; ++e) {
        may[listed] = static_cast<std::uint32_t>(e);
        listed += top.may_hold(hashes[e]);
      }
      for (std::size_t i = 0; i < listed; ++i) {
        const std::uint32_t e = may[i];
        const std::int32_t slot = top.find(keys[e], hashes[e]);
        const std::uint64_t own = wide + g * top.k() + static_cast<std::uint64_t>(slot);
        places[e] = slot < 0 ? places[e] : own;
      }
    }
    const std::size_t capacity = std::bit_ceil(2 * size + 16);
    const int shift = 65 - static_cast<int>(std::bit_width(capacity));
    table_.assign(capacity, 0);
    std::uint32_t* const table = table_.data();
    std::uint64_t* const addresses = addresses_.data();  // after one that stands for none
    std::uint32_t* const entries = entries_.data();
    std::uint32_t* const chosen = chosen_.data();
    std::uint32_t* const columns = columns_.data();
    std::uint32_t met = 0, selected = 0;
    for (std::size_t e = 0; e < size; ++e) {
      const std::uint64_t address = places[e];
      std::size_t at = compat::to_size((address * kGolden) >> shift);
      std::uint32_t found = table[at];
      addresses[0] = address;
      while (addresses[found] != address) {
        at = (at + 1) & (capacity - 1);
        found = table[at];
      }
      const std::uint32_t fresh = found == 0;
      addresses[met + 1] = address;
      entries[met] = static_cast<std::uint32_t>(e);
      chosen[selected] = met;
      selected += fresh & static_cast<std::uint32_t>(address >= wide);
      met += fresh;
      const std::uint32_t number = found + (met & (0 - fresh));
      table[at] = number;
      columns[e] = number - 1;
    }
    size_ = met;
    chosen_size_ = selected;
  }
  std::uint64_t address(std::size_t column) const { return addresses_[column + 1]; }
  std::size_t group_of(std::uint64_t place) const {
    return per_class() ? compat::to_size((place - width()) / parts_.recipe.k) : 0;
  }
  std::int32_t slot_of(std::uint64_t place) const {
    return static_cast<std::int32_t>((place - width()) % std::max<std::size_t>(parts_.recipe.k, 1));
  }

  // All as if they were cells, then the selected once more.
  void read_weights() {
    coordinates_.resize(size_ * stride());
    const CountedByte* const bytes = cells_.first();
    const float quantum = static_cast<float>(cells_.grain());
    const std::size_t classes = static_cast<std::size_t>(classes_), last = width() - 1;
    const bool counting = cells_.counting();
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t at = compat::to_size(std::min<std::uint64_t>(address(j), last)) * classes;
      const std::size_t level = counting ? Counter::level_of(bytes + cells_.word_of(at)) : 0;
      float* const to = coordinate(j);
      to[kVariance] = variance_[kCells][level];
      to[kRoot] = root_[kCells][level];
      to[kMean] = to[kKnown] = 0.0F;
      float* const weights = weights_at(to);
      for (int c = 0; c < n(); ++c) {
        weights[c] =
            N == 1 || c < classes_
                ? quantum * static_cast<float>(bytes[at + static_cast<std::size_t>(c)].whole())
                : 0.0F;
      }
      std::fill_n(change_at(to), n(), 0.0F);
    }
    for (std::size_t i = 0; i < chosen_size_; ++i) {
      const std::size_t j = chosen_[i];
      const TopK& top = parts_.selection.top(group_of(address(j)));
      const std::int32_t slot = slot_of(address(j));
      float* const to = coordinate(j);
      to[kVariance] = variance_[kSelected][top.level(slot)];
      to[kRoot] = root_[kSelected][top.level(slot)];
      float* const weights = weights_at(to);
      if (per_class()) {
        read_by_class(j, weights);
        continue;
      }
      const ConstReals own = top.weights(slot);
      for (std::size_t c = 0; c < own.size(); ++c) weights[c] = static_cast<float>(own[c]);
    }
  }

  // A key that some classes have selected: of the others what its cell says.
  void read_by_class(std::size_t j, float* weights) const {
    const std::size_t e = entries_[j];
    const Key key = batch_.keys[batch_.first_entry() + e];
    const std::size_t at =
        compat::to_size(bucket_of(hashes_[e], width())) * static_cast<std::size_t>(classes_);
    const float unit = static_cast<float>(negative(hashes_[e]) ? -cells_.grain() : cells_.grain());
    for (std::size_t g = 0; g < parts_.selection.groups(); ++g) {
      const TopK& top = parts_.selection.top(g);
      const std::int32_t slot = top.find(key, hashes_[e]);
      weights[g] = slot < 0 ? unit * static_cast<float>(cells_.first()[at + g].whole())
                            : static_cast<float>(top.weights(slot)[0]);
    }
  }

  void split_rows() {
    const std::size_t first = batch_.first_entry(), size = columns_.size();
    for (auto& part : parts_entries_) part.resize(size + 1);
    for (auto& part : rows_) part.assign(rows(), {});
    Entry* const selected = parts_entries_[kSelected].data();
    Entry* const cells = parts_entries_[kCells].data();
    const float* const values = batch_.values.data() + first;
    std::uint32_t ends[2] = {0, 0};
    std::size_t e = 0;
    for (std::size_t i = 0; i < rows(); ++i) {
      const auto stop = static_cast<std::size_t>(batch_.indptr[i + 1]) - first;
      for (const std::size_t part : {kSelected, kCells}) rows_[part][i].first = ends[part];
      for (; e < stop; ++e) {
        const std::uint32_t is_cell = places_[e] < width();
        const std::uint32_t sign = static_cast<std::uint32_t>(hashes_[e]) << 31;
        selected[ends[kSelected]] = {columns_[e], values[e]};
        cells[ends[kCells]] = {
            columns_[e], std::bit_cast<float>(std::bit_cast<std::uint32_t>(values[e]) ^ sign)};
        ends[kSelected] += 1 - is_cell;
        ends[kCells] += is_cell;
      }
      for (const std::size_t part : {kSelected, kCells}) rows_[part][i].last = ends[part];
    }
  }

  void list(evidence::Occurrences& selected) const {
    const std::size_t groups = parts_.selection.groups();
    selected.start(batch_, hashes_, groups, parts_.recipe.k);
    for (std::size_t i = 0; i < rows(); ++i) {
      const Row& row = rows_[kSelected][i];
      for (std::uint32_t e = row.first; e < row.last; ++e) {
        const Entry& entry = parts_entries_[kSelected][e];
        if (!per_class()) {
          selected.add(0, slot_of(address(entry.column)), i, entry.z);
          continue;
        }
        const std::size_t at = entries_[entry.column];
        const Key key = batch_.keys[batch_.first_entry() + at];
        for (std::size_t g = 0; g < groups; ++g) {
          const std::int32_t slot = parts_.selection.top(g).find(key, hashes_[at]);
          if (slot >= 0) selected.add(g, slot, i, entry.z);
        }
      }
    }
    selected.finish();
  }

  void find_margins() {
    const float by_scale = next_.scale > 0.0 ? static_cast<float>(1.0 / next_.scale) : 0.0F;
    tilts_.assign(lane_row(rows()), 0.0F);
    for (const std::size_t part : {kSelected, kCells}) {
      margins_[part].resize(lane_row(rows()));
      duals_[part].assign(lane_row(rows()), 0.0F);
      for (std::size_t i = 0; i < rows(); ++i) {
        Row& row = rows_[part][i];
        Lanes<N> m(n()), tilt(n());
        float q = 0.0F, spread = 0.0F;
        const float share = share_[i];
        Entry* const entries = parts_entries_[part].data();
        for (std::uint32_t e = row.first; e < row.last; ++e) {
          float* const at = coordinate(entries[e].column);
          const float x = entries[e].z, left = at[kVariance] * by_scale, z = x * at[kRoot];
          add_to(n(), x, weights_at(at), m.data());
          add_to(n(), x * left, weights_at(at), tilt.data());
          at[kMean] += z * share;
          q += z * z;
          spread += z * z * left;
          entries[e].z = z;
        }
        row.q = q;
        row.spread = spread;
        for (int c = 0; c < n(); ++c) margin(part, i)[c] = m[c] + constant(part)[c];
        add_to(n(), 1.0F, tilt.data(), tilts_.data() + lane_row(i));
      }
    }
    if (!centred_) return;
    for (const std::size_t part : {kSelected, kCells}) {
      for (Row& row : rows_[part]) {
        const Entry* const entries = parts_entries_[part].data();
        float c = 0.0F;
        for (std::uint32_t e = row.first; e < row.last; ++e) {
          c += entries[e].z * coordinate(entries[e].column)[kMean];
        }
        row.c = c;
      }
    }
  }

  void predict(const Before& before) {
    const std::size_t classes = parts_.loss.classes();
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t c = 0; c < classes; ++c) {
        const double own = shift_ + static_cast<double>(margin(kSelected, i)[c]);
        before.margins[i * classes + c] = own + static_cast<double>(margin(kCells, i)[c]);
        if (before.selected_margins.empty() || per_class()) continue;
        const double offset = loss_.squared ? state_.offset[c] : 0.0;
        before.selected_margins[i * classes + c] = own + offset;
      }
    }
  }
  void predict_by_class(Reals margins) {
    for (std::size_t i = 0; i < rows(); ++i) {
      const Reals own = margins.subspan(i * state_.offset.size(), state_.offset.size());
      for (std::size_t c = 0; c < own.size(); ++c) {
        own[c] = static_cast<double>(constant(kSelected)[c]);
      }
      const Row& row = rows_[kSelected][i];
      for (std::uint32_t e = row.first; e < row.last; ++e) {
        const Entry& entry = parts_entries_[kSelected][e];
        const std::size_t at = entries_[entry.column];
        const Key key = batch_.keys[batch_.first_entry() + at];
        for (std::size_t g = 0; g < own.size(); ++g) {
          const TopK& top = parts_.selection.top(g);
          const std::int32_t slot = top.find(key, hashes_[at]);
          if (slot >= 0) own[g] += static_cast<double>(entry.z) * top.weights(slot)[0];
        }
      }
    }
  }

  // The first minibatch: the odds met, half a row of each label more; of numbers the mean.
  void start_constant() {
    if (!parts_.recipe.intercept || next_.known_selected > 0.0 || !(total_ > 0.0F)) return;
    Lanes<N> b(n()), r(n());
    float h = 0.0F;
    for (std::size_t i = 0; i < rows(); ++i) {
      const float y = labels_[i];
      if (loss_.squared) {
        b[0] += share_[i] * y;
      } else {
        b[N == 1 ? 0 : static_cast<int>(y)] += N == 1 ? importance_[i] * y : importance_[i];
      }
    }
    for (int c = 0; c < classes_ && !loss_.squared; ++c) {
      const float others = N == 1 ? total_ - b[c] + 0.5F : total_;
      b[c] = static_cast<float>(math::log(static_cast<double>((b[c] + 0.5F) / others)));
    }
    for (std::size_t i = 0; i < rows(); ++i) {
      loss_.residual(b.data(), labels_[i], r.data());
      h += share_[i] * loss_.curvature(r.data(), labels_[i]);
      add_to(n(), 1.0F, b.data(), margin(kSelected, i));
    }
    add_to(n(), 1.0F, b.data(), constant(kSelected));
    next_.known_selected = next_.known_cells = static_cast<double>(total_) * static_cast<double>(h);
  }

  // That of labels is what the loss says; of numbers at first all that is around their mean.
  void start_noise() {
    if (next_.noise > 0.0 || !(total_ > 0.0F)) return;
    double square = 0.0, around = 0.0;
    for (std::size_t i = 0; i < rows(); ++i) {
      const double y = static_cast<double>(labels_[i]);
      const double from = y - static_cast<double>(constant(kSelected)[0]);
      square += static_cast<double>(share_[i]) * y * y;
      around += static_cast<double>(share_[i]) * from * from;
    }
    next_.noise = std::max({around, kExact * square, kLeastSize});
  }

  // Newton on log s, by the loss of what was predicted: the mean over f ~ N(m, q), which is that at
  // kappa m, kappa^2 = 1 / (1 + pi q / 8); of squared errors kappa^2 = 1 / (1 + q) weighs rows. A
  // larger s tilts a row by t = sum x w V / s, of which the duals leave 1 / (1 + h q), and q grows.
  void learn_scale() {
    left_ = 0.0;
    if (!(total_ > 0.0F)) return;
    Lanes<N> mean(n()), mean_tilt(n()), m(n()), t(n()), r(n()), f(n());
    for (std::size_t i = 0; i < rows() && centred_; ++i) {
      add_to(n(), share_[i], margin(kSelected, i), mean.data());
      add_to(n(), share_[i], margin(kCells, i), mean.data());
      add_to(n(), share_[i], tilts_.data() + lane_row(i), mean_tilt.data());
    }
    double slope = 0.0, bend = 0.0, error = 0.0;
    for (std::size_t i = 0; i < rows(); ++i) {
      const float y = labels_[i];
      for (int c = 0; c < n(); ++c) m[c] = margin(kSelected, i)[c] + margin(kCells, i)[c];
      loss_.residual(m.data(), y, r.data());
      const float q = rows_[kSelected][i].q + rows_[kCells][i].q;
      const float spread = rows_[kSelected][i].spread + rows_[kCells][i].spread;
      const float left = 1.0F / (1.0F + importance_[i] * loss_.widest(r.data(), y) * q);
      left_ += static_cast<double>(left * share_[i]);
      error += static_cast<double>(share_[i] * r[0] * r[0] / (1.0F + q));
      const float wide = 1.0F + (loss_.squared ? q : kWidth * q);
      const float kappa = 1.0F / std::sqrt(wide);
      for (int c = 0; c < n(); ++c) {
        t[c] = (tilts_[lane_row(i) + static_cast<std::size_t>(c)] - mean_tilt[c]) * (left * kappa);
      }
      if (loss_.squared) {
        r[0] *= kappa;
      } else {
        for (int c = 0; c < n(); ++c) {
          m[c] -= mean[c];
          f[c] = mean[c] + kappa * m[c];
          t[c] -= kappa * 0.5F * kWidth * spread / wide * m[c];
        }
        loss_.residual(f.data(), y, r.data());
      }
      slope += static_cast<double>(importance_[i] * product(n(), r.data(), t.data()));
      bend += static_cast<double>(importance_[i] * loss_.bend(r.data(), y, t.data()));
    }
    if (loss_.squared) {
      const double rate =
          std::max(kNoiseMemory, 1.0 / static_cast<double>(parts_.counters.batches + 2));
      next_.noise += rate * (std::max(error, kLeastSize) - next_.noise);
    }
    ahead_ = next_.scale;
    if (parts_.counters.passes > 0 || !(next_.scale > 0.0)) return;
    next_.bend += bend / next_.noise;
    const double step = std::clamp(slope / next_.noise / (1.0 + next_.bend), -1.0, 1.0);
    ahead_ = within(next_.scale * math::exp(step));
  }

  // How much of the cells' margins the selected see: what it spares them in noise, against what it
  // takes from their own margins where the two agree.
  float sight() {
    if (parts_.selection.size() == 0 || !(total_ > 0.0F)) return 0.0F;
    Lanes<N> means[2] = {Lanes<N>(n()), Lanes<N>(n())}, u(n()), w(n());
    for (const std::size_t part : {kSelected, kCells}) {
      for (std::size_t i = 0; i < rows(); ++i) {
        add_to(n(), share_[i], margin(part, i), means[part].data());
      }
    }
    double doubt = 0.0;
    for (std::size_t i = 0; i < rows(); ++i) {
      for (int c = 0; c < n(); ++c) {
        u[c] = margin(kSelected, i)[c] - means[kSelected][c];
        w[c] = margin(kCells, i)[c] - means[kCells][c];
      }
      const float weight = importance_[i];
      next_.selected_square += static_cast<double>(weight * product(n(), u.data(), u.data()));
      next_.cells_square += static_cast<double>(weight * product(n(), w.data(), w.data()));
      next_.product += static_cast<double>(weight * product(n(), u.data(), w.data()));
      doubt += static_cast<double>(share_[i] * rows_[kSelected][i].q);
    }
    const double curved = loss_.squared ? doubt : 0.25 * doubt;
    seen_ = static_cast<double>(parts_.counters.weighed) + static_cast<double>(total_);
    next_.doubt += (curved - next_.doubt) * static_cast<double>(total_) / seen_;
    const double squares = next_.selected_square * next_.cells_square;
    const double alike = squares > 0.0 ? next_.product * next_.product / squares : 0.0;
    const double noisy = (1.0 - alike) * next_.doubt;
    return noisy > 0.0 ? static_cast<float>(noisy / (noisy + alike)) : 0.0F;
  }

  // Row by row, first of the selected by themselves but for what they see of the cells, then of the
  // cells beside them.
  void sweep() {
    float v[2], mean[2] = {0.0F, 0.0F};
    Lanes<N> sums[2] = {Lanes<N>(n()), Lanes<N>(n())};  // B
    shared_.assign(2 * static_cast<std::size_t>(n()), 0.0F);
    for (const std::size_t part : {kSelected, kCells}) {
      const double known = part == kSelected ? next_.known_selected : next_.known_cells;
      v[part] = parts_.recipe.intercept && known > 0.0 ? static_cast<float>(1.0 / known) : 0.0F;
      for (std::size_t i = 0; i < rows(); ++i) mean[part] += share_[i] * rows_[part][i].c;
    }
    const float share = sight();
    Lanes<N> own[2] = {Lanes<N>(n()), Lanes<N>(n())}, beside(n()), f(n()), a(n());
    for (int done = 0; done < kMostSweeps; ++done) {
      double moved = 0.0, size = 0.0;
      for (std::size_t i = 0; i < rows(); ++i) {
        const float weight = importance_[i];
        if (!(weight > 0.0F)) continue;
        for (const std::size_t part : {kSelected, kCells}) {
          const Row& row = rows_[part][i];
          Lanes<N> g(n());
          const Entry* const entries = parts_entries_[part].data();
          for (std::uint32_t e = row.first; e < row.last; ++e) {
            add_to(n(), entries[e].z, change_at(coordinate(entries[e].column)), g.data());
          }
          const float own_share = v[part] + mean[part] - row.c;
          for (int c = 0; c < n(); ++c) {
            own[part][c] = margin(part, i)[c] + g[c] +
                           own_share * shared_[lane_row(part) + static_cast<std::size_t>(c)] -
                           sums[part][c];
          }
        }
        for (int c = 0; c < n(); ++c) {
          const float level = constant(kCells)[c] +
                              v[kCells] * shared_[lane_row(kCells) + static_cast<std::size_t>(c)];
          beside[c] = share * (own[kCells][c] - level);
        }
        for (const std::size_t part : {kSelected, kCells}) {
          const Row& row = rows_[part][i];
          float* const before = dual(part, i);
          const float k = std::max(row.q - 2.0F * row.c + mean[part] + v[part], 0.0F);
          for (int c = 0; c < n(); ++c) f[c] = own[part][c] + beside[c] - k * before[c];
          loss_.dual(f.data(), k * weight, labels_[i], a.data());
          const float h = weight * loss_.curvature(a.data(), labels_[i]);
          Lanes<N> step(n());
          for (int c = 0; c < n(); ++c) {
            step[c] = weight * a[c] - before[c];
            before[c] += step[c];
            if (part == kSelected) beside[c] = own[kSelected][c] + k * step[c];
          }
          moved += static_cast<double>(k * product(n(), step.data(), step.data()));
          size += static_cast<double>(k * product(n(), before, before));
          add_to(n(), 1.0F, step.data(), shared_.data() + lane_row(part));
          add_to(n(), row.c, step.data(), sums[part].data());
          // Between what the row tells where it ends and the most that it could.
          const float told = loss_.squared ? h : std::sqrt(h * weight) * 0.5F;
          const float known = done == 0 ? told / (1.0F + told * k) : 0.0F;
          const Entry* const entries = parts_entries_[part].data();
          for (std::uint32_t e = row.first; e < row.last; ++e) {
            float* const at = coordinate(entries[e].column);
            const float z = entries[e].z;
            add_to(n(), z, step.data(), change_at(at));
            at[kKnown] += z * z * known;
          }
          double& about = part == kSelected ? next_.known_selected : next_.known_cells;
          if (done == 0) about += static_cast<double>(h / (1.0F + h * v[part]));
        }
      }
      // What the minibatch tells the coordinates it tells of most, as a share of what is known.
      if (done == 0 ? !tells_much() : moved <= kSettled * size) break;
    }
    std::copy_n(v, 2, variance_of_constant_);
  }
  bool tells_much() {
    double squares[2] = {}, sums[2] = {};
    for (std::size_t j = 0; j < size_; ++j) {
      const auto known = static_cast<double>(coordinate(j)[kKnown]);
      squares[j % 2] += known * known;
      sums[j % 2] += known;
    }
    return squares[0] + squares[1] > static_cast<double>(kAgain) * (sums[0] + sums[1]);
  }

  // Constants take what rows share, but for what each does to its own margin.
  void move_constants() {
    for (const std::size_t part : {kSelected, kCells}) {
      float* const shared = shared_.data() + lane_row(part);
      add_to(n(), variance_of_constant_[part], shared, constant(part));
      for (std::size_t i = 0; i < rows() && centred_; ++i) {
        const Row& row = rows_[part][i];
        const float others = (row.c - share_[i] * row.q) / (1.0F - share_[i]);
        add_to(n(), others * share_[i], shared, constant(part));
        add_to(n(), -others, dual(part, i), constant(part));
      }
    }
    if (!centred_) shared_.assign(shared_.size(), 0.0F);
  }

  // The changes of the weights, into where they were in units of their spread.
  void move_weights(double value) {
    std::size_t unsound = !std::isfinite(value);
    for (std::size_t j = 0; j < size_; ++j) {
      float* const at = coordinate(j);
      const float* const shared = shared_.data() + lane_row(address(j) >= width() ? 0 : 1);
      const float root = at[kRoot], mean = at[kMean];
      float* const change = change_at(at);
      const float* const weights = weights_at(at);
      for (int c = 0; c < n(); ++c) {
        change[c] = (change[c] - mean * shared[c]) * root;
        unsound += !(std::abs(weights[c] + change[c]) <= static_cast<float>(kLargestWeight));
      }
      at[kKnown] /= std::max(at[kVariance] * static_cast<float>(next_.unit), 1e-30F);
      unsound += !(at[kKnown] <= static_cast<float>(kMostSize));
    }
    for (const float b : constant_) {
      unsound += !(std::abs(b) <= static_cast<float>(kLargestWeight));
    }
    if (unsound == 0) return;
    std::ostringstream message;
    message << "minibatch " << parts_.counters.batches << ": training diverged (loss " << value
            << "); the model keeps the state before it";
    throw Diverged(message.str());
  }

  // Share of the numbers in cells that would not fit.
  double clipped() {
    const float limit = static_cast<float>(cells_.grain()) * CountingCells::kTop * 1.00001F;
    std::size_t out = 0, all = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      const std::size_t is_cell = address(j) < width();
      float* const at = coordinate(j);
      for (int c = 0; c < n(); ++c) {
        const float number = weights_at(at)[c] + change_at(at)[c];
        out += is_cell & static_cast<std::size_t>(std::abs(number) > limit);
      }
      all += is_cell;
    }
    return all == 0 ? 0.0
                    : static_cast<double>(out) /
                          static_cast<double>(all * static_cast<std::size_t>(n()));
  }

  std::uint64_t draw() { return mix64(draws_ += kGolden); }

  // Rounds the new numbers into cells, raises their counters, and lists those that ask for a place
  // among the selected.
  void write_cells() {
    bars_.clear();
    for (std::size_t g = 0; g < parts_.selection.groups(); ++g) {
      bars_.push_back(static_cast<float>(parts_.selection.bar(g)));
    }
    asking_.resize(size_ + 1);
    CountedByte* const bytes = cells_.first();
    const float quantum = static_cast<float>(cells_.grain());
    const float by_quantum = quantum > 0.0F ? 1.0F / quantum : 0.0F;
    const float bar = bars_.empty() ? 0.0F : *std::min_element(bars_.begin(), bars_.end());
    const std::size_t classes = static_cast<std::size_t>(classes_);
    const bool counting = cells_.counting(), selects = !bars_.empty();
    std::ptrdiff_t used = 0;
    std::size_t asking = 0;
    std::uint32_t* const to = asking_.data();
    for (std::size_t j = 0; j < size_; ++j) {
      const std::uint64_t place = address(j);
      const std::uint64_t bits = draw();
      if (place >= width()) continue;
      float* const from = coordinate(j);
      const std::size_t at = compat::to_size(place) * classes;
      int most = 0;
      for (int c = 0; c < (N == 1 ? 1 : classes_); ++c) {
        CountedByte& byte = bytes[at + static_cast<std::size_t>(c)];
        const int was = byte.whole();
        const int now = CountingCells::rounded(
            static_cast<float>(was) + change_at(from)[c] * by_quantum, lane_draw(bits, c));
        byte = byte.with(now);
        used += (now != 0) - (was != 0);
        most = std::max(most, std::abs(now));
      }
      std::size_t level = 0;
      if (counting) {
        CountedByte* const word = bytes + cells_.word_of(at);
        level = Counter::level_of(word);
        const double more = static_cast<double>(from[kKnown]);
        Counter(word).write(Counter::raised(level, more, count_draw(bits)));
      }
      to[asking] = static_cast<std::uint32_t>(j);
      asking += selects & (static_cast<float>(most) * quantum * worth_[kCells][level] > bar);
    }
    asking_.resize(asking);
    cells_.add_used(used);
  }

  void write_selected() {
    std::vector<double> change(parts_.loss.classes());
    for (std::size_t i = 0; i < chosen_size_; ++i) {
      const std::size_t j = chosen_[i];
      float* const from = coordinate(j);
      for (std::size_t c = 0; c < change.size(); ++c) {
        change[c] = static_cast<double>(change_at(from)[c]);
      }
      if (per_class()) {
        write_by_class(j, change);
      } else {
        write_slot(0, slot_of(address(j)), change, from[kKnown]);
      }
      if (batch_.named() && !per_class()) {
        parts_.selection.note_name(0, slot_of(address(j)),
                                   batch_.name(batch_.first_entry() + entries_[j]));
      }
    }
  }
  void write_slot(std::size_t group, std::int32_t slot, ConstReals change, float known) {
    TopK& top = parts_.selection.top(group);
    top.update(slot, 1.0, change);
    const std::size_t level =
        Counter::raised(top.level(slot), static_cast<double>(known), count_draw(draw()));
    top.set_level(slot, static_cast<std::uint8_t>(level));
    top.set_worth(slot, worth_of(level));
  }
  void write_by_class(std::size_t j, ConstReals change) {
    const std::size_t e = entries_[j];
    const Key key = batch_.keys[batch_.first_entry() + e];
    const std::size_t at = compat::to_size(bucket_of(hashes_[e], width())) * change.size();
    const double unit = negative(hashes_[e]) ? -cells_.grain() : cells_.grain();
    const float known = coordinate(j)[kKnown];
    bool asks = false;
    for (std::size_t g = 0; g < change.size(); ++g) {
      const std::int32_t slot = parts_.selection.top(g).find(key, hashes_[e]);
      if (slot >= 0) {
        write_slot(g, slot, change.subspan(g, 1), known);
        if (batch_.named()) {
          parts_.selection.note_name(g, slot, batch_.name(batch_.first_entry() + e));
        }
        continue;
      }
      CountedByte& byte = cells_.first()[at + g];
      const int was = byte.whole();
      const int now = CountingCells::rounded(
          static_cast<float>(was) + static_cast<float>(unit != 0.0 ? change[g] / unit : 0.0),
          lane_draw(draw(), 0));
      byte = byte.with(now);
      cells_.add_used((now != 0) - (was != 0));
      asks = asks || now != 0;
    }
    if (asks) asking_.push_back(static_cast<std::uint32_t>(j));
  }

  // Keys of cells that outrank the least selected, what moved most first.
  void select() {
    if (asking_.empty()) return;
    for (const std::uint32_t j : asking_) coordinate(j)[kKnown] = -1.0F;
    list_claims();
    for (std::size_t g = 0; g < parts_.selection.groups(); ++g) {
      for (Claim& claim : claims_) {
        const float* const move = moves_.data() + claim.first;
        const float square = per_class() ? move[g] * move[g] : product(n(), move, move);
        claim.size = square * coordinate(claim.column)[kVariance];
      }
      std::sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) {
        return a.size != b.size ? a.size > b.size : a.hash < b.hash;
      });
      for (const Claim& claim : claims_) consider(g, claim);
    }
  }

  // One for each key of the coordinates that ask, with what its rows would have it move.
  void list_claims() {
    claims_.clear();
    moves_.clear();
    for (std::size_t i = 0, e = 0; i < rows(); ++i) {
      const auto stop = static_cast<std::size_t>(batch_.indptr[i + 1]) - batch_.first_entry();
      for (; e < stop; ++e) {
        if (coordinate(columns_[e])[kKnown] != -1.0F) continue;
        const std::size_t part = places_[e] < width() ? kCells : kSelected;
        const float x = batch_.values[batch_.first_entry() + e];
        claims_.push_back({hashes_[e], static_cast<std::uint32_t>(e), columns_[e],
                           static_cast<std::uint32_t>(moves_.size()), 0.0F});
        const float* const shared = shared_.data() + lane_row(part);
        for (int c = 0; c < n(); ++c) {
          moves_.push_back(x * (dual(part, i)[c] - share_[i] * shared[c]));
        }
      }
    }
    std::sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.entry < b.entry;
    });
    std::size_t kept = 0;
    for (const Claim& claim : claims_) {
      if (kept > 0 && claims_[kept - 1].hash == claim.hash) {
        add_to(n(), 1.0F, moves_.data() + claim.first, moves_.data() + claims_[kept - 1].first);
      } else {
        claims_[kept++] = claim;
      }
    }
    claims_.resize(kept);
  }

  // The cell is read again: an earlier claim may have taken what was in it.
  void consider(std::size_t group, const Claim& claim) {
    Selection& selection = parts_.selection;
    const std::size_t entry = batch_.first_entry() + claim.entry;
    const Key key = batch_.keys[entry];
    const std::size_t classes = parts_.loss.classes(), first = selection.first_class(group);
    const std::size_t at = compat::to_size(bucket_of(claim.hash, width())) * classes;
    const double unit = negative(claim.hash) ? -cells_.grain() : cells_.grain();
    std::vector<double> weights(selection.top(group).width());
    for (std::size_t c = 0; c < weights.size(); ++c) {
      weights[c] = unit * cells_.first()[at + first + c].whole();
    }
    const std::size_t level =
        cells_.counting() ? Counter::level_of(cells_.first() + cells_.word_of(at)) : 0;
    const double count = Counter::count_at(level) / sharing();
    const double size = size_of(weights, Size::largest) * worth_of_count(count);
    if (!(size > selection.bar(group))) return;
    if (per_class() && selection.top(group).find(key, claim.hash) >= 0) return;
    const auto name = batch_.named() ? batch_.name(entry) : std::string_view{};
    const std::int32_t slot = selection.take_in(group, key, weights, name, parts_.storage);
    const std::size_t own = Counter::raised(0, count, count_draw(draw()));
    selection.top(group).set_level(slot, static_cast<std::uint8_t>(own));
    selection.top(group).set_worth(slot, worth_of(own));
  }

  // Weights follow s as their variances do, as far as the duals leave it: the selected each by its
  // own, cells, of which only the quantum can move, by the mean of those met.
  void follow() {
    if (!(state_.scale > 0.0) || !(total_ > 0.0F)) return;
    const double before = state_.followed;
    state_.scale = ahead_;
    const double change = math::log(state_.scale / before);
    if (std::abs(change) < kFollow) return;
    state_.followed = state_.scale;
    double squares = 0.0, free = 0.0;
    for (std::size_t j = 0; j < size_; ++j) {
      if (address(j) >= width()) continue;
      float* const at = coordinate(j);
      const auto square = static_cast<double>(product(n(), weights_at(at), weights_at(at)));
      squares += square;
      free += square * static_cast<double>(at[kVariance]);
    }
    if (squares > 0.0) {
      parts_.storage.scale(math::exp(left_ * change * free / squares / next_.scale));
    }
    std::array<double, Counter::kMostLevel + 1> factors{};
    for (std::size_t level = 0; level < factors.size(); ++level) {
      const double known = state_.unit * Counter::count_at(level);
      const double ratio = (1.0 + before * known) / (1.0 + state_.scale * known);
      factors[level] = math::exp(left_ * (change + math::log(ratio)));
    }
    parts_.selection.draw_from(~parts_.counters.batches);
    const std::vector<double> none(parts_.loss.classes());
    for (std::size_t g = 0; g < parts_.selection.groups(); ++g) {
      TopK& top = parts_.selection.top(g);
      for (const std::int32_t slot : top.ranked()) {
        top.update(slot, factors[top.level(slot)], ConstReals(none).first(top.width()));
      }
    }
  }

  Parts parts_;
  CountingCells& cells_;
  int classes_, lanes_;
  RowLoss<N> loss_;
  KeyHash hash_;
  PosteriorState state_, next_;

  // Of one minibatch, kept to save allocations.
  BatchView batch_;
  double shift_ = 0.0, left_ = 0.0, ahead_ = 0.0, seen_ = 0.0;
  float total_ = 0.0F, variance_of_constant_[2] = {};
  bool centred_ = false;
  std::uint64_t draws_ = 0;
  std::size_t size_ = 0, chosen_size_ = 0;
  float variance_[2][256], root_[2][256], worth_[2][256];
  std::vector<float> importance_, share_, labels_, constant_, shared_, coordinates_, tilts_, moves_;
  std::vector<float> margins_[2], duals_[2];
  std::vector<Entry> parts_entries_[2];
  std::vector<Row> rows_[2];
  std::vector<std::uint64_t> hashes_, places_, addresses_;
  std::vector<std::uint32_t> columns_, table_, entries_, chosen_, asking_;
  std::vector<float> bars_;
  std::vector<Claim> claims_;
  std::vector<double> residual_;
};

}  // namespace

std::unique_ptr<Update> make_posterior(const Parts& parts) {
  if (parts.storage.counting() == nullptr || !parts.storage.exact() || parts.recipe.depth != 1) {
    throw std::invalid_argument(
        "the posterior needs one row of one-byte cells beside the exact weights of the selected");
  }
  const std::size_t classes = parts.loss.classes();
  if (classes == 1) return std::make_unique<Posterior<1>>(parts);
  if (classes <= 8) return std::make_unique<Posterior<8>>(parts);
  if (classes <= 16) return std::make_unique<Posterior<16>>(parts);
  if (classes <= 24) return std::make_unique<Posterior<24>>(parts);
  if (classes <= 32) return std::make_unique<Posterior<32>>(parts);
  return std::make_unique<Posterior<0>>(parts);
}

}  // namespace bear

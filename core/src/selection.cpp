#include "bear/selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "bear/sort.hpp"

namespace bear {

namespace {

constexpr std::size_t kFewCandidates = 24;  // sorted by comparison
constexpr double kLarge = 8.0;              // times what is usual
constexpr double kFinest = 0.25;            // of the bar

// Whether cells could only hold noise of a weight: its values are far larger than others are, and
// the least that a cell holds would move margins by a good part of what the bar does.
bool is_coarse(double magnitude, double bar, const Storage& storage, const Measures& measures) {
  return magnitude > kLarge * measures.usual && storage.grain() * magnitude > kFinest * bar;
}

std::string_view name_of(const ActiveSet& active, std::size_t column) {
  const BatchView& batch = active.batch();
  return batch.named() ? batch.name(active.entry(column)) : std::string_view{};
}

}  // namespace

Selection::Selection(std::size_t k, std::size_t classes, bool per_class, Precision precision,
                     std::uint64_t seed, Size size)
    : classes_(classes), width_(per_class ? 1 : classes), size_(size), estimate_(classes) {
  if (k > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::invalid_argument("k must be below 2^31, got " + std::to_string(k));
  }
  if (k > 0) tops_.assign(per_class ? classes : 1, TopK(k, width_, precision, seed, size));
}

std::size_t Selection::size() const {
  std::size_t n = 0;
  for (const auto& top : tops_) n += top.size();
  return n;
}

// Most keys are not selected: first those that may be are listed, then each of them is looked for.
void Selection::find(const ActiveSet& active, Places& places) const {
  const std::size_t n = active.size(), groups = tops_.size();
  places.groups = groups;
  places.members.assign(n * groups, KeyMap::kAbsent);
  places.chosen.resize(n * groups);
  const auto keys = active.keys();
  const auto hashes = active.hashes();
  std::uint32_t* const chosen = places.chosen.data();
  std::size_t may = 0, found = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const TopK& top = tops_[g];
    for (std::size_t a = 0; a < n; ++a) {
      chosen[may] = static_cast<std::uint32_t>(a * groups + g);
      may += top.may_hold(hashes[a]);
    }
  }
  if (groups > 1) std::sort(chosen, chosen + may);
  for (std::size_t c = 0; c < may; ++c) {
    const std::uint32_t i = chosen[c];
    const std::size_t column = places.column_of(i);
    const std::int32_t slot = tops_[places.group_of(i)].find(keys[column], hashes[column]);
    places.members[i] = slot;
    chosen[found] = i;
    found += slot >= 0;
  }
  places.chosen.resize(found);
}

void Selection::mask(const Places& places, Reals weights) const {
  for (std::size_t i = 0; i < places.members.size(); ++i) {
    if (places.members[i] < 0) clear_few(weights.data() + i * width_, width_);
  }
}

void Selection::scale(double c) {
  for (auto& top : tops_) top.scale(c);
}

void Selection::draw_from(std::uint64_t salt) {
  for (auto& top : tops_) top.draw_from(salt);
}

void Selection::offer(const ActiveSet& active, Places& places, Reals weights, ConstReals z,
                      Storage& storage, const Measures& measures) {
  for (std::size_t g = 0; g < groups(); ++g) refresh(g, active, places, weights, storage.exact());
  meet(places, measures.damping);
  for (const std::uint32_t i : places.chosen) clear_few(weights.data() + i * width_, width_);
  for (std::size_t g = 0; g < groups(); ++g) {
    find_bar(g, storage, measures);
    collect(g, active.size(), weights, z, measures);
    sort_candidates(active);
    for (const auto& candidate : candidates_) {
      consider(g, candidate, active, places, storage, measures);
    }
  }
  draw_held(active, places, z, storage, measures);
}

void Selection::find_bar(std::size_t group, const Storage& storage, const Measures& measures) {
  TopK& top = tops_[group];
  bar_ = 0.0;
  if (!top.full()) return;
  bar_ = top.value(measures.worth.empty() ? top.least()
                                          : top.least([&](Key key) { return storage.worth(key); }));
}

// Members first: their new weights decide what a candidate must beat.
void Selection::refresh(std::size_t group, const ActiveSet& active, const Places& places,
                        ConstReals weights, bool exact) {
  if (exact && !active.batch().named()) return;
  TopK& top = tops_[group];
  for (const std::uint32_t i : places.chosen) {
    if (places.group_of(i) != group) continue;
    const std::int32_t slot = places.members[i];
    if (!exact) top.update(slot, 0.0, weights.subspan(i * width_, width_));
    note_name(top, slot, name_of(active, places.column_of(i)));
  }
}

// Without damping no value of the batch is above 1, and what came with larger ones before learns
// that too.
void Selection::meet(const Places& places, ConstReals damping) {
  for (const std::uint32_t i : places.chosen) {
    TopK& top = tops_[places.group_of(i)];
    const std::int32_t slot = places.members[i];
    if (damping.empty() && top.magnitude(slot) == 1.0) continue;  // as for all of text and clicks
    top.meet(slot, damping.empty() ? 1.0 : 1.0 / damping[places.column_of(i)]);
  }
}

// Keys whose weights beat the smallest of the selected; those of the selected are zero here. Which
// do cannot be foreseen, so all are listed, and only those that do move the end of the list.
void Selection::collect(std::size_t group, std::size_t n, ConstReals weights, ConstReals z,
                        const Measures& measures) {
  const double bar = bar_;
  const std::size_t classes = classes_, width = width_, first = first_class(group);
  larger_.resize(n);
  std::uint32_t* to = larger_.data();
  const auto list = [&to](std::size_t column, bool above) {
    *to = static_cast<std::uint32_t>(column);
    to += above;
  };
  if (classes == 1 && measures.damping.empty() && !measures.trust.empty()) {
    const double limit = bar * bar * measures.enough;
    for (std::size_t a = 0; a < n; ++a) {
      list(a, weights[a] * weights[a] * measures.trust[a] > limit);
    }
  } else {
    for (std::size_t a = 0; a < n; ++a) {
      const double size = size_of(weights.subspan(a * classes + first, width), size_);
      list(a, measures.above(size * measures.magnitude_of(a), a, bar));
    }
  }
  candidates_.clear();
  for (const std::uint32_t* column = larger_.data(); column != to; ++column) {
    const ConstReals moved = z.subspan(*column * classes + first, width);
    candidates_.push_back({norm_of(moved), *column});
  }
}

// By falling move, ties by rising key. Moves are not negative, so their bits are in their order;
// between the smallest and the largest of them they are spread well enough for buckets.
void Selection::sort_candidates(const ActiveSet& active) {
  const std::size_t n = candidates_.size();
  const auto before = [keys = active.keys().data()](const Candidate& a, const Candidate& b) {
    return a.moved != b.moved ? a.moved > b.moved : keys[a.column] < keys[b.column];
  };
  if (n < kFewCandidates) {
    return std::sort(candidates_.begin(), candidates_.end(), before);
  }
  const auto bits = [](const Candidate& one) { return std::bit_cast<std::uint64_t>(one.moved); };
  std::uint64_t least = bits(candidates_[0]), most = least;
  for (const Candidate& one : candidates_) {
    least = std::min(least, bits(one));
    most = std::max(most, bits(one));
  }
  spare_.resize(n);
  bucket_sort<Candidate>(
      candidates_, spare_.data(), static_cast<int>(std::bit_width(most - least)),
      [&](const Candidate& one) { return most - bits(one); }, before);
  candidates_.swap(spare_);
}

// The estimate is read again: an earlier promotion may have taken this key's cells with it.
void Selection::consider(std::size_t group, const Candidate& candidate, const ActiveSet& active,
                         Places& places, Storage& storage, const Measures& measures) {
  const double magnitude = measures.magnitude_of(candidate.column);
  storage.query_one(places, candidate.column, estimate_);
  const ConstReals weights = ConstReals(estimate_).subspan(first_class(group), width_);
  const double size = size_of(weights, size_) * magnitude;
  if (!measures.above(size, candidate.column, bar_)) return;
  const double bar = measures.size_of(candidate.column, bar_);
  // What a cell holds that is too coarse for it is the rounding: it leaves, and the least enters.
  started_.assign(weights.begin(), weights.end());
  if (is_coarse(magnitude, bar, storage, measures)) {
    for (double& weight : started_) weight *= std::min(1.0, bar / size);
  }
  take_in(group, candidate.column, magnitude, weights, active, storage, measures);
}

// Rounded to what a cell can hold, such a step would be 0 nearly always, and else a leap that
// throws all margins off.
void Selection::hold_back(const Places& places, Reals step, const Storage& storage,
                          const Measures& measures) {
  held_.clear();
  if (measures.damping.empty()) return;
  for (std::size_t g = 0; g < groups(); ++g) {
    find_bar(g, storage, measures);
    for (std::size_t i = g; i < places.members.size(); i += groups()) {
      if (places.members[i] >= 0) continue;
      const std::size_t column = places.column_of(i);
      const double bar = measures.size_of(column, bar_);
      if (!is_coarse(measures.magnitude_of(column), bar, storage, measures)) continue;
      clear_few(step.data() + i * width_, width_);
      held_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  if (groups() > 1) std::sort(held_.begin(), held_.end());
}

// A step that was held back is rounded to the bar or to nothing, at random in proportion as cells
// do: with the first its key is selected, where the weight is exact and can grow.
void Selection::draw_held(const ActiveSet& active, const Places& places, ConstReals z,
                          Storage& storage, const Measures& measures) {
  for (const std::uint32_t i : held_) {
    const std::size_t group = places.group_of(i), column = places.column_of(i);
    const std::uint64_t hash = active.hashes()[column];
    if (tops_[group].find(active.keys()[column], hash) >= 0) continue;
    find_bar(group, storage, measures);
    const ConstReals step = z.subspan(i * width_, width_);
    const double magnitude = measures.magnitude_of(column), bar = measures.size_of(column, bar_);
    started_.assign(step.begin(), step.end());
    for (double& weight : started_) weight = -weight;
    const double size = size_of(started_, size_) * magnitude;
    if (!(uniform(mix64(hash ^ mix64(measures.salt + group))) * bar < size)) continue;
    for (double& weight : started_) weight *= std::max(1.0, bar / size);
    take_in(group, column, magnitude, {}, active, storage, measures);
  }
}

// The key of a column enters with the weights that are started, and `taken` leaves its cells; the
// smallest of the selected goes, into cells unless they are too coarse for it.
void Selection::take_in(std::size_t group, std::size_t column, double magnitude, ConstReals taken,
                        const ActiveSet& active, Storage& storage, const Measures& measures) {
  TopK& top = tops_[group];
  const std::size_t first = first_class(group);
  if (top.full()) {
    const std::int32_t out = top.front();
    if (!is_coarse(top.magnitude(out), top.norm(out), storage, measures)) {
      storage.release(top.key(out), first, top.weights(out));
    }
    top.remove_front();
  }
  const Key key = active.keys()[column];
  storage.admit(key, first, taken);
  top.insert(key, started_, name_of(active, column), magnitude);
  find_bar(group, storage, measures);
}

// Two names on one key share one weight: both are kept, and the case is counted.
void Selection::note_name(TopK& top, std::int32_t slot, std::string_view name) {
  if (name.empty() || top.name(slot) == name || !top.alias(slot).empty()) return;
  top.set_alias(slot, name);
  ++name_collisions_;
}

}  // namespace bear

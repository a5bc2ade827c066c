#include "bear/selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "bear/sort.hpp"

namespace bear {

namespace {

constexpr std::size_t kFewCandidates = 24;  // sorted by comparison

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
                      Storage& storage) {
  for (std::size_t g = 0; g < groups(); ++g) refresh(g, active, places, weights, storage.exact());
  for (const std::uint32_t i : places.chosen) clear_few(weights.data() + i * width_, width_);
  for (std::size_t g = 0; g < groups(); ++g) {
    bar_ = bar(g);
    collect(g, active.size(), weights, z);
    sort_candidates(active);
    for (const auto& candidate : candidates_) consider(g, candidate, active, places, storage);
  }
}

double Selection::bar(std::size_t group) {
  TopK& top = tops_[group];
  return top.full() ? top.value(top.least()) : 0.0;
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
    note_name(group, slot, name_of(active, places.column_of(i)));
  }
}

// Keys whose weights beat the smallest of the selected; those of the selected are zero here. Which
// do cannot be foreseen, so all are listed, and only those that do move the end of the list.
void Selection::collect(std::size_t group, std::size_t n, ConstReals weights, ConstReals z) {
  const double bar = bar_;
  const std::size_t classes = classes_, width = width_, first = first_class(group);
  larger_.resize(n);
  std::uint32_t* to = larger_.data();
  for (std::size_t a = 0; a < n; ++a) {
    *to = static_cast<std::uint32_t>(a);
    to += size_of(weights.subspan(a * classes + first, width), size_) > bar;
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
                         const Places& places, Storage& storage) {
  storage.query_one(places, candidate.column, estimate_);
  const ConstReals weights = ConstReals(estimate_).subspan(first_class(group), width_);
  if (!(size_of(weights, size_) > bar_)) return;
  take_in(group, active.keys()[candidate.column], weights, name_of(active, candidate.column),
          storage);
  bar_ = bar(group);
}

std::int32_t Selection::take_in(std::size_t group, Key key, ConstReals weights,
                                std::string_view name, Storage& storage) {
  TopK& top = tops_[group];
  const std::size_t first = first_class(group);
  if (top.full()) {
    const std::int32_t out = top.least();
    storage.release(top.key(out), first, top.weights(out));
    top.remove_front();
  }
  storage.admit(key, first, weights);
  return top.insert(key, weights, name);
}

void Selection::note_name(std::size_t group, std::int32_t slot, std::string_view name) {
  TopK& top = tops_[group];
  if (name.empty() || top.name(slot) == name || !top.alias(slot).empty()) return;
  top.set_alias(slot, name);
  ++name_collisions_;
}

}  // namespace bear

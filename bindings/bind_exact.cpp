// Whole learners at once: averaged, or cut to some of their classes.
#include <nanobind/stl/vector.h>

#include <set>

#include "arrays.hpp"
#include "bear/exact.hpp"
#include "bear/narrow.hpp"
#include "fields.hpp"
#include "learner.hpp"

namespace {

std::vector<bear::Keys> views(const std::vector<In<std::uint64_t>>& keys) {
  std::vector<bear::Keys> out;
  for (const auto& part : keys) out.push_back(view(part));
  return out;
}

bear::Exact take_apart(Learner& learner, const std::vector<In<std::uint64_t>>& keys) {
  const auto viewed = views(keys);
  const Alone alone(learner.busy);
  return bear::take_apart(learner, viewed);
}

bear::Exact average(const std::vector<Learner*>& parts, const In<double>& shares, Learner* start,
                    const std::vector<In<std::uint64_t>>& keys) {
  const auto viewed = views(keys);
  const nb::gil_scoped_release released;
  std::set<Learner*> all(parts.begin(), parts.end());  // each once, always in the same order
  if (start != nullptr) all.insert(start);
  std::vector<Exclusive> alone;
  for (Learner* learner : all) alone.emplace_back(learner->busy);
  return bear::average({parts.begin(), parts.end()}, view(shares), start, viewed);
}

nb::list weights_of(const bear::Exact& exact) {
  nb::list out;
  for (std::size_t g = 0; g < exact.weights.size(); ++g) {
    const std::size_t width = exact.wide->selection().top(g).width();
    auto copy = exact.weights[g];
    const std::size_t n = copy.size() / width;
    out.append(give(std::move(copy), {n, width}));
  }
  return out;
}

nb::list levels_of(const bear::Exact& exact) {
  nb::list out;
  for (const auto& group : exact.levels) out.append(give(std::vector<std::uint8_t>(group)));
  return out;
}

nb::list worths_of(const bear::Exact& exact) {
  nb::list out;
  for (const auto& group : exact.worths) out.append(give(std::vector<double>(group)));
  return out;
}

void put_together(Learner& learner, bear::Exact& exact, const std::vector<In<std::uint64_t>>& keys,
                  const std::vector<In<double>>& weights, double quantum, double writes) {
  bear::Returned returned;
  returned.keys = views(keys);
  for (const auto& part : weights) returned.weights.push_back(view(part));
  const Alone alone(learner.busy);
  bear::put_together(learner, exact, returned, quantum, writes);
}

nb::bytes narrow_cells(Learner& learner, const std::vector<std::size_t>& classes) {
  const Alone alone(learner.busy);
  const auto cells = bear::narrow_cells(learner, classes);
  return nb::bytes(cells.data(), cells.size());
}

}  // namespace

void bind_exact(nb::module_& m) {
  nb::class_<bear::Exact>(m, "Exact")
      .def_prop_ro("weights", &weights_of)
      .def_prop_ro("levels", &levels_of)
      .def_prop_ro("worths", &worths_of)
      .def_prop_ro("state",
                   [](const bear::Exact& exact) { return dict_of(bear::Fields(exact.state)); });
  m.def("average", &average, nb::arg("parts"), nb::arg("shares"), nb::arg("start").none(),
        nb::arg("keys"));
  m.def("take_apart", &take_apart, nb::arg("learner"), nb::arg("keys"));
  m.def("put_together", &put_together, nb::arg("learner"), nb::arg("exact"), nb::arg("keys"),
        nb::arg("weights"), nb::arg("quantum"), nb::arg("writes"));
  m.def("narrow_cells", &narrow_cells, nb::arg("learner"), nb::arg("classes"));
}

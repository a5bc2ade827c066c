#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "arrays.hpp"
#include "fields.hpp"
#include "learner.hpp"

namespace {

using bear::Recipe;

template <class T>
T choose(const char* what, const std::string& name, const std::map<std::string, T>& table) {
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  throw nb::value_error((std::string(what) + " unknown: " + name).c_str());
}

Recipe make_recipe(const nb::dict& given) {
  Recipe recipe;
  const auto number = [&](const char* key, auto& field) {
    field = nb::cast<std::remove_reference_t<decltype(field)>>(given[key]);
  };
  const auto word = [&](const char* key) { return nb::cast<std::string>(given[key]); };
  recipe.storage = choose<Recipe::StorageKind>("storage", word("storage"),
                                               {{"dense", Recipe::StorageKind::dense},
                                                {"sketch", Recipe::StorageKind::sketch},
                                                {"cached", Recipe::StorageKind::cached},
                                                {"cached_keep", Recipe::StorageKind::cached_keep}});
  recipe.update = choose<Recipe::UpdateKind>("update", word("update"),
                                             {{"gradient", Recipe::UpdateKind::gradient},
                                              {"lbfgs", Recipe::UpdateKind::lbfgs},
                                              {"newton", Recipe::UpdateKind::newton},
                                              {"posterior", Recipe::UpdateKind::posterior}});
  recipe.loss = choose<Recipe::LossKind>("loss", word("loss"),
                                         {{"squared", Recipe::LossKind::squared},
                                          {"logistic", Recipe::LossKind::logistic},
                                          {"softmax", Recipe::LossKind::softmax}});
  recipe.step = choose<Recipe::StepKind>("step", word("step"),
                                         {{"constant", Recipe::StepKind::constant},
                                          {"decaying", Recipe::StepKind::decaying},
                                          {"automatic", Recipe::StepKind::automatic}});
  recipe.query = choose<bear::Query>(
      "query", word("query"), {{"mean", bear::Query::mean}, {"median", bear::Query::median}});
  recipe.precision = choose<bear::Precision>("precision", word("precision"),
                                             {{"float32", bear::Precision::float32},
                                              {"float64", bear::Precision::float64},
                                              {"int8", bear::Precision::int8}});
  number("dimension", recipe.dimension);
  number("width", recipe.width);
  number("depth", recipe.depth);
  number("history", recipe.history);
  number("k", recipe.k);
  number("per_class", recipe.per_class);
  number("reads_selection", recipe.reads_selection);
  number("classes", recipe.classes);
  number("step_size", recipe.step_size);
  number("step_offset", recipe.step_offset);
  number("l2", recipe.l2);
  number("intercept", recipe.intercept);
  number("batch_size", recipe.batch_size);
  number("seed", recipe.seed);
  number("evidence", recipe.evidence);
  return recipe;
}

nb::tuple learn(Learner& learner, const In<std::int64_t>& indptr, const In<std::uint64_t>& keys,
                const In<float>& values, const In<double>& labels,
                const std::optional<In<double>>& weights,
                const std::optional<In<std::uint8_t>>& name_data,
                const std::optional<In<std::uint64_t>>& name_offsets,
                const std::optional<In<std::uint64_t>>& strata,
                const std::optional<In<std::uint64_t>>& places) {
  auto batch = batch_view(indptr, keys, values, labels, weights, name_data, name_offsets);
  batch.strata = view(strata);
  batch.places = view(places);
  bear::check_bounds(batch);
  std::vector<double> margins(batch.n_rows() * learner.classes());
  bear::Progress progress;
  {
    nb::gil_scoped_release released;
    const Exclusive alone(learner.busy);
    progress = learner.learn(batch, margins);
  }
  const std::size_t rows = batch.n_rows();
  return nb::make_tuple(progress.loss, progress.weight,
                        give(std::move(margins), {rows, learner.classes()}));
}

Out<double> predict(const Learner& learner, const In<std::int64_t>& indptr,
                    const In<std::uint64_t>& keys, const In<float>& values, bool selected_only,
                    bool means) {
  const auto batch =
      batch_view(indptr, keys, values, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  bear::check_bounds(batch);
  std::vector<double> margins(batch.n_rows() * learner.classes());
  {
    nb::gil_scoped_release released;
    const Shared shared(learner.busy);
    learner.predict(batch, selected_only, margins);
    if (means) learner.loss().predict(margins);
  }
  return give(std::move(margins), {batch.n_rows(), learner.classes()});
}

// (margins, reasons of a row each as text), see Reasons. letters: (bits, how many, alphabet) of
// keys that are made of letters. quote: makes a name safe that is not plain.
nb::tuple explain(const Learner& learner, const In<std::int64_t>& indptr,
                  const In<std::uint64_t>& keys, const In<float>& values,
                  const std::optional<In<std::uint8_t>>& name_data,
                  const std::optional<In<std::uint64_t>>& name_offsets, bool selected_only,
                  std::size_t most, bool json, unsigned letter_bits, std::size_t letters,
                  const std::string& alphabet, const std::optional<In<std::uint64_t>>& proven,
                  const nb::callable& quote) {
  const auto batch =
      batch_view(indptr, keys, values, std::nullopt, std::nullopt, name_data, name_offsets);
  bear::check_bounds(batch);
  const std::size_t rows = batch.n_rows();
  std::vector<double> margins(rows * learner.classes());
  bear::Reasons reasons(most);
  {
    nb::gil_scoped_release released;
    const Shared shared(learner.busy);
    learner.explain(batch, selected_only, margins, reasons);
  }
  bear::ReasonWriter writer(
      {json, letter_bits, letters, alphabet, proven.has_value(), view(proven)});
  const bear::ReasonForm names{json, letter_bits, letters, alphabet, false, {}};
  const auto name = [&](std::size_t entry, std::string& text) {
    if (!batch.named()) {
      if (json) text += '"';
      bear::append_key_name(names, batch.keys[entry], text);
      if (json) text += '"';
      return;
    }
    const std::string_view own = batch.name(entry);
    if (!bear::is_plain(own, json)) {
      text += nb::cast<std::string>(quote(nb::bytes(own.data(), own.size())));
      return;
    }
    if (json) text += '"';
    text += own;
    if (json) text += '"';
  };
  nb::list texts;
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    text.clear();
    writer.write(reasons, row, name, batch, text);
    texts.append(nb::str(text.data(), text.size()));
  }
  return nb::make_tuple(give(std::move(margins), {rows, learner.classes()}), texts);
}

// (margins, of each row the margin explained and the constant in it, entries, parts).
nb::tuple reasons(const Learner& learner, const In<std::int64_t>& indptr,
                  const In<std::uint64_t>& keys, const In<float>& values, bool selected_only,
                  std::size_t most) {
  const auto batch =
      batch_view(indptr, keys, values, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  bear::check_bounds(batch);
  const std::size_t rows = batch.n_rows();
  std::vector<double> margins(rows * learner.classes());
  bear::Reasons found(most);
  {
    nb::gil_scoped_release released;
    const Shared shared(learner.busy);
    learner.explain(batch, selected_only, margins, found);
  }
  return nb::make_tuple(give(std::move(margins), {rows, learner.classes()}),
                        give(std::move(found.margins)), give(std::move(found.constants)),
                        give(std::move(found.entries), {rows, most}),
                        give(std::move(found.parts), {rows, most}));
}

using Margins = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Margins as the learner's calibration has them.
Out<double> calibrated(const Learner& learner, const Margins& margins, bool selected_only) {
  if (margins.shape(1) != learner.classes()) {
    throw nb::value_error("margins: one per class and example");
  }
  std::vector<double> found(margins.data(), margins.data() + margins.size());
  {
    const nb::gil_scoped_release released;
    const Shared shared(learner.busy);
    const auto map = learner.calibration(selected_only).map();
    if (learner.calibrates()) bear::apply(map, learner.classes(), found);
  }
  return give(std::move(found), {margins.shape(0), margins.shape(1)});
}

// What margins predict: a probability for each class, of two labels that of the second.
Out<double> probabilities(const Margins& margins) {
  std::vector<double> found(margins.data(), margins.data() + margins.size());
  const std::size_t columns = margins.shape(1);
  {
    const nb::gil_scoped_release released;
    (columns == 1 ? bear::make_logistic() : bear::make_softmax(columns))->predict(found);
  }
  return give(std::move(found), {margins.shape(0), columns});
}

nb::dict calibration(const Learner& learner, bool selected_only) {
  Alone alone(learner.busy);
  const bear::Calibration::State state = learner.calibration(selected_only).state();
  const auto map = learner.calibration(selected_only).map();
  const bool ready = learner.calibration(selected_only).ready();
  alone.unlock();
  nb::dict out;
  out["examples"] = state.examples;
  out["weight"] = state.weight;
  out["information"] = std::vector<double>(state.information.begin(), state.information.end());
  out["pull"] = std::vector<double>(state.pull.begin(), state.pull.end());
  out["ready"] = ready;
  out["slope"] = map.slope;
  out["offset"] = map.offset;
  return out;
}

void restore_calibration(Learner& learner, bool selected_only, std::uint64_t examples,
                         double weight, const std::vector<double>& information,
                         const std::vector<double>& pull) {
  bear::Calibration::State state{.examples = examples, .weight = weight};
  if (information.size() != state.information.size() || pull.size() != state.pull.size()) {
    throw nb::value_error("a calibration has three numbers of information and two of pull");
  }
  std::copy(information.begin(), information.end(), state.information.begin());
  std::copy(pull.begin(), pull.end(), state.pull.begin());
  const Alone alone(learner.busy);
  learner.calibration(selected_only).restore(state);
}

Out<double> query(const Learner& learner, const In<std::uint64_t>& keys) {
  std::vector<double> weights(keys.size() * learner.classes());
  Alone alone(learner.busy);
  learner.query(view(keys), weights);
  alone.unlock();
  return give(std::move(weights), {keys.size(), learner.classes()});
}

void move(Learner& learner, const In<std::uint64_t>& keys, const In<double>& change) {
  const Alone alone(learner.busy);
  learner.move(view(keys), view(change));
}

// The selected of one group, best first.
nb::dict selected(const Learner& learner, std::size_t group) {
  nb::list names, aliases;  // before the lock: to append bytes collects no garbage
  Alone alone(learner.busy);
  const bear::TopK& top = learner.selection().top(group);
  std::vector<std::uint64_t> keys;
  std::vector<double> weights;
  std::vector<std::uint8_t> levels;
  std::vector<double> worths;
  for (const std::int32_t slot : top.ranked()) {
    keys.push_back(top.key(slot));
    const auto w = top.weights(slot);
    weights.insert(weights.end(), w.begin(), w.end());
    levels.push_back(top.level(slot));
    worths.push_back(top.worth(slot));
    names.append(nb::bytes(top.name(slot).data(), top.name(slot).size()));
    aliases.append(nb::bytes(top.alias(slot).data(), top.alias(slot).size()));
  }
  alone.unlock();
  const std::size_t n = keys.size();
  nb::dict out;
  out["keys"] = give(std::move(keys));
  out["weights"] = give(std::move(weights), {n, top.width()});
  out["levels"] = give(std::move(levels));
  out["worths"] = give(std::move(worths));
  out["names"] = names;
  out["aliases"] = aliases;
  return out;
}

void restore_selected(Learner& learner, std::size_t group, const In<std::uint64_t>& keys,
                      const In<double>& weights, const In<std::uint8_t>& levels,
                      const nb::list& names, const nb::list& aliases) {
  const auto text = [](nb::handle item) {
    const auto bytes = nb::cast<nb::bytes>(item);
    return std::string(bytes.c_str(), bytes.size());
  };
  const Alone alone(learner.busy);
  bear::TopK& top = learner.selection().top(group);
  if (keys.size() > top.k() || weights.size() != keys.size() * top.width() ||
      levels.size() != keys.size() || names.size() != keys.size() ||
      aliases.size() != keys.size()) {
    throw nb::value_error("selected entries do not fit the learner");
  }
  top.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (top.find(view(keys)[i]) >= 0) throw nb::value_error("a key is selected twice");
    const auto slot = top.insert(view(keys)[i], view(weights).subspan(i * top.width(), top.width()),
                                 text(names[i]));
    top.set_alias(slot, text(aliases[i]));
    top.set_level(slot, view(levels)[i]);
  }
}

// What a model keeps by name, and exact: what a run needs to go on as if it had never stopped.
nb::dict state(const Learner& learner, bool exact) {
  Alone alone(learner.busy);
  bear::Fields fields = learner.state(exact);
  alone.unlock();
  return dict_of(std::move(fields));
}

void restore(Learner& learner, const nb::dict& given) {
  const bear::Fields fields = fields_of(given);
  const Alone alone(learner.busy);
  learner.restore(fields);
}

// The cells as they lie there: putting a lazy scale into them would round, and a run that goes on
// would differ from one that never stopped.
nb::bytes raw_cells(const Learner& learner) {
  const Alone alone(learner.busy);
  const auto raw = learner.storage().raw();
  return nb::bytes(raw.data(), raw.size());
}

nb::bytes cells(Learner& learner) {
  const Alone alone(learner.busy);
  const auto bytes = learner.storage().bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

void restore_cells(Learner& learner, const In<std::uint8_t>& given) {
  const Alone alone(learner.busy);
  const auto bytes = learner.storage().bytes();
  if (given.size() != bytes.size()) {
    throw nb::value_error(("cells must be " + std::to_string(bytes.size()) + " bytes, got " +
                           std::to_string(given.size()))
                              .c_str());
  }
  std::memcpy(bytes.data(), given.data(), given.size());
}

nb::dict fill(const Learner& learner) {
  Alone alone(learner.busy);
  const auto fill = learner.storage().fill();
  const double worth = learner.update().mean_worth();
  alone.unlock();
  nb::dict out;
  out["cells"] = fill.cells;
  out["used"] = fill.used;
  out["largest"] = fill.largest;
  out["rms"] = fill.rms;
  out["worth"] = worth;
  return out;
}

}  // namespace

void bind_evidence(nb::module_& m, nb::class_<Learner>& learner);

void bind_learner(nb::module_& m) {
  nb::exception<bear::Diverged>(m, "Diverged", PyExc_ArithmeticError);

  m.def("probabilities", &probabilities, nb::arg("margins"));

  nb::class_<bear::Counters>(m, "Counters")
      .def_rw("examples", &bear::Counters::examples)
      .def_rw("batches", &bear::Counters::batches)
      .def_rw("passes", &bear::Counters::passes)
      .def_rw("weighed", &bear::Counters::weighed)
      .def_rw("weight", &bear::Counters::weight)
      .def_ro("gradient_norm", &bear::Counters::gradient_norm)
      .def_ro("step_size", &bear::Counters::step_size);

  nb::class_<bear::Guards>(m, "Guards")
      .def_rw("uphill", &bear::Guards::uphill)
      .def_rw("flat_pairs", &bear::Guards::flat_pairs)
      .def_rw("damped_pairs", &bear::Guards::damped_pairs)
      .def_rw("rejected_pairs", &bear::Guards::rejected_pairs)
      .def_rw("stored_pairs", &bear::Guards::stored_pairs);

  nb::class_<Learner> learner(m, "Learner");
  learner
      .def(nb::new_([](const nb::dict& recipe) {
             return std::make_unique<Learner>(make_recipe(recipe));
           }),
           nb::arg("recipe"))
      .def_prop_ro("classes", &Learner::classes)
      .def_prop_ro("groups", [](const Learner& l) { return l.selection().groups(); })
      .def_prop_ro(
          "counters", [](Learner& l) -> bear::Counters& { return l.counters(); },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "guards", [](Learner& l) -> bear::Guards& { return l.guards(); },
          nb::rv_policy::reference_internal)
      .def_prop_rw(
          "name_collisions", [](const Learner& l) { return l.selection().name_collisions(); },
          [](Learner& l, std::size_t n) { l.selection().set_name_collisions(n); })
      .def_prop_ro("selected_intercept",
                   [](Learner& l) {
                     const Alone alone(l.busy);
                     std::vector<double> sum = l.intercept();
                     const auto offset = l.update().selected_offset();
                     for (std::size_t c = 0; c < offset.size(); ++c) sum[c] += offset[c];
                     return sum;
                   })
      .def("move_selected_intercept",
           [](Learner& l, const std::vector<double>& change) {
             const Alone alone(l.busy);
             if (change.size() != l.classes()) throw nb::value_error("intercept: one per class");
             l.update().move_selected_offset(change);
           })
      .def_prop_rw(
          "intercept",
          [](Learner& l) {
            const Alone alone(l.busy);
            return l.intercept();
          },
          [](Learner& l, const std::vector<double>& given) {
            const Alone alone(l.busy);
            if (given.size() != l.classes()) throw nb::value_error("intercept: one per class");
            l.intercept() = given;
          })
      .def("learn", &learn, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
           nb::arg("labels"), nb::arg("weights").none(), nb::arg("name_data").none(),
           nb::arg("name_offsets").none(), nb::arg("strata").none(), nb::arg("places").none())
      .def("predict", &predict, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
           nb::arg("selected_only"), nb::arg("means"))
      .def("explain", &explain, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
           nb::arg("name_data").none(), nb::arg("name_offsets").none(), nb::arg("selected_only"),
           nb::arg("most"), nb::arg("json"), nb::arg("letter_bits"), nb::arg("letters"),
           nb::arg("alphabet"), nb::arg("proven").none(), nb::arg("quote"))
      .def("reasons", &reasons, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
           nb::arg("selected_only"), nb::arg("most"))
      .def("calibrated", &calibrated, nb::arg("margins"), nb::arg("selected_only"))
      .def("calibration", &calibration, nb::arg("selected_only"))
      .def("restore_calibration", &restore_calibration, nb::arg("selected_only"),
           nb::arg("examples"), nb::arg("weight"), nb::arg("information"), nb::arg("pull"))
      .def_prop_rw(
          "calibrating",
          [](const Learner& l) {
            const Alone alone(l.busy);
            return l.calibrating();
          },
          [](Learner& l, bool on) {
            const Alone alone(l.busy);
            l.set_calibrating(on);
          })
      .def("query", &query, nb::arg("keys"))
      .def("move", &move, nb::arg("keys"), nb::arg("change"))
      .def("finish_pass",
           [](Learner& l) {
             const Alone alone(l.busy);
             l.finish_pass();
           })
      .def("selected", &selected, nb::arg("group"))
      .def("restore_selected", &restore_selected, nb::arg("group"), nb::arg("keys"),
           nb::arg("weights"), nb::arg("levels"), nb::arg("names"), nb::arg("aliases"))
      .def("cells", &cells)
      .def("restore_cells", &restore_cells, nb::arg("cells"))
      .def("raw_cells", &raw_cells)
      .def("state", &state, nb::arg("exact"))
      .def("restore", &restore, nb::arg("fields"))
      .def("fill", &fill);
  bind_evidence(m, learner);
}

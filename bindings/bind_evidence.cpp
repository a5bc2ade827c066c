#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bear/evidence/gain.hpp"
#include "bear/evidence/levels.hpp"
#include "learner.hpp"

namespace {

using bear::evidence::Ledger;
using bear::evidence::Record;
using bear::evidence::Sample;

Ledger& ledger_of(Learner& learner) {
  if (!learner.ledger()) throw nb::value_error("the learner gathers no evidence");
  return *learner.ledger();
}

// Arrays by name, one value or row of values for each record.
struct Columns {
  std::vector<std::uint64_t> keys, rows, since, sampled, places;
  std::vector<double> log_e;
  std::vector<float> shift, variance, stake, mean;
  std::vector<std::uint32_t> labels;
  std::vector<std::uint8_t> sample_sizes;

  void add(const Record& r) {
    keys.push_back(r.key);
    log_e.push_back(r.log_e);
    shift.push_back(r.shift);
    variance.push_back(r.variance);
    stake.push_back(r.stake);
    mean.push_back(r.mean);
    labels.push_back(r.label);
    rows.push_back(r.rows);
    since.push_back(r.since);
    sample_sizes.push_back(static_cast<std::uint8_t>(r.sample.size));
    sampled.insert(sampled.end(), r.sample.rows.begin(), r.sample.rows.end());
    places.insert(places.end(), r.sample.places.begin(), r.sample.places.end());
  }

  nb::dict to_dict() {
    const std::size_t n = keys.size();
    nb::dict out;
    out["keys"] = give(std::move(keys));
    out["log_e"] = give(std::move(log_e));
    out["shift"] = give(std::move(shift));
    out["variance"] = give(std::move(variance));
    out["stake"] = give(std::move(stake));
    out["mean"] = give(std::move(mean));
    out["labels"] = give(std::move(labels));
    out["rows"] = give(std::move(rows));
    out["since"] = give(std::move(since));
    out["sample_sizes"] = give(std::move(sample_sizes));
    out["sampled"] = give(std::move(sampled), {n, Sample::kRows});
    out["places"] = give(std::move(places), {n, Sample::kPlaced});
    return out;
  }
};

// Those of the selected of a heap, best first; or those that left it while it was shared.
nb::dict evidence_records(Learner& learner, std::size_t heap, bool parked) {
  Columns columns;
  bear::Learner& core = learner;
  Alone alone(learner.busy);
  if (core.ledger()) {
    const Ledger& ledger = *core.ledger();
    const bear::TopK& top = core.selection().top(heap);
    if (parked) {
      for (const Record& record : ledger.parked()[heap]) columns.add(record);
    } else {
      for (const std::int32_t slot : top.ranked()) {
        const auto at = static_cast<std::size_t>(slot);
        const auto& records = ledger.records()[heap];
        Record record = at < records.size() ? records[at] : Record{};
        if (!record.live || record.key != top.key(slot)) record = Record{};
        record.key = top.key(slot);
        columns.add(record);
      }
    }
  }
  alone.unlock();
  return columns.to_dict();
}

template <class T>
std::span<const T> column(const nb::dict& given, const char* name, std::size_t n) {
  const auto array = view(nb::cast<In<T>>(given[name]));
  if (array.size() != n) {
    throw nb::value_error((std::string("evidence: ") + name + " does not fit").c_str());
  }
  return array;
}

bool sound(const Record& r) {
  return std::isfinite(r.log_e) && std::isfinite(r.shift) && r.variance >= 0.0F &&
         std::isfinite(r.variance) && r.stake >= 0.0F && r.stake < 1.0F && std::isfinite(r.mean);
}

void restore_evidence_records(Learner& learner, std::size_t heap, bool parked,
                              const nb::dict& given) {
  const auto keys = view(nb::cast<In<std::uint64_t>>(given["keys"]));
  const std::size_t n = keys.size();
  const auto log_e = column<double>(given, "log_e", n);
  const auto shift = column<float>(given, "shift", n),
             variance = column<float>(given, "variance", n),
             stake = column<float>(given, "stake", n), mean = column<float>(given, "mean", n);
  const auto labels = column<std::uint32_t>(given, "labels", n);
  const auto rows = column<std::uint64_t>(given, "rows", n),
             since = column<std::uint64_t>(given, "since", n),
             places = column<std::uint64_t>(given, "places", n * Sample::kPlaced);
  const auto sampled = column<std::uint64_t>(given, "sampled", n * Sample::kRows);
  const auto sizes = column<std::uint8_t>(given, "sample_sizes", n);
  const Alone alone(learner.busy);
  Ledger& ledger = ledger_of(learner);
  const bear::TopK& top = learner.selection().top(heap);
  auto& records = parked ? ledger.parked().at(heap) : ledger.records().at(heap);
  records.clear();
  if (!parked) records.resize(top.size());
  for (std::size_t i = 0; i < n; ++i) {
    Record r;
    r.key = keys[i];
    r.live = true;
    r.log_e = log_e[i];
    r.shift = shift[i];
    r.variance = variance[i];
    r.stake = stake[i];
    r.mean = mean[i];
    r.label = labels[i];
    r.rows = rows[i];
    r.since = since[i];
    r.sample.size = sizes[i];
    for (std::size_t j = 0; j < Sample::kRows; ++j) {
      r.sample.rows[j] = sampled[i * Sample::kRows + j];
    }
    for (std::size_t j = 0; j < Sample::kPlaced; ++j) {
      r.sample.places[j] = places[i * Sample::kPlaced + j];
    }
    r.sample.find_limit();
    if (!sound(r) || r.sample.size > Sample::kRows ||
        r.label >= std::max<std::size_t>(learner.classes(), 2)) {
      throw nb::value_error("evidence: a record holds nonsense");
    }
    if (parked) {
      records.push_back(r);
      continue;
    }
    const std::int32_t slot = top.find(r.key);
    if (slot < 0) throw nb::value_error("evidence: a record of a feature that is not selected");
    records[static_cast<std::size_t>(slot)] = r;
  }
}

// Bank, tests begun, counts, whether frozen; numbers of the order check; sample of rows.
nb::dict evidence_state(Learner& learner) {
  Alone alone(learner.busy);
  const Ledger& ledger = ledger_of(learner);
  const auto& count = ledger.count();
  const auto real = [](std::uint64_t n) { return static_cast<double>(n); };
  std::vector<double> numbers = {ledger.bank().cash, real(ledger.bank().begun),  real(count.rows),
                                 real(count.origin), real(count.drawn),          real(count.small),
                                 real(count.later),  ledger.frozen() ? 1.0 : 0.0};
  std::vector<double> order(ledger.order().numbers().begin(), ledger.order().numbers().end());
  const auto& copies = ledger.copies();
  std::vector<std::uint64_t> hashes(copies.hashes().begin(), copies.hashes().end()),
      counts(copies.counts().begin(), copies.counts().end());
  alone.unlock();
  nb::dict out;
  out["numbers"] = give(std::move(numbers));
  out["order"] = give(std::move(order));
  out["row_hashes"] = give(std::move(hashes));
  out["row_counts"] = give(std::move(counts));
  return out;
}

void restore_evidence_state(Learner& learner, const nb::dict& given) {
  constexpr std::size_t kNumbers = 8;
  const auto numbers = column<double>(given, "numbers", kNumbers);
  const auto hashes = view(nb::cast<In<std::uint64_t>>(given["row_hashes"]));
  const auto counts = column<std::uint64_t>(given, "row_counts", hashes.size());
  for (const double number : numbers) {
    if (!(number >= 0.0 && number < 0x1p+62)) throw nb::value_error("evidence: numbers");
  }
  if (!(numbers[0] > 0.0 && numbers[0] <= 1.0)) throw nb::value_error("evidence: bank");
  const Alone alone(learner.busy);
  Ledger& ledger = ledger_of(learner);
  const auto whole = [&](std::size_t i) { return static_cast<std::uint64_t>(numbers[i]); };
  ledger.order().restore(view(nb::cast<In<double>>(given["order"])));
  ledger.copies().restore(hashes, counts);
  ledger.bank() = {numbers[0], whole(1)};
  ledger.count() = {whole(2), whole(3), whole(4), whole(5), whole(6)};
  ledger.freeze(numbers[7] != 0.0);
}

Out<double> levels(const In<double>& log_e, const In<double>& stakes, double bank,
                   const In<std::uint8_t>& candidates) {
  return give(bear::evidence::levels(view(log_e), view(stakes), bank, view(candidates)));
}

}  // namespace

void bind_evidence(nb::module_& m, nb::class_<Learner>& learner) {
  m.def("log_mean_of_labels", &bear::evidence::log_mean_of_labels, nb::arg("b"),
        nb::arg("positive"), nb::arg("n"), nb::arg("bet"));
  m.def("log_mean_of_ranks", &bear::evidence::log_mean_of_ranks, nb::arg("b"), nb::arg("n"),
        nb::arg("bet"));
  m.def("evidence_levels", &levels, nb::arg("log_e"), nb::arg("stakes"), nb::arg("bank"),
        nb::arg("candidates"));
  learner.def_prop_ro("has_evidence", [](const Learner& l) { return l.ledger().has_value(); })
      .def("evidence_records", &evidence_records, nb::arg("heap"), nb::arg("parked"))
      .def("restore_evidence_records", &restore_evidence_records, nb::arg("heap"),
           nb::arg("parked"), nb::arg("given"))
      .def("evidence_state", &evidence_state)
      .def("restore_evidence_state", &restore_evidence_state, nb::arg("given"))
      .def(
          "freeze_evidence",
          [](Learner& l, bool frozen) {
            const Alone alone(l.busy);
            if (l.ledger()) l.ledger()->freeze(frozen);
          },
          nb::arg("frozen"))
      .def(
          "share_evidence",
          [](Learner& l, std::uint64_t part) {
            const Alone alone(l.busy);
            if (l.ledger()) l.ledger()->share(part);
          },
          nb::arg("part"));
}

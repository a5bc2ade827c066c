#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bear/scaling.hpp"
#include "bear/scores.hpp"

namespace {

Out<std::uint64_t> hash_names(const nb::list& names, std::uint64_t seed) {
  const bear::NameHash hash(seed);
  std::vector<std::uint64_t> keys;
  keys.reserve(names.size());
  for (const nb::handle item : names) {
    const auto name = nb::cast<nb::bytes>(item);
    keys.push_back(hash({name.c_str(), name.size()}));
  }
  return give(std::move(keys));
}

void check_rows(const In<std::int64_t>& indptr, const In<std::uint64_t>& keys,
                const In<float>& values, const std::optional<In<double>>& weights,
                const std::optional<In<std::uint8_t>>& name_data,
                const std::optional<In<std::uint64_t>>& name_offsets) {
  const auto batch =
      batch_view(indptr, keys, values, std::nullopt, weights, name_data, name_offsets);
  nb::gil_scoped_release released;
  bear::check_rows(batch);
}

// indptr, keys, values, and None or names as a pair.
nb::tuple scale_rows(const In<std::int64_t>& indptr, const In<std::uint64_t>& keys,
                     const In<float>& values, const std::optional<In<std::uint8_t>>& name_data,
                     const std::optional<In<std::uint64_t>>& name_offsets,
                     const In<std::uint64_t>& columns, const In<double>& means,
                     const In<double>& sizes, const In<std::uint8_t>& missing,
                     const In<std::uint8_t>& column_data, const In<std::uint64_t>& column_offsets,
                     double most) {
  const auto batch =
      batch_view(indptr, keys, values, std::nullopt, std::nullopt, name_data, name_offsets);
  const bear::Columns scaled{view(columns), view(means),       view(sizes),
                             view(missing), view(column_data), view(column_offsets)};
  bear::ScaledRows rows;
  {
    nb::gil_scoped_release released;
    rows = bear::scale_rows(batch, scaled, most);
  }
  nb::object names = nb::none();
  if (batch.named()) {
    names = nb::make_tuple(give(std::move(rows.name_data)), give(std::move(rows.name_offsets)));
  }
  return nb::make_tuple(give(std::move(rows.indptr)), give(std::move(rows.keys)),
                        give(std::move(rows.values)), names);
}

// Weight, weight predicted right, log-loss and weight of the second class.
nb::tuple add_scores(const In<double>& numbers, const In<double>& margins,
                     const std::optional<In<double>>& weights,
                     nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> mass) {
  const bear::BinarySums sums =
      bear::add_scores(view(numbers), view(margins), view(weights), {mass.data(), mass.size()});
  return nb::make_tuple(sums.weight, sums.right, sums.loss, sums.positive);
}

}  // namespace

void bind_batch(nb::module_& m) {
  m.def("hash_names", &hash_names, nb::arg("names"), nb::arg("seed"));
  m.def("check_rows", &check_rows, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
        nb::arg("weights").none(), nb::arg("name_data").none(), nb::arg("name_offsets").none());
  m.def("scale_rows", &scale_rows, nb::arg("indptr"), nb::arg("keys"), nb::arg("values"),
        nb::arg("name_data").none(), nb::arg("name_offsets").none(), nb::arg("columns"),
        nb::arg("means"), nb::arg("sizes"), nb::arg("missing"), nb::arg("column_data"),
        nb::arg("column_offsets"), nb::arg("most"));
  m.def("add_scores", &add_scores, nb::arg("numbers"), nb::arg("margins"),
        nb::arg("weights").none(), nb::arg("mass"));
}

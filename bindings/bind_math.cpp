#include "arrays.hpp"
#include "bear/math.hpp"

namespace {

template <double (*function)(double)>
Out<double> each(const In<double>& values) {
  std::vector<double> out(values.size());
  {
    nb::gil_scoped_release released;
    const std::span<const double> from = view(values);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = function(from[i]);
  }
  return give(std::move(out));
}

}  // namespace

void bind_math(nb::module_& m) {
  m.def("exp", &each<bear::math::exp>);
  m.def("log", &each<bear::math::log>);
  m.def("log1p", &each<bear::math::log1p>);
}

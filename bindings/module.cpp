#include <nanobind/nanobind.h>

void bind_rows(nanobind::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of bearsketch.";
  bind_rows(m);
}

#include <nanobind/nanobind.h>

void bind_batch(nanobind::module_& m);
void bind_learner(nanobind::module_& m);
void bind_parse(nanobind::module_& m);
void bind_rows(nanobind::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of bearsketch.";
  bind_batch(m);
  bind_learner(m);
  bind_parse(m);
  bind_rows(m);
}

#include <nanobind/nanobind.h>

void bind_batch(nanobind::module_& m);
void bind_learner(nanobind::module_& m);
void bind_parse(nanobind::module_& m);
void bind_rows(nanobind::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of bearsketch.";
  // A daemon thread that reads ahead may hold a batch when the interpreter ends: nothing to report.
  nanobind::set_leak_warnings(false);
  bind_batch(m);
  bind_learner(m);
  bind_parse(m);
  bind_rows(m);
}

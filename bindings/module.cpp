#include <nanobind/nanobind.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void bind_batch(nanobind::module_& m);
void bind_exact(nanobind::module_& m);
void bind_learner(nanobind::module_& m);
void bind_math(nanobind::module_& m);
void bind_parse(nanobind::module_& m);
void bind_rows(nanobind::module_& m);

namespace {

// Memory that is freed stays with the process, for all its threads: one that makes and frees
// batches on a new thread each time would spend a tenth of its time asking for the same pages.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMost = 1 << 26;
  mallopt(M_MMAP_THRESHOLD, kMost / 4);
  mallopt(M_TRIM_THRESHOLD, kMost);
  mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of bearsketch.";
  // A daemon thread that reads ahead may hold a batch when the interpreter ends: nothing to report.
  nanobind::set_leak_warnings(false);
  m.def("keep_freed_memory", &keep_freed_memory);
  bind_batch(m);
  bind_learner(m);
  bind_exact(m);
  bind_math(m);
  bind_parse(m);
  bind_rows(m);
}

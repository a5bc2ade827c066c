#include "bear/storage.hpp"

#include "bear/storage/cached_sketch.hpp"
#include "bear/storage/count_sketch.hpp"
#include "bear/storage/dense.hpp"

namespace bear {

namespace {

template <template <class> class Kind, class... Args>
std::unique_ptr<Storage> with_cell(Precision precision, Args&&... args) {
  if (precision == Precision::float64) {
    return std::make_unique<Kind<double>>(std::forward<Args>(args)...);
  }
  return std::make_unique<Kind<float>>(std::forward<Args>(args)...);
}

}  // namespace

std::unique_ptr<Storage> make_dense(std::size_t dimension, std::size_t classes,
                                    Precision precision) {
  return with_cell<Dense>(precision, dimension, classes);
}

std::unique_ptr<Storage> make_count_sketch(const SketchShape& shape, Precision precision) {
  return with_cell<CountSketch>(precision, shape);
}

std::unique_ptr<Storage> make_cached_sketch(const SketchShape& shape, Precision precision,
                                            Selection& selection, bool subtract) {
  return with_cell<CachedSketch>(precision, shape, selection, subtract);
}

}  // namespace bear

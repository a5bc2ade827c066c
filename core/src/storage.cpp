#include "bear/storage.hpp"

#include "bear/storage/cached_sketch.hpp"
#include "bear/storage/count_sketch.hpp"
#include "bear/storage/dense.hpp"

namespace bear {

namespace {

template <template <class> class Kind, class... Args>
std::unique_ptr<Storage> with_cell(Precision precision, const SketchShape& shape, Args&&... args) {
  switch (precision) {
    case Precision::int8:
      if (shape.counts) {
        return std::make_unique<Kind<CountedByte>>(shape, std::forward<Args>(args)...);
      }
      return std::make_unique<Kind<std::int8_t>>(shape, std::forward<Args>(args)...);
    case Precision::float32:
      return std::make_unique<Kind<float>>(shape, std::forward<Args>(args)...);
    case Precision::float64:
      return std::make_unique<Kind<double>>(shape, std::forward<Args>(args)...);
    case Precision::bfloat16:
      break;
  }
  throw std::invalid_argument("unknown precision");
}

}  // namespace

void Storage::restore(std::span<const double> numbers) {
  if (!numbers.empty()) throw std::invalid_argument("this storage keeps nothing but its cells");
}

void Storage::set_factor(double factor) {
  if (factor != 1.0) throw std::invalid_argument("this storage has no common factor");
}

std::unique_ptr<Storage> make_dense(std::size_t dimension, std::size_t classes,
                                    Precision precision) {
  if (precision == Precision::float64) return std::make_unique<Dense<double>>(dimension, classes);
  return std::make_unique<Dense<float>>(dimension, classes);
}

std::unique_ptr<Storage> make_count_sketch(const SketchShape& shape, Precision precision) {
  return with_cell<CountSketch>(precision, shape);
}

std::unique_ptr<Storage> make_cached_sketch(const SketchShape& shape, Precision precision,
                                            Selection& selection, bool subtract) {
  return with_cell<CachedSketch>(precision, shape, selection, subtract);
}

}  // namespace bear

// Where weights live. One call per batch; a key has one weight per class, contiguous.
#pragma once

#include <algorithm>
#include <memory>

#include "bear/active_set.hpp"
#include "bear/types.hpp"

namespace bear {

// Where the keys of an active set stand: found once per batch, used by every query and add.
struct Places {
  std::size_t depth = 0;              // cells per key
  std::vector<std::uint64_t> cells;   // depth per key: cell number * 2 + (sign is negative)
  std::size_t groups = 0;             // selections per key: 0, 1, or one per class
  std::vector<std::int32_t> members;  // groups per key: slot among the selected, or -1
  // Where in `members` the slots are: what concerns the selected visits these, because a test of
  // every key for being one cannot be foreseen and takes longer than the work.
  std::vector<std::uint32_t> chosen;
  // Whose an element of `members` is; a division takes longer than all that is done with it.
  std::size_t group_of(std::size_t i) const { return groups == 1 ? 0 : i % groups; }
  std::size_t column_of(std::size_t i) const { return groups == 1 ? i : i / groups; }

  // Elements of `cells` that stand for a cell which an earlier one stands for too, rising, each
  // with the first that does: filled in by storages that write each cell once per batch.
  struct Shared {
    std::uint32_t element, first;
  };
  std::vector<Shared> shared;
  void find_shared();

 private:
  void list_elements(std::size_t bits, bool known);

  // Scratch of find_shared().
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint32_t> listed_, table_;
};

struct CountedByte;
template <class T>
class Cells;
using CountingCells = Cells<CountedByte>;

class Storage {
 public:
  virtual ~Storage() = default;

  // Throws std::invalid_argument unless every key has a place here.
  virtual void check(Keys) const {}

  // Cells of every key of the active set.
  virtual void locate(const ActiveSet& active, Places& places) const = 0;

  // weights[key][class] as they stand.
  virtual void query(const Places& places, Reals weights) const = 0;

  // The same for the key in one column.
  virtual void query_one(const Places& places, std::size_t column, Reals weights) const = 0;

  // weights += step
  virtual void add(const Places& places, ConstReals step) = 0;

  // The cells, where they count how often their keys are met.
  virtual CountingCells* counting() { return nullptr; }
  virtual const CountingCells* counting() const { return nullptr; }

  // All weights times c, for L2 decay; lazily where that is cheaper.
  virtual void scale(double c) = 0;

  // A key enters the selection with these weights of the classes first, first + 1, ...
  virtual void admit(Key, std::size_t /*first*/, ConstReals /*weights*/) {}

  // A key leaves the selection with these weights.
  virtual void release(Key, std::size_t /*first*/, ConstReals /*weights*/) {}

  // Whether the weights of the selected live in the selection and nowhere else.
  virtual bool exact() const { return false; }

  // The numbers kept, as one block of bytes at their real width, any lazy scale applied.
  virtual std::span<std::byte> bytes() = 0;

  // The same as it lies there, and the lazy scale that is to be applied to it.
  virtual std::span<const std::byte> raw() const = 0;
  virtual double factor() const { return 1.0; }
  virtual void set_factor(double factor);

  // What else is needed to go on from those bytes: the quantum of narrow cells, and their writes.
  virtual std::vector<double> numbers() const { return {}; }
  virtual void restore(std::span<const double> numbers);

  // What the weights in cells are multiples of; 0 where they are any number.
  virtual double grain() const { return 0.0; }

  // Numbers in the cells that are not zero.
  virtual std::size_t used() const = 0;

  // Largest magnitude and root mean square of the cells, and how many are not zero.
  struct Fill {
    std::size_t cells = 0, used = 0;
    double largest = 0.0, rms = 0.0;
  };
  virtual Fill fill() const = 0;
};

enum class Query { mean, median };
// Of cells float32, float64 and int8; of selected weights also bfloat16, the first half of a
// float32.
enum class Precision { float32, float64, int8, bfloat16 };

struct SketchShape {
  std::size_t width = 1;
  std::size_t depth = 1;
  std::size_t classes = 1;
  Query query = Query::mean;
  std::uint64_t seed = 0;
  bool counts = false;  // whether cells of a byte are to count
};

class Selection;

std::unique_ptr<Storage> make_dense(std::size_t dimension, std::size_t classes, Precision);
std::unique_ptr<Storage> make_count_sketch(const SketchShape&, Precision);
// Exact weights for the selected. subtract: they leave the sketch while selected (BEAR+);
// else the copy stays behind and is corrected on eviction (AWM).
std::unique_ptr<Storage> make_cached_sketch(const SketchShape&, Precision, Selection&,
                                            bool subtract);

}  // namespace bear

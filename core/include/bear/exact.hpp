// A learner as plain numbers in double precision, for averaging any number of learners at once.
#pragma once

#include "bear/learner.hpp"

namespace bear {

// Weights of some keys by group, [key][class], cells in double precision that hold the rest, what
// cells have counted and the levels of the keys' own counters, and the state of the update.
struct Exact {
  std::vector<std::vector<double>> weights;
  std::unique_ptr<Learner> wide;
  std::vector<double> counters;
  std::vector<std::vector<std::uint8_t>> levels;
  std::vector<std::vector<double>> worths;  // of a unit of the keys' weights
  Fields state;

  Reals cells() const;
};

// Weights of some keys of each group, all made exact: one that is not selected is taken out of the
// cells before the next one, which may share them, is read. The learner itself stays as it is.
Exact take_apart(Learner& learner, const std::vector<Keys>& keys);

// Learners put together. With posteriors this is their product over one prior: precisions add,
// means weigh by precision. Of others it is the mean by their shares. Where all went on from one
// `start`, what it knew counts once; and the mean of moves from there, of each group and of the
// cells, is stretched to the root mean square of their lengths.
Exact average(const std::vector<Learner*>& parts, ConstReals shares, Learner* start,
              const std::vector<Keys>& keys);

// Keys of each group to put back into the cells, as exact weights leave the selection.
struct Returned {
  std::vector<Keys> keys;
  std::vector<ConstReals> weights;
};

// The way back: fills the cells of a learner from those of `exact`, which get the returned keys
// first. One-byte cells get at least this quantum, more where the largest needs it, and are rounded
// up or down at random in proportion; the draw is a hash of the seed, the number of writes and the
// cell.
void put_together(Learner& learner, Exact& exact, const Returned& returned, double quantum,
                  double writes);

}  // namespace bear

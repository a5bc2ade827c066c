// Online L-BFGS in coefficient form. Pairs live on the active sets of different batches; only
// inner products on their intersections are needed, so nothing has the size of the key space.
//
//   a_q = (s_q.g - sum over h newer than q of a_h s_q.r_h) / s_q.r_q          newest to oldest
//   gam = s_0.r_0 / r_0.r_0                                                   newest pair
//   c_q = a_q - [gam (r_q.g - sum_h a_h r_q.r_h) + sum over h older of c_h s_h.r_q] / s_q.r_q
//   z   = gam g + sum_q (c_q s_q - gam a_q r_q)
#pragma once

#include <array>

#include "bear/key_map.hpp"
#include "bear/update/gradient.hpp"

namespace bear {

class Lbfgs final : public Direction {
 public:
  Lbfgs(std::size_t history, std::size_t classes);

  void direct(const Point& point, Reals z) override;
  bool wants_pair() const override { return history_ > 0; }
  void observe(const ActiveSet& active, ConstReals step, ConstReals change,
               Guards& guards) override;
  void reset();  // forgets all pairs
  Fields state() const override;
  void restore(const Fields& fields) override;

  std::size_t size() const { return count_; }
  double mean_curvature() const { return mean_curvature_; }

 private:
  // One (step, change of gradient) on the active set of its batch.
  struct Pair {
    std::vector<std::int32_t> slots;  // of its keys
    std::vector<double> s, r;         // [key][class]
  };

  // q-th pair counted from the newest.
  std::size_t ring(std::size_t q) const { return (newest_ + history_ - q) % history_; }
  double& sr(std::size_t i, std::size_t k) { return sr_[i * history_ + k]; }
  double& rr(std::size_t i, std::size_t k) { return rr_[i * history_ + k]; }

  void number(const ActiveSet& active);
  // Inner products of a pair's s and r with N vectors over the active set, in one sweep: sums
  // that run side by side do not wait for each other.
  struct Dots {
    double s = 0.0, r = 0.0;
  };
  template <std::size_t N>
  std::array<Dots, N> dots(const Pair& pair, const std::array<ConstReals, N>& vectors) const;
  void coefficients(ConstReals sg, ConstReals rg, Reals a, Reals c, double gam);
  bool admissible(ConstReals s, Guards& guards);
  void store(const ActiveSet& active, ConstReals s);
  std::int32_t take_slot(Key key);
  void forget(Pair& pair);

  std::size_t history_, classes_;
  std::vector<Pair> pairs_;
  std::size_t newest_ = 0, count_ = 0;
  std::vector<double> sr_, rr_;  // inner products of pairs, by place in the ring
  double mean_curvature_ = 0.0;
  std::vector<double> change_;  // r of the pair under consideration, after damping

  // Keys of all stored pairs, numbered once: a pair holds 4-byte slots, and each key is looked up
  // once per batch instead of once per pair.
  KeyMap slot_of_;
  std::vector<Key> slot_keys_;
  std::vector<std::uint32_t> slot_uses_;
  std::vector<std::int32_t> free_slots_;
  std::vector<std::int32_t> column_of_slot_;  // column in the current active set, or -1
  std::vector<std::int32_t> slot_of_column_;
};

}  // namespace bear

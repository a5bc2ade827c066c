// How far each weight of a batch moves beside the others: by the size of its values, and by how
// often it is touched, to the power that Rarity says.
#pragma once

#include "bear/direction.hpp"

namespace bear {

constexpr double kCountedOnce = 4.0;  // batches of which one is counted, as so many

// Weights per element of Places::members; 0 where nothing can be selected.
inline std::size_t width_of(const Places& places, ConstReals weights) {
  return places.members.empty() ? 0 : weights.size() / places.members.size();
}

class Pace {
 public:
  // counts: whether the keys of this batch are to be counted.
  void measure(const Point& point, double power, bool counts);

  void damp_selected(const Places& places, Reals change);
  void damp_cells(Reals change) const;

  // What is known of each weight, given the information of one occurrence of a value of 1.
  void know(const Point& point, double of_one);

  // What examples that are seen again take back of each weight: in a whole pass of usual steps
  // this share of it, as a prior does whose variance is the step. They are no new evidence, and
  // without it weights grow until they fit the noise.
  void pull(const Point& point, double share);

  // A damped change becomes a step of that length, shorter where more is known, with what is taken
  // back of the weights. usual: the running step.
  struct Length {
    double own = 0.0, usual = 0.0;
  };
  void step_selected(Length length, ConstReals weights, Reals change) const {
    step(alone_, length, weights, change);
  }
  void step_cells(Length length, ConstReals weights, Reals change) const {
    step(cells_, length, weights, change);
  }

  // The weights, each times how far the logarithm of how often it is touched is from the mean. The
  // selected by themselves: what is held exactly differs from what shares cells in more than how
  // often it occurs. rest: the weights without the selected.
  void tilt(const Point& point, ConstReals rest, Reals tilted);

  // How often each key of the batch occurs there.
  ConstReals often() const { return often_; }

  // How many keys of the batch are in the cell of one, on average; 1 or more.
  double crowding() const { return crowding_; }

  // salt: what draws for the keys of this batch begin from.
  Measures measures(std::uint64_t salt) const;

 private:
  void measure_values(const Point& point);
  void measure_occurrences(const Point& point);
  void count(const Point& point, const CountingCells& cells, bool counts);
  void set_cells();
  void set_trust(const Point& point, bool counting);
  void step(ConstReals paces, Length length, ConstReals weights, Reals change) const;
  double held(double length, double pace, std::size_t key) const {
    return length / (1.0 + length * pace * known_[key]);
  }
  double keys_of_counter(const Point& point) const;

  double power_ = 0.0;
  std::vector<double> damping_;  // of the keys; empty where no value is large
  double usual_ = 1.0;           // magnitude of values
  std::vector<double> often_;    // how often each key occurs, and the mean of those that do
  double often_mean_ = 1.0;
  std::vector<double> met_;      // how often keys of a key's cell did before
  std::vector<double> counted_;  // how often keys are to be counted; empty: not this time
  std::vector<double> cells_;    // how often keys of a key's cell occur with those before; then the
                                 // factor on its change
  double crowding_ = 1.0;        // keys of the batch in the cell of one
  std::vector<double> alone_;    // the factor on the change of what is selected
  std::vector<double> known_;    // information about a weight by row of the batch; empty: none
  std::vector<double> pull_;     // share of a weight that a usual step takes back; empty: none
  std::vector<double> roots_;    // of that number; with many classes their roots
  std::vector<float> logs_;      // of the same, to base 2
  bool worths_ = false;          // whether the roots tell what weights are worth
  std::vector<double> trust_;    // what the square of a weight in cells counts by, over
  double enough_ = 1.0;          // this
  std::vector<double> chosen_, chosen_often_;  // of the selected alone
  std::vector<float> chosen_logs_;
};

}  // namespace bear

// How a minibatch changes the weights. Two calls per minibatch: one that finds the change and may
// refuse it, and one that makes it.
#pragma once

#include <map>
#include <memory>
#include <variant>

#include "bear/evidence/occurrences.hpp"
#include "bear/loss.hpp"
#include "bear/recipe.hpp"
#include "bear/selection.hpp"

namespace bear {

// State by name, as models keep it.
using Field = std::variant<std::vector<double>, std::vector<std::uint64_t>>;
using Fields = std::map<std::string, Field>;

// So many numbers of a name; throws std::invalid_argument unless they are there and finite.
std::vector<double> numbers_of(const Fields& fields, const std::string& name, std::size_t count);

// What an update works on: the parts of the learner that it belongs to.
struct Parts {
  const Recipe& recipe;
  const Loss& loss;
  Storage& storage;
  Selection& selection;
  std::vector<double>& intercept;
  Counters& counters;
  Guards& guards;
};

// What is asked of a minibatch as the model stands before it.
struct Before {
  Reals margins;                    // rows x classes
  Reals selected_margins;           // the same with the selected alone, or empty
  evidence::Occurrences* selected;  // the selected features in its rows, or nullptr
};

class Update {
 public:
  virtual ~Update() = default;

  // Finds the change that a minibatch asks for, and throws Diverged where it leaves the finite
  // numbers; nothing that outlives the minibatch is changed. Returns the mean loss before it.
  virtual double solve(const BatchView& batch, const Before& before) = 0;

  // Makes the change, and offers the keys of the minibatch to the selection.
  virtual void write() = 0;

  // A minibatch ends before it has more entries than this, one row at least.
  virtual std::size_t most_entries() const { return static_cast<std::size_t>(-1); }

  // What the constant of the selected alone is more than the intercept; empty: nothing.
  virtual ConstReals selected_offset() const { return {}; }
  virtual void move_selected_offset(ConstReals /*change*/) {}

  // What a unit of a weight is worth where features are ranked, by the level of a key's counter and
  // on the mean over cells.
  virtual double worth(std::size_t /*level*/) const { return 1.0; }
  virtual double mean_worth() const { return 1.0; }

  // Precisions, where the update has them, for the product of several posteriors: that of a weight
  // of which nothing is known, and what so many counts add to it; 0: it has none.
  virtual double prior() const { return 0.0; }
  virtual double information(double /*count*/, bool /*selected*/) const { return 0.0; }

  // What is kept of several that are put together, each by its share; they went on from the start,
  // where there is one.
  virtual Fields merged(const std::vector<const Update*>& /*parts*/, ConstReals /*shares*/,
                        const Update* /*start*/) const {
    return {};
  }

  // What a model keeps of it; exact: and all else that it takes to go on to the same bytes. It is
  // restored after cells and selection.
  virtual Fields state(bool /*exact*/) const { return {}; }
  virtual void restore(const Fields& /*fields*/) {}
};

// Mean weight of the examples so far, those of a minibatch among them. An example of weight 0 is
// none.
double mean_weight(const Counters& counters, const Targets& targets);

std::unique_ptr<Update> make_gradient(const Parts& parts);
std::unique_ptr<Update> make_lbfgs(const Parts& parts);
std::unique_ptr<Update> make_newton(const Parts& parts);
std::unique_ptr<Update> make_posterior(const Parts& parts);

}  // namespace bear

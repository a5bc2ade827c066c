// A learner as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <shared_mutex>

#include "bear/learner.hpp"

// A learner that several threads of Python may call, as learning lets the others run: predictions
// share it, all else has it alone.
class Learner : public bear::Learner {
 public:
  using bear::Learner::Learner;
  mutable std::shared_mutex busy;
};

// Both for code that has let go of the interpreter's lock.
using Exclusive = std::unique_lock<std::shared_mutex>;
using Shared = std::shared_lock<std::shared_mutex>;

// The same for code that holds the interpreter's lock, and gives it away while it waits: else the
// thread it waits for may wait for that one. Lists and dictionaries are not made before unlock(),
// because that may collect garbage, and with it run anything.
class Alone : public Exclusive {
 public:
  explicit Alone(std::shared_mutex& busy) : Exclusive(busy, std::defer_lock) {
    const nanobind::gil_scoped_release released;
    lock();
  }
};

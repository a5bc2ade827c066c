#include "bear/update/update.hpp"

#include <cmath>

namespace bear {

std::vector<double> numbers_of(const Fields& fields, const std::string& name, std::size_t count) {
  const auto found = fields.find(name);
  const auto* const numbers =
      found == fields.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
  if (numbers == nullptr || numbers->size() != count) {
    throw std::invalid_argument("the model needs " + std::to_string(count) + " numbers of " + name);
  }
  for (const double number : *numbers) {
    if (!std::isfinite(number)) throw std::invalid_argument(name + " must be finite");
  }
  return *numbers;
}

double mean_weight(const Counters& counters, const Targets& targets) {
  return (counters.weight + targets.total()) /
         static_cast<double>(counters.weighed + targets.weighed());
}

}  // namespace bear

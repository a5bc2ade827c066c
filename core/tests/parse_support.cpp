#include "parse_support.hpp"

#include <algorithm>

namespace bear::parse::testing {

std::string features(const Example& example) {
  std::vector<std::string> shown;
  for (const Entry& e : example.entries) {
    std::ostringstream one;
    one << (e.name.empty() ? std::to_string(e.key) : e.name) << "=" << e.value;
    shown.push_back(one.str());
  }
  const bool named = !example.entries.empty() && !example.entries[0].name.empty();
  if (named) std::sort(shown.begin(), shown.end());
  std::string out;
  for (const std::string& one : shown) out += (out.empty() ? "" : " ") + one;
  return out;
}

}  // namespace bear::parse::testing

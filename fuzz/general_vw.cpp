// The same source once more, under another name and without marks.
#include "general.hpp"
#include "no_marks.hpp"

// Included ahead of the renaming, so that the real ones keep their names.
#include "bear/parse/marks.hpp"

#define Marks NoMarks
#define VwParser GeneralVwParser
#include "../core/src/parse/vw.cpp"

namespace bear::parse::testing {

std::unique_ptr<Parser> make_general_vw(const AllOptions& options) {
  return std::make_unique<GeneralVwParser>(options.common);
}

}  // namespace bear::parse::testing

// The same source once more, under another name and without marks.
#include "general.hpp"
#include "no_marks.hpp"

// Included ahead of the renaming, so that the real ones keep their names.
#include "bear/parse/marks.hpp"

#define Marks NoMarks
#define SvmlightParser GeneralSvmlightParser
#include "../core/src/parse/svmlight.cpp"

namespace bear::parse::testing {

std::unique_ptr<Parser> make_general_svmlight(const AllOptions& options) {
  return std::make_unique<GeneralSvmlightParser>(options.common, options.duplicates);
}

}  // namespace bear::parse::testing

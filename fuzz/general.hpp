// The parsers that have a fast path for plain features, made without it: every feature goes through
// the code that lines of more than Marks::max_line_bytes go through.
#pragma once

#include <memory>

#include "bear/parse/formats.hpp"

namespace bear::parse::testing {

std::unique_ptr<Parser> make_general_vw(const AllOptions& options);
std::unique_ptr<Parser> make_general_svmlight(const AllOptions& options);

}  // namespace bear::parse::testing

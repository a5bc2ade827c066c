// Exact Newton step of least norm on the active set. With X the batch, r the residual and D the
// curvature, (X'DX + e I) z = X'r is solved as z = X'a, (D XX' + e I) a = r: a system as large
// as the batch, never as large as the active set.
#pragma once

#include "bear/update/gradient.hpp"

namespace bear {

class Newton final : public Direction {
 public:
  void direct(const Point& point, Reals z) override;
};

}  // namespace bear

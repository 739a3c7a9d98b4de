// SPDX-License-Identifier: Apache-2.0
// The one function of densities that is no formula in <cmath>.
#include "op/random/pdf_loops.h"

namespace mxnet::densities {

double digamma(double x) {
  if (!(x > 0)) return std::nan("");
  double below = 0;
  for (; x < 10; ++x) below -= 1 / x;
  // The asymptotic series; at 10 its first omitted term is below 1e-16.
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 -
                           y * (1.0 / 252 -
                                y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return below + std::log(x) - 0.5 / x - series;
}

}  // namespace mxnet::densities

// SPDX-License-Identifier: Apache-2.0
// Functions that CUDA's mathematics has and the C library lacks, for kernels that run on the host.
#pragma once
#include <cmath>

inline double erfinv(double x) {
  if (!(std::fabs(x) < 1.0)) return std::fabs(x) == 1.0 ? x * HUGE_VAL : NAN;
  double y = 0.0;
  for (int i = 0; i < 80; ++i) {  // Newton's steps, short of overshooting where erf is flat
    const double slope = 1.1283791670955125739 * std::exp(-y * y);
    const double residual = x > 0 ? std::erfc(y) - (1.0 - x) : (1.0 + x) - std::erfc(-y);
    const double step = residual / slope;
    y += step > 0.5 ? 0.5 : step < -0.5 ? -0.5 : step;
  }
  return y;
}
inline float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }

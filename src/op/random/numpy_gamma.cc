// SPDX-License-Identifier: Apache-2.0
// Rounds of gamma numbers: candidates for every element, until each has accepted one.
#include "op/random/numpy_gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mxnet {
namespace {

constexpr double kWaiting = -1;  // no gamma number is negative

// Marsaglia and Tsang 2000; a shape below 1 by the power of a further number. kWaiting if the
// normal number z is not accepted.
double gamma_of(double shape, double z, const double* uniforms) {
  const double d = shape < 1 ? shape + 2.0 / 3.0 : shape - 1.0 / 3.0;
  const double x = 1 + z / std::sqrt(9 * d);
  if (x <= 0) return kWaiting;
  const double v = x * x * x;
  if (!(std::log(uniforms[0]) < 0.5 * z * z + d * (1 - v + std::log(v)))) return kWaiting;
  return shape < 1 ? d * v * std::pow(uniforms[1], 1 / shape) : d * v;
}

}  // namespace

// A round draws for every element, also for those that have their number: seeds depend on it.
void draw_gamma_in_rounds(Draws& draws, const float* shapes, int64_t size, double* uniforms,
                          double* numbers) {
  std::transform(shapes, shapes + size, numbers, [](float shape) {
    return shape > 0 && !std::isinf(shape) ? kWaiting : std::numeric_limits<double>::quiet_NaN();
  });
  while (std::find(numbers, numbers + size, kWaiting) != numbers + size) {
    std::generate_n(uniforms, 2 * size, [&draws] { return draws.uniform<double>(); });
    for (int64_t i = 0; i < size; ++i) {
      const double z = draws.normal<double>();
      if (numbers[i] == kWaiting) numbers[i] = gamma_of(shapes[i], z, uniforms + 2 * i);
    }
  }
}

}  // namespace mxnet

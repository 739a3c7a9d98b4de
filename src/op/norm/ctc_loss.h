// SPDX-License-Identifier: Apache-2.0
// What CTCLoss is told, and sums of what is known by its logarithm, for the CPU and for kernels.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace mxnet {

enum class CtcBlank : uint8_t { kFirst, kLast };

struct CtcParams {
  bool use_data_lengths, use_label_lengths;
  CtcBlank blank_label;

  int64_t blank(int64_t classes) const { return blank_label == CtcBlank::kFirst ? 0 : classes - 1; }
  // The label that ends the others where there are no lengths.
  int64_t padding() const { return blank_label == CtcBlank::kFirst ? 0 : -1; }
};

// Data is (time, batch, classes), labels are (batch, longest).
struct CtcSizes {
  int64_t time, batch, classes, longest;
};

// Steps that labels take at least, `states` of which has blanks around each: one a label, and one
// for the blank between equal neighbours. With fewer there is no path, and as in 1.x no loss: one
// such example leaves the mean of its batch finite.
MX_HOST_DEVICE inline int64_t least_steps(const int64_t* states, int64_t width) {
  int64_t steps = width / 2;
  for (int64_t s = 3; s < width; s += 2) steps += states[s] == states[s - 2] ? 1 : 0;
  return steps;
}

inline constexpr double kCtcNever = -std::numeric_limits<double>::infinity();  // log of 0

MX_HOST_DEVICE inline double add_logs(double a, double b) {
  const double high = std::max(a, b);
  return high == kCtcNever ? kCtcNever : high + std::log1p(std::exp(std::min(a, b) - high));
}

}  // namespace mxnet

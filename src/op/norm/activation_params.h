// SPDX-License-Identifier: Apache-2.0
// Parameters of Activation and LeakyReLU, for whoever fuses them.
#pragma once
#include "op/norm/activation_loops.h"

namespace mxnet {

struct ActivationParams {
  ActivationRow act_type;
};

enum class LeakyKind : uint8_t { kElu, kGelu, kLeaky, kPrelu, kRrelu, kSelu };

struct LeakyParams {
  LeakyKind act_type;
  float slope, lower_bound, upper_bound;
};

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// What the parameter `variances` must be.
#pragma once
#include <string>
#include <vector>

#include "op/infer.h"

namespace mxnet::detect {

inline void check_variances(const std::vector<float>& variances, Infer& infer) {
  if (variances.size() != 4)
    infer.fail("given variances of " + std::to_string(variances.size()) + " numbers, expected 4");
}

}  // namespace mxnet::detect

// SPDX-License-Identifier: Apache-2.0
// Parameters of checks whether all elements of arrays are finite.
#pragma once
#include <cstdint>

namespace mxnet {

// Without init_output the answer joins what the output holds already.
struct FiniteParams {
  bool init_output;
};
struct MultiFiniteParams {
  int32_t num_arrays;
  bool init_output;
};

}  // namespace mxnet

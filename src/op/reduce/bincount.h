// SPDX-License-Identifier: Apache-2.0
// Parameters of _npi_bincount.
#pragma once
#include <cstdint>

namespace mxnet {

struct BincountParams {
  int32_t minlength;
  bool has_weights;
};

}  // namespace mxnet

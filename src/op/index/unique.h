// SPDX-License-Identifier: Apache-2.0
// Parameters of _npi_unique, for kernels on any device.
#pragma once
#include <cstdint>
#include <optional>

namespace mxnet {

struct UniqueParams {
  bool return_index, return_inverse, return_counts;
  std::optional<int32_t> axis;
};

}  // namespace mxnet

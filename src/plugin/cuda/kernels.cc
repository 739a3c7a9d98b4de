// SPDX-License-Identifier: Apache-2.0
// Gathers the primitives, and the kernels that each family lists.
#include "plugin/cuda/kernels.h"

#include <vector>

#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {

const GpuTable& kernels() {
  static const std::vector<GpuKernelRow> rows;
  static const GpuTable table = {
      .kernels = rows,
      .unary = unary,
      .unary_slope = unary_slope,
      .binary = binary,
      .binary_scalar = binary_scalar,
      .binary_slope = binary_slope,
      .convert = convert,
      .accumulate = accumulate,
      .fill = fill,
      .copy_strided = copy_strided,
      .sum_strided = sum_strided,
      .reduce = reduce,
      .spread = spread,
  };
  return table;
}

}  // namespace mxnet::cuda

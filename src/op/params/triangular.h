// SPDX-License-Identifier: Apache-2.0
// Parameters of operators on triangular matrices.
#pragma once
#include <cstdint>

namespace mxnet {

struct TriangularParams {
  bool transpose, rightside, lower;
  double alpha;
};
struct LowerParams {
  bool lower;
};

struct TrilParams {
  int32_t k;
};

// What gradients take of a matrix: one triangle; half of it mirrored; one to which the mirror image
// of the other is added.
enum class Part : int8_t { kTriangle, kHalfSymmetric, kFolded };

}  // namespace mxnet

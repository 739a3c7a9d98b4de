// SPDX-License-Identifier: Apache-2.0
// Parameters of eigenvalues, singular values and pseudo-inverses, for kernels on any device.
#pragma once
#include <cstdint>

namespace mxnet {

enum class Triangle : int8_t { kLower, kUpper };

struct EighParams {
  Triangle uplo;
  bool rows;  // eigenvectors are the rows (only the gradient has this parameter)
};

struct PinvParams {
  double rcond;
  bool hermitian;
};

}  // namespace mxnet

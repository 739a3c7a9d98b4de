// SPDX-License-Identifier: Apache-2.0
// Normalisation of rows to mean 0 and variance 1, then scaled and shifted: LayerNorm, with
// parameters for each element of a row, GroupNorm and InstanceNorm, with parameters for each row.
#pragma once
#include "op/loops/row_io.h"

namespace mxnet {

struct RowNorm {
  RowLayout rows;
  double eps = 0;
  // 0: gamma and beta have an element for each of a row's; else row r has parameters r % groups.
  int64_t groups = 0;
};

// `mean` and `std` (the root of variance + eps) have an element a row.
void row_norm_forward(const RowNorm& norm, const Tensor& in, const Tensor& gamma,
                      const Tensor& beta, const Tensor& out, const Tensor& mean, const Tensor& std,
                      KernelContext& context);
void row_norm_backward(const RowNorm& norm, const Tensor& dy, const Tensor& in, const Tensor& gamma,
                       const Tensor& mean, const Tensor& std, const Tensor& dx,
                       const Tensor& dgamma, const Tensor& dbeta, KernelContext& context);

}  // namespace mxnet

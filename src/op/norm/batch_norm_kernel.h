// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of channels: statistics, result and gradients. One channel after the other,
// twice while it is in cache, where its elements lie together; all channels at once, as columns,
// where they are the last axis.
#pragma once
#include "op/loops/row_io.h"

namespace mxnet {

struct BatchNormCall {
  RowLayout channels;  // length: how many; outer and inner: positions of each
  double eps = 0;
  bool fix_gamma = false;
  bool relu = false;

  int64_t positions() const { return channels.outer * channels.inner; }
};
BatchNormCall batch_norm_call(const Shape& data, int axis, double eps, bool fix_gamma);

// Means and variances of the channels, `mean` and `variance` of that many elements.
void batch_statistics(const BatchNormCall& call, const Tensor& in, double* mean, double* variance);

// out = (in - mean) / sqrt(variance + eps) * gamma + beta. With relu the mask (uint8, the shape of
// the data) says where it is above zero.
void batch_normalize(const BatchNormCall& call, const Tensor& in, const double* mean,
                     const double* variance, const Tensor& gamma, const Tensor& beta,
                     const Tensor& out, const Tensor* mask);

// Gradients; `of_batch`: mean and inverse_std came from the data and follow it. With relu `mask` is
// that of the forward call.
void batch_norm_gradient(const BatchNormCall& call, bool of_batch, const Tensor& dy,
                         const Tensor& in, const double* mean, const double* inverse_std,
                         const Tensor& gamma, const Tensor* mask, const Tensor& dx,
                         const Tensor& dgamma, const Tensor& dbeta);

}  // namespace mxnet

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
  double gamma_of(const Tensor& gamma, int64_t c) const {
    return fix_gamma ? 1.0 : read_element(gamma, c);
  }
};
BatchNormCall batch_norm_call(const Shape& data, int axis, double eps, bool fix_gamma);

// Means and variances of the channels, `mean` and `variance` of that many elements.
void batch_statistics(const BatchNormCall& call, const Tensor& in, double* mean, double* variance);

// out = (in - mean) / sqrt(variance + eps) * gamma + beta.
struct BatchNormResult {
  const BatchNormCall& call;
  const Tensor& in;
  const double *mean, *variance;
  const Tensor &gamma, &beta, &out;
  const Tensor* mask;  // with relu, uint8 of the shape of the data: where the result is above zero
};
void batch_normalize(const BatchNormResult& result);

struct BatchNormGradient {
  const BatchNormCall& norm;
  bool of_batch;  // mean and inverse_std came from the data and follow it
  const Tensor &dy, &in;
  const double *mean, *inverse_std;
  const Tensor& gamma;
  const Tensor* mask;  // with relu, that of the forward call
  const Tensor &dx, &dgamma, &dbeta;
};
void batch_norm_gradient(const BatchNormGradient& call);

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// The logarithm of the gamma function's size, on CPUs without the global sign that lgamma writes.
#pragma once
#include <cmath>

#include "base/host_device.h"

namespace mxnet {

MX_HOST_DEVICE inline double log_gamma(double x) {
#ifdef __CUDA_ARCH__
  return ::lgamma(x);
#else
  int sign;
  return lgamma_r(x, &sign);
#endif
}
MX_HOST_DEVICE inline float log_gamma(float x) {
#ifdef __CUDA_ARCH__
  return ::lgammaf(x);
#else
  int sign;
  return lgammaf_r(x, &sign);
#endif
}

}  // namespace mxnet

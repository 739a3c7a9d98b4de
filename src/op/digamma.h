// SPDX-License-Identifier: Apache-2.0
// The derivative of lgamma, which the C library does not have.
#pragma once

namespace mxnet {

// Within a few ulp away from its zeros; infinite at 0 and NaN at negative integers.
double digamma(double x);

}  // namespace mxnet

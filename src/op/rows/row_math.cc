// SPDX-License-Identifier: Apache-2.0
// Functions that the C library does not have.
#include "op/rows/row_math.h"

#include "op/math/digamma.h"

namespace mxnet::row_math {

double digamma(double x) { return mxnet::digamma(x); }

}  // namespace mxnet::row_math

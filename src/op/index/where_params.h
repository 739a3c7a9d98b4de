// SPDX-License-Identifier: Apache-2.0
// Parameters of where and its relatives.
#pragma once

namespace mxnet {

struct WhereParams {
  double scalar, x, y;
  bool left;  // of the gradient: where the condition holds
};

}  // namespace mxnet

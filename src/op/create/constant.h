// SPDX-License-Identifier: Apache-2.0
// Values that are part of a compiled graph: what was computed once, when the plan was made.
#pragma once
#include "ir/node.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// Parameters of the operator `kName`, which has no inputs and one output. The value is complete
// before its node is made, and nobody writes it afterwards: threads share it.
struct ConstantParams {
  static constexpr const char* kName = "_sg_constant";
  NDArray value;
};

Ref<ir::Node> make_constant(std::string name, NDArray value);
bool is_constant(const ir::Node& node);
// REQUIRES: is_constant(node).
const NDArray& constant_value(const ir::Node& node);

}  // namespace mxnet

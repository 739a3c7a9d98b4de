// SPDX-License-Identifier: Apache-2.0
// Descriptions of operators that several distributions have.
#pragma once
#include <algorithm>
#include <string>

#include "op/op_builder.h"

namespace mxnet {

// `what` the negative binomial distribution `rest`, for `negative_binomial`.
template <class Params>
[[gnu::noinline]] void doc_of_distribution(OpBuilder<Params>& op, const char* what,
                                           std::string name, const char* rest) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (name == "poisson") name = "Poisson";
  op.doc((what + (" the " + name) + " distribution" + rest).c_str());
}

}  // namespace mxnet

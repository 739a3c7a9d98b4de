// SPDX-License-Identifier: Apache-2.0
// Mixed precision of a finished network: casts between operators that run in 16 bits and those that
// need float32.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/symbol.h"

namespace mxnet {

struct PrecisionOptions {
  // An operator that counts as one of fp32_ops where a parameter has one of these values.
  struct Condition {
    std::string op, parameter;
    std::set<std::string> values;
  };
  DType target = DType::kFloat16;  // or bfloat16
  // Operators by name. One that is in no list runs in whatever its inputs have.
  std::set<std::string> target_ops;  // in the target type
  std::set<std::string> fp32_ops;    // in float32
  std::set<std::string> widest_ops;  // in the widest type among their inputs
  std::vector<Condition> conditional_fp32_ops;
  std::set<std::string> excluded;    // names of nodes that run in float32
  std::set<std::string> parameters;  // variables whose arrays the caller can convert once
  // Parameters that only operators in the target type read are variables of that type.
  bool cast_parameters = false;
};

// The network with amp_cast and amp_multicast; results are float32. Variables count as float32;
// each of `parameters` says its type (__dtype__). Integers stay what they are. The symbol given is
// not changed.
Symbol reduce_precision(const Symbol& symbol, const PrecisionOptions& options);

}  // namespace mxnet

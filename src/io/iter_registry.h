// SPDX-License-Identifier: Apache-2.0
// The data iterators by name, with parameters described as those of operators are.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/data_iter.h"
#include "op/params/param.h"

namespace mxnet::io {

struct IterDef {
  std::string name;
  std::string doc;
  ParamSchema schema;
  std::unique_ptr<DataIter> (*create)(const void* params) = nullptr;
};

// All there are, by name; fixed after the first call. Thread-safe.
const std::vector<const IterDef*>& data_iters();

// Throws Error(kValue, name) for a bad or missing parameter. A name that the iterator does not know
// is a warning, not an error: scripts give one set of parameters to all kinds of iterators.
std::unique_ptr<DataIter> create_iter(const IterDef& def, const Attrs& params);

}  // namespace mxnet::io

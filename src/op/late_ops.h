// SPDX-License-Identifier: Apache-2.0
// Operators that come after the library has started: those of extension libraries. Registry finds
// and lists them with all others.
#pragma once
#include <memory>
#include <vector>

#include "op/op_def.h"

namespace mxnet {

// From now on these answer to their names: all of them, or none with Error(kValue) where a name is
// taken. They stay until the process ends. Thread-safe.
void add_late_ops(std::vector<std::unique_ptr<OpDef>> ops);
// How many there are so far: who keeps lists of the registry looks whether it has grown.
std::size_t late_op_count();

}  // namespace mxnet

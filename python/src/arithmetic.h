// SPDX-License-Identifier: Apache-2.0
// Python's operators on arrays.
#pragma once
#include <pybind11/pybind11.h>

#include <vector>

namespace mxnet::python {

// Adds the number and comparison slots of NDArrayBase.
void append_arithmetic(std::vector<PyType_Slot>* slots);

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// What functions that the library calls back do with Ctrl-C, which no error code carries.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// The call that fails of it raises it instead: `interrupts` in mxnet/base.py.
void keep_interrupt(pybind11::handle error);

}  // namespace mxnet::python

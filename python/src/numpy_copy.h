// SPDX-License-Identifier: Apache-2.0
// Arrays with the values of NumPy's.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// A dense array of a type in the shape and with the values of one of NumPy's, which may lie in any
// order, and of float32 and float64 be of any of the library's types. Null where they are anything
// else, or where NumPy warns: it is for NumPy to convert those first.
pybind11::object copy_of_numpy(PyObject* values, int dtype, int dev_type, int dev_id, bool numpy);

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// array[key] = value for the usual keys and values, without a detour through Python.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// Writes a number, an array or one of NumPy's to what a key selects. False: for Python, and nothing
// is done; so it is while autograd records, when an assignment is more than a view that is written
// to.
bool basic_fill(PyObject* object, PyObject* key, PyObject* value);

}  // namespace mxnet::python

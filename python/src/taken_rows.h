// SPDX-License-Identifier: Apache-2.0
// array[indices] for an array of indices, without a detour through Python.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// Rows of an array at the positions in another one, as a copy, if those are integers as the
// operator take reads them, on the CPU, in range and none counts from the end. NotImplemented: for
// Python, which knows the other rules and what errors should say.
pybind11::object taken_rows(PyObject* self, PyObject* indices);

}  // namespace mxnet::python

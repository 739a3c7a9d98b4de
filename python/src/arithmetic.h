// SPDX-License-Identifier: Apache-2.0
// Python's operators on arrays.
#pragma once
#include <pybind11/pybind11.h>

#include <vector>

namespace mxnet::python {

// Whether an operand is a number of Python's or NumPy's.
bool is_number(PyObject* object);

// An operator (null: there is none, the result is NotImplemented) on two arrays of one kind, or on
// an array and a number. `out` is null or an array. Null with an exception set on failure.
PyObject* call_arrays(PyObject* op, PyObject* a, PyObject* b, PyObject* out);
PyObject* call_scalar(PyObject* op, PyObject* array, PyObject* number, PyObject* out);
PyObject* call_unary(PyObject* op, PyObject* a, PyObject* out);

// Adds the number and comparison slots of NDArrayBase.
void append_arithmetic(std::vector<PyType_Slot>* slots);

}  // namespace mxnet::python

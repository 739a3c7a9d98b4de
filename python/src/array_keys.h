// SPDX-License-Identifier: Apache-2.0
// array[key] and array[key] = number where arrays, lists or masks are in the key, without a detour
// through Python. What is not usual is left to Python, which knows the other rules and what errors
// should say: arrays on other devices, sparse or without elements, positions out of range.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// Rows of an array at the positions in another one, as a copy, if those are integers as the
// operator take reads them and none counts from the end. NotImplemented: for Python.
pybind11::object taken_rows(PyObject* self, PyObject* indices);
// What a list or one of NumPy's arrays of integers selects along one dimension. NotImplemented: for
// Python.
pybind11::object taken_along(PyObject* self, PyObject* key);
// The elements at the positions in such arrays, or in the library's own, one for each dimension and
// all of one shape. NotImplemented: for Python.
pybind11::object taken_elements(PyObject* self, PyObject* key);
// One of NumPy's arrays as a new array of the type of an array on the CPU and beside it; null for
// anything else.
pybind11::object copied_beside(PyObject* self, PyObject* values);
// Writes a number to what such a key, several of them or a mask select of a few rows. False: for
// Python, and nothing is done. Not while autograd records.
bool fill_selected(PyObject* self, PyObject* key, PyObject* number);
// The same for the rows of an array of the library, as many as the key selects and of one type;
// where a row is selected twice the last one stays.
bool copy_to_selected(PyObject* self, PyObject* key, PyObject* rows);

}  // namespace mxnet::python

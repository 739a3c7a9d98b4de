// SPDX-License-Identifier: Apache-2.0
// Methods of NDArrayBase that copy elements to the host.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// _copy_to(target): all elements to a contiguous buffer of their type.
PyObject* copy_to_buffer(PyObject* self, PyObject* target);
// _number(): the one element as Python's number. None where there are several, or none, or where it
// takes more than to copy it.
PyObject* only_number(PyObject* self, PyObject*);

}  // namespace mxnet::python

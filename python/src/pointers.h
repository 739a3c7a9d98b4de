// SPDX-License-Identifier: Apache-2.0
// Pointers as ctypes has them, which is what programs that call the C ABI themselves expect of a
// handle.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// A new ctypes.c_void_p.
PyObject* pointer_object(void* pointer);
// The reverse, of that or of a number.
void* pointer_of(PyObject* object);

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Methods of NDArrayBase that copy elements to the host.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// _copy_to(target): all elements to a contiguous buffer of their type.
PyObject* copy_to_buffer(PyObject* self, PyObject* target);
// item(*places), asscalar(), float(): the one element as Python's number (item of an mx.nd array,
// and asscalar: as NumPy's). What only_number() leaves out goes to _item, _asscalar and _float of
// the class.
PyObject* item_of(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* scalar_of(PyObject* self, PyObject*);
PyObject* float_of(PyObject* self);
// dtype: the type of the elements, as the class shows it.
PyObject* dtype_of(PyObject* self, void*);
// _number(): the one element as Python's number. None where there are several, or none, or where it
// takes more than to copy it.
PyObject* only_number(PyObject* self, PyObject*);

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Arrays with the values of NumPy's.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>

#include "mxnet/c_api.h"

namespace mxnet::python {

// A dense array of a type in the shape and with the values of one of NumPy's, which may lie in any
// order, and of float32 and float64 be of any of the library's types. Null where they are anything
// else, or where NumPy warns: it is for NumPy to convert those first.
pybind11::object copy_of_numpy(PyObject* values, int dtype, int dev_type, int dev_id, bool numpy);
// Writes them into a dense array of that shape instead, where no operation uses it. False: nothing
// is written, as where copy_of_numpy() is null.
bool write_numpy_if_free(PyObject* values, NDArrayHandle array, int ndim, const int64_t* dims);

}  // namespace mxnet::python

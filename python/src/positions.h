// SPDX-License-Identifier: Apache-2.0
// The integers of a list or an array as positions along a dimension.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet::python {

// Whether a part of a key can hold positions: a list or one of NumPy's arrays.
bool is_positions(PyObject* part);

// Positions along a dimension, counted from the front.
struct Positions {
  // Of such a part or an array of the library, along a dimension of `size`. False: no integers,
  // none at all, or some out of range. Floats of the library, whose arrays are of float32 where
  // nothing else is said, are cut to integers.
  bool read(PyObject* given, int64_t size);
  std::vector<int64_t> at, dims;

 private:
  // One of the library, as soon as it has been written.
  bool read_array(NDArrayHandle array);
};

}  // namespace mxnet::python

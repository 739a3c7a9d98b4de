// SPDX-License-Identifier: Apache-2.0
// Arrays in memory that other processes map: how workers of a DataLoader hand batches over.
#include <pybind11/stl.h>

#include <vector>

#include "array.h"
#include "check.h"
#include "mxnet/c_api.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {

void register_shared_array(py::module_& module) {
  // (process, descriptor) of an array on cpu_shared; waits for its last write.
  module.def(
      "shared_handle",
      [](const py::handle& array) {
        int process = 0, descriptor = 0;
        NDArrayHandle handle = handle_of(array);
        check_blocking([&] { return MXNDArrayGetSharedMemHandle(handle, &process, &descriptor); });
        return py::make_tuple(process, descriptor);
      },
      py::arg("array"));
  // Takes over a descriptor that is a duplicate in this process.
  module.def(
      "array_from_shared",
      [](int process, int descriptor, const std::vector<int>& shape, int dtype, bool numpy) {
        NDArrayHandle handle = nullptr;
        check(MXNDArrayCreateFromSharedMemEx(process, descriptor, shape.data(),
                                             static_cast<int>(shape.size()), dtype, &handle));
        return wrapped(handle, numpy);
      },
      py::arg("process"), py::arg("descriptor"), py::arg("shape"), py::arg("dtype"),
      py::arg("numpy") = false);
}

}  // namespace mxnet::python

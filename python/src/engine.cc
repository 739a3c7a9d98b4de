// SPDX-License-Identifier: Apache-2.0
// The dependency engine.
#include "check.h"
#include "mxnet/c_api.h"

namespace py = pybind11;

namespace mxnet::python {

void register_engine(py::module_& module) {
  module.def(
      "set_bulk_size",
      [](int size) {
        int previous = 0;
        check_blocking(
            [&] { return MXEngineSetBulkSize(size, &previous); });  // ends the bulk at hand
        return previous;
      },
      py::arg("size"));
  module.def("wait_all", [] { check_blocking(&MXNDArrayWaitAll); });
}

}  // namespace mxnet::python

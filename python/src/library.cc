// SPDX-License-Identifier: Apache-2.0
// The library as a whole.
#include "check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {

void register_library(py::module_& module) {
  module.def("version", [] {
    int version = 0;
    check(MXGetVersion(&version));
    return version;
  });
  module.def("features", [] {
    const LibFeature* features = nullptr;
    size_t size = 0;
    check(MXLibInfoFeatures(&features, &size));
    py::list all;
    for (size_t i = 0; i < size; ++i)
      all.append(py::make_tuple(features[i].name, features[i].enabled));
    return all;
  });
  module.def(
      "set_num_omp_threads", [](int threads) { check(MXSetNumOMPThreads(threads)); },
      py::arg("threads"));
  module.def(
      "notify_shutdown",
      [](bool interrupted) {
        if (interrupted) static_cast<void>(MXSetInterruptCheck([] { return 1; }));
        check_blocking(&MXNotifyShutdown);
      },
      py::arg("interrupted"));
}

}  // namespace mxnet::python

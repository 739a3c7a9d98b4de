// SPDX-License-Identifier: Apache-2.0
// The dependency engine.
#include "check.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

unsigned long g_main_thread = 0;

// Ends a wait of the main thread when a signal's handler raises; check() then raises the same.
int handle_signals() {
  if (PyThread_get_thread_ident() != g_main_thread || Py_IsInitialized() == 0) return 0;
  const Gil held;
  return PyErr_CheckSignals() != 0 ? 1 : 0;
}

}  // namespace

void register_engine(py::module_& module) {
  g_main_thread =
      py::cast<unsigned long>(py::module_::import("threading").attr("main_thread")().attr("ident"));
  // Fails where a variable holds what it may not. That is no fault of this module: mxnet/base.py
  // asks next, and the error is raised there, of its own class.
  static_cast<void>(MXSetInterruptCheck(&handle_signals));
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

// SPDX-License-Identifier: Apache-2.0
// The classes of exceptions are made in Python (mxnet/base.py), where users can add their own; it
// leaves a function here that makes an exception of an error text.
#include "check.h"

#include "registrations.h"

#include "mxnet/c_api_ext.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Guarded by the GIL. Leaked: errors may come until the interpreter is gone.
py::handle g_make_exception;

}  // namespace

void check(int result) {
  if (result == 0) return;
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // an interrupt ended a wait
  const char* text = MXGetLastTypedError();
  if (!g_make_exception) throw py::import_error(text);  // mxnet._core imported on its own
  const py::object exception = g_make_exception(py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "replace")));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

void discard(py::error_already_set& error, const char* where) {
  if (error.matches(PyExc_KeyboardInterrupt)) return PyErr_SetInterrupt();
  error.discard_as_unraisable(where);
}

void register_check(py::module_& module) {
  module.def(
      "set_exception_maker",
      [](const py::function& maker) {
        g_make_exception.dec_ref();
        g_make_exception = py::function(maker).release();
      },
      py::arg("maker"), "Leaves the function that makes an exception of an error text.");
  module.def(
      "last_error",
      [] { return py::bytes(MXGetLastTypedError()).attr("decode")("utf-8", "replace"); },
      "The text of the last failure on this thread.");
}

}  // namespace mxnet::python

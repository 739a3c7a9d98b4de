// SPDX-License-Identifier: Apache-2.0
// From results of the C ABI to Python exceptions, and blocking calls without the GIL.
#pragma once
#include <pybind11/pybind11.h>

#include "gil.h"

namespace mxnet::python {

// Py_NewRef, which Python 3.9 lacks.
inline PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// Throws the exception that the front end makes of MXGetLastTypedError() when `result` is not 0.
// Needs the GIL.
void check(int result);

// What a callback has raised whose caller cannot carry it is shown; Ctrl-C is raised once more,
// where the main thread goes on.
void discard(pybind11::error_already_set& error, const char* where);

// Runs `call`, which may block or take long, without the GIL, then checks its result. The error
// text is the thread's, so nothing that another thread does meanwhile can replace it.
template <class Call>
void check_blocking(Call&& call) {
  check(without_gil(call));
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Callbacks by ctypes, which passes over what is raised. Ctrl-C may end a function that is written
// in Python before its first instruction, and so before its `try`: the outermost one is in C.
#include "answers.h"

#include "call_errors.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// What has been raised, with its trace.
py::object take_error() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return py::reinterpret_steal<py::object>(value);
}

// `self`: what computes, and what turns an error into the callback's answer.
PyObject* answer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return returning([&] {
    const auto call = [](PyObject* function, PyObject* const* given, Py_ssize_t number) {
      return py::reinterpret_steal<py::object>(
          PyObject_Vectorcall(function, given, static_cast<std::size_t>(number), nullptr));
    };
    py::object answered = call(PyTuple_GET_ITEM(self, 0), args, count);
    if (answered) return answered;
    const py::object error = take_error();
    PyObject* const given = error.ptr();
    answered = call(PyTuple_GET_ITEM(self, 1), &given, 1);
    if (answered) return answered;
    const py::object later = take_error();  // of what is Python, too, and may be cut off in turn
    keep_interrupt(PyErr_GivenExceptionMatches(later.ptr(), PyExc_KeyboardInterrupt) != 0 ? later
                                                                                          : error);
    return py::object(py::int_(0));
  });
}

PyMethodDef kAnswer = fast_method("answer", answer, nullptr);

py::object answering(const py::function& function, const py::function& failed) {
  const py::tuple both = py::make_tuple(function, failed);
  return py::reinterpret_steal<py::object>(PyCFunction_New(&kAnswer, both.ptr()));
}

}  // namespace

void keep_interrupt(py::handle error) {
  if (PyErr_GivenExceptionMatches(error.ptr(), PyExc_KeyboardInterrupt) == 0) return;
  py::list kept = py::module_::import("mxnet.base").attr("interrupts");
  if (kept.empty()) kept.append(error);
}

void register_answers(py::module_& module) {
  module.def("answering", &answering,
             "function(*args); what it raises goes to failed(error), which answers instead.");
}

}  // namespace mxnet::python

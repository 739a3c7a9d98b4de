// SPDX-License-Identifier: Apache-2.0
// For functions that CPython calls: C++ exceptions become Python's, and slots are typed.
#pragma once
#include <pybind11/pybind11.h>

#include <exception>

namespace mxnet::python {

// Runs a body that throws and gives a new reference; null with an exception set on failure.
template <class Body>
PyObject* guarded_call(Body&& body) {
  try {
    return body();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const pybind11::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// The same for a body that gives a py::object.
template <class Body>
PyObject* returning(Body&& body) {
  return guarded_call([&] { return body().release().ptr(); });
}

// Whether an object is true; throws what its class throws when it is asked.
inline bool truth_of(PyObject* object) {
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) throw pybind11::error_already_set();
  return truth != 0;
}
inline int int_of(PyObject* number) {
  const long value = PyLong_AsLong(number);
  if (value == -1 && PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  return static_cast<int>(value);
}

// A row of PyMethodDef for a function that takes its arguments by position, as an array.
using FastFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
inline PyMethodDef fast_method(const char* name, FastFunction function, const char* doc) {
  const auto untyped = reinterpret_cast<void (*)()>(function);  // CPython's, by the flag beside it
  return {name, reinterpret_cast<PyCFunction>(untyped), METH_FASTCALL, doc};
}

template <class Function>
PyType_Slot type_slot(int id, Function* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace mxnet::python

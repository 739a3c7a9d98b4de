// SPDX-License-Identifier: Apache-2.0
// ctypes.c_void_p to pointers and back.
#include "pointers.h"

#include <cstdint>

namespace py = pybind11;

namespace mxnet::python {

PyObject* pointer_object(void* pointer) {
  // Leaked. Loading ctypes costs what a program without need for it should not pay.
  static PyObject* const type =
      py::object(py::module_::import("ctypes").attr("c_void_p")).release().ptr();
  return py::handle(type)(reinterpret_cast<uintptr_t>(pointer)).release().ptr();
}

void* pointer_of(PyObject* object) {
  py::object number = py::reinterpret_borrow<py::object>(object);
  if (PyLong_Check(object) == 0) number = py::getattr(number, "value", py::none());
  if (number.is_none()) return nullptr;  // ctypes has None for a null pointer
  void* pointer = PyLong_AsVoidPtr(number.ptr());
  if (pointer == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return pointer;
}

}  // namespace mxnet::python

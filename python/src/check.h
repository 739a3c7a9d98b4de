// SPDX-License-Identifier: Apache-2.0
// From results of the C ABI to Python exceptions, and blocking calls without the GIL.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

// Py_NewRef, which Python 3.9 lacks.
inline PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// Throws the exception that the front end makes of MXGetLastError() when `result` is not 0. Needs
// the GIL.
void check(int result);

// Runs `call`, which may block or take long, without the GIL, then checks its result. The error
// text is the thread's, so nothing that another thread does meanwhile can replace it.
template <class Call>
void check_blocking(Call&& call) {
  int result = 0;
  {
    const pybind11::gil_scoped_release released;
    result = call();
  }
  check(result);
}

// Pointers as ctypes has them, which is what programs that call the C ABI themselves expect of a
// handle: a new ctypes.c_void_p; and the reverse, of that or of a number.
PyObject* pointer_object(void* pointer);
void* pointer_of(PyObject* object);

void register_buffer(pybind11::module_& module);
void register_check(pybind11::module_& module);
void register_config(pybind11::module_& module);
void register_library(pybind11::module_& module);
void register_memory(pybind11::module_& module);
void register_engine(pybind11::module_& module);
void register_array(pybind11::module_& module);
void register_indexing(pybind11::module_& module);
void register_array_functions(pybind11::module_& module);
void register_prepared_calls(pybind11::module_& module);
void register_operator(pybind11::module_& module);
void register_arithmetic(pybind11::module_& module);
void register_symbol_backend(pybind11::module_& module);
void register_cached_op(pybind11::module_& module);
void register_executor(pybind11::module_& module);
void register_elementwise(pybind11::module_& module);
void register_autograd(pybind11::module_& module);
void register_symbol(pybind11::module_& module);
void register_recordio(pybind11::module_& module);
void register_shared_array(pybind11::module_& module);
void register_data_iter(pybind11::module_& module);
void register_kvstore(pybind11::module_& module);

}  // namespace mxnet::python

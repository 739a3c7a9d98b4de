// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, and threads that come for it too late. Once the interpreter is ending,
// CPython before 3.14 ends a thread that asks for the lock by pthread_exit, wherever it is: on its
// way out destructors would give references back without the lock, and what is noexcept would end
// the process. Such a thread stays where it is until the process is gone, as from 3.14 on.
#pragma once
#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <optional>

namespace mxnet::python {

// Runs what may ask for the lock.
template <class Body>
auto or_stay(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

// Runs `call`, which may block or take long and does not throw, without the lock.
template <class Call>
int without_gil(Call&& call) {
  // No need of more than CPython's own two functions.
  return or_stay([&] {
    PyThreadState* const thread = PyEval_SaveThread();
    const int result = call();
    PyEval_RestoreThread(thread);
    return result;
  });
}

// Holds the lock in a callback of the library, on whichever thread that is.
class Gil {
 public:
  Gil() {
    or_stay([this] { held_.emplace(); });
  }

 private:
  std::optional<pybind11::gil_scoped_acquire> held_;
};

// What a function of the program returns, in such a callback: a thread that is ended inside of it
// has nothing between it and the callback to give back.
template <class... Args>
pybind11::object call_function(pybind11::handle function, const Args&... args) {
  const pybind11::tuple all = pybind11::make_tuple(args...);
  PyObject* const result = or_stay([&] { return PyObject_CallObject(function.ptr(), all.ptr()); });
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

}  // namespace mxnet::python

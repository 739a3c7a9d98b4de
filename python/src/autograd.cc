// SPDX-License-Identifier: Apache-2.0
// Recording, differentiation, and functions whose gradient is Python code.

#include <pybind11/stl.h>

#include "answers.h"
#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

bool set_flag(int (*setter)(int, int*), bool on) {
  int before = 0;
  check(setter(on ? 1 : 0, &before));
  return before != 0;
}

bool get_flag(int (*getter)(bool*)) {
  bool on = false;
  check(getter(&on));
  return on;
}

// Head gradients by head: None, in it or for it, stands for ones.
Handles head_grads_of(const py::object& head_grads) {
  if (head_grads.is_none()) return {};
  return optional_handles_of(py::reinterpret_borrow<py::sequence>(head_grads));
}

// Fills buffers, or with variables returns their gradients.
py::object backward(const py::sequence& heads, const py::object& head_grads,
                    const py::sequence& variables, bool retain_graph, bool create_graph,
                    bool train_mode, bool numpy) {
  Handles outputs = handles_of(heads), grads = head_grads_of(head_grads),
          wanted = handles_of(variables);
  if (!grads.empty() && grads.size() != outputs.size())
    throw py::value_error("given " + std::to_string(grads.size()) + " head gradients, expected " +
                          std::to_string(outputs.size()) + ", one per head");
  NDArrayHandle* made = nullptr;
  int* storage_types = nullptr;
  check_blocking([&] {
    return MXAutogradBackwardEx(static_cast<uint32_t>(outputs.size()), outputs.data(),
                                grads.empty() ? nullptr : grads.data(),
                                static_cast<uint32_t>(wanted.size()),
                                wanted.empty() ? nullptr : wanted.data(), retain_graph ? 1 : 0,
                                create_graph ? 1 : 0, train_mode ? 1 : 0, &made, &storage_types);
  });
  if (wanted.empty()) return py::none();
  const std::vector<NDArrayHandle> all(made, made + wanted.size());
  py::list results;
  for (const NDArrayHandle handle : all) results.append(wrapped(handle, numpy));
  return results;
}

// Called by the library, on any thread, without the GIL. `state` owns a Python function that takes
// the gradients of outputs, the arrays to fill for inputs, the requests and the mode.
int call_backward(int num_ograds, int num_igrads, void** handles, const int* requests,
                  const int is_train, void* state) {
  const Gil held;
  const auto ograds_end = static_cast<std::size_t>(num_ograds);
  const std::vector<NDArrayHandle> all(handles, handles + num_ograds + num_igrads);
  try {
    py::list ograds, igrads, reqs;
    for (int i = 0; i < num_ograds; ++i) ograds.append(wrapped(all[static_cast<std::size_t>(i)]));
    for (int i = 0; i < num_igrads; ++i) {
      igrads.append(wrapped(all[ograds_end + static_cast<std::size_t>(i)]));
      reqs.append(requests[i]);
    }
    call_function(static_cast<PyObject*>(state), ograds, igrads, reqs, is_train != 0);
    return 1;
  } catch (py::error_already_set& error) {
    // The caller of backward() gets an error of the library; what Python said is shown here. Ctrl-C
    // it gets itself.
    const std::string text = error.what();
    if (error.matches(PyExc_KeyboardInterrupt)) {
      keep_interrupt(error.value());
    } else {
      error.restore();
      PyErr_WriteUnraisable(static_cast<PyObject*>(state));  // may run Python, which may fail
    }
    NNAPISetLastError(text.c_str());
  } catch (const std::exception& error) {
    NNAPISetLastError(error.what());
  }
  return 0;
}

int drop_function(void* state) {
  if (Py_IsInitialized() == 0) return 1;  // the interpreter is gone, and the function with it
  const Gil held;
  Py_DECREF(static_cast<PyObject*>(state));
  return 1;
}

void record_function(const py::sequence& inputs, const py::sequence& outputs,
                     const py::function& gradient) {
  Handles in = handles_of(inputs), out = handles_of(outputs);
  int (*callbacks[2])(void) = {
      reinterpret_cast<int (*)(void)>(reinterpret_cast<void (*)()>(&call_backward)),
      reinterpret_cast<int (*)(void)>(reinterpret_cast<void (*)()>(&drop_function))};
  void* state = gradient.inc_ref().ptr();
  void* contexts[2] = {state, state};
  MXCallbackList list{2, callbacks, contexts};
  // A failure may already have dropped the function: the library owns it from here on.
  check_blocking([&] {
    return MXCustomFunctionRecord(static_cast<int>(in.size()), in.data(),
                                  static_cast<int>(out.size()), out.data(), &list);
  });
}

// Places of variables whose gradients no backward has written since they were last used.
py::list stale_gradients(const py::tuple& variables) {
  py::list places;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(variables.ptr()); ++i) {
    int fresh = 0;
    check(MXNDArrayGetGradState(handle_of(PyTuple_GET_ITEM(variables.ptr(), i)), &fresh));
    if (fresh == 0) places.append(i);
  }
  return places;
}

void use_gradients(const py::tuple& variables) {
  for (const py::handle variable : variables) check(MXNDArraySetGradState(handle_of(variable), 0));
}

// mark_variable(array, gradient, request): one of mark_variables.
PyObject* mark_variable(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 3) throw py::type_error("mark_variable: expected 3 arguments");
    NDArrayHandle variable = handle_of(args[0]), gradient = handle_of(args[1]);
    auto request = py::cast<uint32_t>(py::handle(args[2]));
    check(MXAutogradMarkVariables(1, &variable, &request, &gradient));
    return py::none();
  });
}

PyMethodDef kFunctions[] = {fast_method("mark_variable", mark_variable, nullptr),
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace

void register_autograd(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
  module.def("set_recording", [](bool on) { return set_flag(MXAutogradSetIsRecording, on); });
  module.def("set_training", [](bool on) { return set_flag(MXAutogradSetIsTraining, on); });
  module.def(
      "is_recording", [] { return get_flag(MXAutogradIsRecording); },
      "Whether what this thread computes is recorded for a gradient.");
  module.def(
      "is_training", [] { return get_flag(MXAutogradIsTraining); },
      "Whether operators of this thread behave as in training.");
  module.def("mark_variables", [](const py::sequence& variables, const py::sequence& gradients,
                                  std::vector<uint32_t> requests) {
    Handles vars = handles_of(variables), grads = handles_of(gradients);
    if (vars.size() != grads.size() || vars.size() != requests.size())
      throw py::value_error("expected as many gradients and requests as variables");
    check(MXAutogradMarkVariables(static_cast<uint32_t>(vars.size()), vars.data(), requests.data(),
                                  grads.data()));
  });
  module.def("backward", &backward);
  module.def("stale_gradients", &stale_gradients);
  module.def("use_gradients", &use_gradients);
  module.def("record_function", &record_function);
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// `with` blocks that switch recording and the training mode. Python raises what a signal's handler
// raises between two of its own instructions: a method written in Python may be left before its
// first one, and the thread would go on recording. These methods run whole.

#include <array>
#include <vector>

#include "call_errors.h"
#include "check.h"
#include "mxnet/c_api.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

constexpr int kLeft = -1;  // a switch that the scope does not touch

using Switches = std::array<int, 2>;  // recording, training: 0, 1 or kLeft

struct ScopeObject {
  PyObject base;
  Switches wanted;
  std::vector<Switches>* before;  // by entry: an object may be entered again inside itself
};

ScopeObject* scope_of(PyObject* self) { return reinterpret_cast<ScopeObject*>(self); }

Switches switched(const Switches& to) {
  Switches before{kLeft, kLeft};
  if (to[0] != kLeft) check(MXAutogradSetIsRecording(to[0], &before[0]));
  if (to[1] != kLeft) check(MXAutogradSetIsTraining(to[1], &before[1]));
  return before;
}

int switch_of(PyObject* value) {
  if (value == Py_None) return kLeft;
  return truth_of(value) ? 1 : 0;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded_call([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) != 2 || (keywords != nullptr && PyDict_GET_SIZE(keywords) != 0))
      throw py::type_error("RecordingScope: expected recording and training");
    const Switches wanted{switch_of(PyTuple_GET_ITEM(args, 0)),
                          switch_of(PyTuple_GET_ITEM(args, 1))};
    py::object made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
    if (!made) throw py::error_already_set();
    scope_of(made.ptr())->wanted = wanted;
    scope_of(made.ptr())->before = new std::vector<Switches>;
    return made.release().ptr();
  });
}

void drop(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete scope_of(self)->before;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* enter(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    ScopeObject& scope = *scope_of(self);
    scope.before->reserve(scope.before->size() + 1);  // so that nothing fails after the switch
    scope.before->push_back(switched(scope.wanted));
    return py::none();
  });
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    std::vector<Switches>& before = *scope_of(self)->before;
    if (before.empty()) throw py::index_error("the scope has been left already");
    const Switches last = before.back();
    before.pop_back();
    switched(last);
    return py::none();
  });
}

PyMethodDef kMethods[] = {fast_method("__enter__", enter, nullptr),
                          fast_method("__exit__", leave, nullptr),
                          {nullptr, nullptr, 0, nullptr}};

PyType_Slot kSlots[] = {type_slot(Py_tp_new, make),
                        type_slot(Py_tp_dealloc, drop),
                        {Py_tp_methods, kMethods},
                        {0, nullptr}};

}  // namespace

void register_recording_scope(py::module_& module) {
  PyType_Spec spec{"mxnet._core.RecordingScope", sizeof(ScopeObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr || PyModule_AddObject(module.ptr(), "RecordingScope", type) != 0)
    throw py::error_already_set();
}

}  // namespace mxnet::python

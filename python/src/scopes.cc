// SPDX-License-Identifier: Apache-2.0
// Bases of `with` blocks that change what a thread has at hand. As those of recording_scope.cc they
// run whole, where Ctrl-C may end a method that is written in Python before its first instruction
// and after any of its calls.
#include <utility>

#include "call_errors.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Made once: each entry of a block asks for them.
struct Names {
  PyObject* stacks = PyUnicode_InternFromString("_stacks");
  PyObject* stack = PyUnicode_InternFromString("stack");
  PyObject* entered = PyUnicode_InternFromString("_entered");
};
const Names& names() {
  static const Names made;
  return made;
}

py::object attribute(PyObject* object, PyObject* name) {
  py::object found = py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
  if (!found) throw py::error_already_set();
  return found;
}

// --- SetterScope: a setter, which returns what was before, and what it is given inside the block.

struct SetterObject {
  PyObject base;
  PyObject* setter;
  PyObject* value;
  PyObject* allowed;  // called first with the value where it is not None; it may raise
  PyObject* before;   // a list, by entry: an object may be entered again inside itself
};

SetterObject* setter_of(PyObject* self) { return reinterpret_cast<SetterObject*>(self); }

PyObject* make_setter(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded_call([&]() -> PyObject* {
    PyObject *setter = nullptr, *value = nullptr, *allowed = Py_None;
    if (PyArg_UnpackTuple(args, "SetterScope", 2, 3, &setter, &value, &allowed) == 0)
      throw py::error_already_set();
    py::list before;
    py::object made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
    if (!made) throw py::error_already_set();
    *setter_of(made.ptr()) = {setter_of(made.ptr())->base, py::handle(setter).inc_ref().ptr(),
                              py::handle(value).inc_ref().ptr(),
                              py::handle(allowed).inc_ref().ptr(), before.release().ptr()};
    return made.release().ptr();
  });
}

void drop_setter(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  const SetterObject held = *setter_of(self);
  type->tp_free(self);
  for (PyObject* const part : {held.setter, held.value, held.allowed, held.before})
    Py_XDECREF(part);
  Py_DECREF(type);
}

PyObject* enter_setter(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    const SetterObject& scope = *setter_of(self);
    if (scope.allowed != Py_None) py::handle(scope.allowed)(py::handle(scope.value));
    const py::object before = py::handle(scope.setter)(py::handle(scope.value));
    if (PyList_Append(scope.before, before.ptr()) != 0) throw py::error_already_set();
    return py::none();
  });
}

PyObject* leave_setter(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    const SetterObject& scope = *setter_of(self);
    const py::object last = py::handle(scope.before).attr("pop")();
    py::handle(scope.setter)(last);
    return py::none();
  });
}

PyMethodDef kSetterMethods[] = {fast_method("__enter__", enter_setter, nullptr),
                                fast_method("__exit__", leave_setter, nullptr),
                                {nullptr, nullptr, 0, nullptr}};
PyType_Slot kSetterSlots[] = {type_slot(Py_tp_new, make_setter),
                              type_slot(Py_tp_dealloc, drop_setter),
                              {Py_tp_methods, kSetterMethods},
                              {0, nullptr}};

// --- StackScope: what is on top of a thread's stacks inside the block.

// fn(list) for the list `stack` of each of the class's thread-local `_stacks`.
template <class Fn>
void each_stack(PyObject* self, Fn&& fn) {
  const py::object stacks = attribute(self, names().stacks);
  if (!PyTuple_Check(stacks.ptr())) throw py::type_error("_stacks: expected a tuple");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(stacks.ptr()); ++i) {
    const py::object list = attribute(PyTuple_GET_ITEM(stacks.ptr(), i), names().stack);
    if (!PyList_Check(list.ptr())) throw py::type_error("stack: expected a list");
    fn(list.ptr(), i);
  }
}

PyObject* enter_stack(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    const py::object entered = attribute(self, names().entered);
    const py::object items = entered.is_none() ? entered : py::tuple(entered());
    each_stack(self, [&](PyObject* list, Py_ssize_t i) {
      PyObject* const item = items.is_none() ? self : PyTuple_GetItem(items.ptr(), i);
      if (item == nullptr || PyList_Append(list, item) != 0) throw py::error_already_set();
    });
    return py::reinterpret_borrow<py::object>(self);
  });
}

PyObject* leave_stack(PyObject* self, PyObject* const*, Py_ssize_t) {
  return returning([&]() -> py::object {
    each_stack(self, [](PyObject* list, Py_ssize_t) {
      const Py_ssize_t size = PyList_GET_SIZE(list);
      if (size == 0) throw py::index_error("the scope has been left already");
      if (PyList_SetSlice(list, size - 1, size, nullptr) != 0) throw py::error_already_set();
    });
    return py::none();
  });
}

PyMethodDef kStackMethods[] = {fast_method("__enter__", enter_stack, nullptr),
                               fast_method("__exit__", leave_stack, nullptr),
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot kStackSlots[] = {{Py_tp_methods, kStackMethods}, {0, nullptr}};

// --- Whether a thread has NumPy's arrays: for a scope, in C.

thread_local bool t_np_array = false;

PyObject* is_np_array(PyObject*, PyObject*) { return PyBool_FromLong(t_np_array ? 1 : 0); }

PyObject* set_np_array(PyObject*, PyObject* on) {
  return returning([&]() -> py::object {
    const bool wanted = truth_of(on);
    return py::bool_(std::exchange(t_np_array, wanted));
  });
}

PyMethodDef kFunctions[] = {
    {"is_np_array", is_np_array, METH_NOARGS,
     "Whether Gluon makes and expects mx.np arrays on this thread."},
    {"set_np_array", set_np_array, METH_O, "Switches it for this thread; what it was."},
    {nullptr, nullptr, 0, nullptr}};

void add_type(py::module_& module, const char* name, PyType_Spec& spec, const char* none) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr || (none != nullptr && PyObject_SetAttrString(type, none, Py_None) != 0) ||
      PyModule_AddObject(module.ptr(), name, type) != 0)
    throw py::error_already_set();
}

}  // namespace

void register_scopes(py::module_& module) {
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  PyType_Spec setter{"mxnet._core.SetterScope", sizeof(SetterObject), 0, kFlags, kSetterSlots};
  PyType_Spec stack{"mxnet._core.StackScope", sizeof(PyObject), 0, kFlags, kStackSlots};
  add_type(module, "SetterScope", setter, nullptr);
  add_type(module, "StackScope", stack, "_entered");  // None: the scope itself
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
}

}  // namespace mxnet::python

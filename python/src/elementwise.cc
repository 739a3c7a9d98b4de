// SPDX-License-Identifier: Apache-2.0
// ElementwiseFunction: a function of one or two mx.np arrays such as mx.np.add. A call with arrays
// and numbers alone goes straight to its operator; every other call goes to a Python function,
// which knows keywords, errors and calls without arrays.
#include "arithmetic.h"

#include <structmember.h>

#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Owned references, guarded by the GIL.
struct ElementwiseObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* fallback;
  PyObject* arrays;    // operator on arrays
  PyObject* scalar;    // on an array and a number; null for functions of one array
  PyObject* reversed;  // on a number and an array
  PyObject* attributes;
};

PyObject* g_out = nullptr;  // "out"

ElementwiseObject* as_elementwise(PyObject* object) {
  return reinterpret_cast<ElementwiseObject*>(object);
}

bool is_numpy_array(PyObject* object) { return is_array(object) && as_array(object)->numpy; }

// Where a result goes, as the call says it: by place or by name.
struct Out {
  bool plain;  // nothing, or an array
  PyObject* array;
};

Out find_out(PyObject* const* args, Py_ssize_t count, Py_ssize_t inputs, PyObject* names) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count + named == inputs) return {true, nullptr};
  if (count + named != inputs + 1 || count < inputs) return {false, nullptr};
  if (named == 1 && PyUnicode_Compare(PyTuple_GET_ITEM(names, 0), g_out) != 0)
    return {false, nullptr};
  PyObject* out = args[inputs];
  if (out == Py_None) return {true, nullptr};
  return {is_numpy_array(out), out};
}

PyObject* call_elementwise(PyObject* self, PyObject* const* args, std::size_t nargsf,
                           PyObject* names) {
  const ElementwiseObject* function = as_elementwise(self);
  const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
  const Py_ssize_t inputs = function->scalar == nullptr ? 1 : 2;
  const Out out = find_out(args, count, inputs, names);
  if (out.plain && count >= inputs) {
    const bool left = is_numpy_array(args[0]);
    if (inputs == 1) {
      if (left) return call_unary(function->arrays, args[0], out.array);
    } else {
      const bool right = is_numpy_array(args[1]);
      if (left && right) return call_arrays(function->arrays, args[0], args[1], out.array);
      if (left && is_number(args[1]))
        return call_scalar(function->scalar, args[0], args[1], out.array);
      if (right && is_number(args[0]))
        return call_scalar(function->reversed, args[1], args[0], out.array);
    }
  }
  return PyObject_Vectorcall(function->fallback, args, nargsf, names);
}

PyObject* elementwise_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *fallback = nullptr, *arrays = nullptr, *scalar = nullptr, *reversed = nullptr;
  if (PyArg_ParseTuple(args, "OO|OO", &fallback, &arrays, &scalar, &reversed) == 0) return nullptr;
  for (PyObject* op : {arrays, scalar, reversed})
    if (op != nullptr && !is_operator(op)) {
      PyErr_Format(PyExc_TypeError, "given %s, expected an operator", Py_TYPE(op)->tp_name);
      return nullptr;
    }
  if ((scalar == nullptr) != (reversed == nullptr)) {
    PyErr_SetString(PyExc_TypeError, "expected operators for numbers on both sides, or on none");
    return nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  ElementwiseObject* made = as_elementwise(object);
  made->vectorcall = call_elementwise;
  made->fallback = new_reference(fallback);
  made->arrays = new_reference(arrays);
  Py_XINCREF(scalar);
  Py_XINCREF(reversed);
  made->scalar = scalar;
  made->reversed = reversed;
  return object;
}

int elementwise_traverse(PyObject* self, visitproc visit, void* arg) {
  const ElementwiseObject* object = as_elementwise(self);
  Py_VISIT(object->fallback);
  Py_VISIT(object->arrays);
  Py_VISIT(object->scalar);
  Py_VISIT(object->reversed);
  Py_VISIT(object->attributes);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int elementwise_clear(PyObject* self) {
  ElementwiseObject* object = as_elementwise(self);
  Py_CLEAR(object->fallback);
  Py_CLEAR(object->arrays);
  Py_CLEAR(object->scalar);
  Py_CLEAR(object->reversed);
  Py_CLEAR(object->attributes);
  return 0;
}

void elementwise_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  elementwise_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Pickled as a function is: by its name.
PyObject* elementwise_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__name__");
}

PyMethodDef kMethods[] = {{"__reduce__", elementwise_reduce, METH_NOARGS, nullptr},
                          {nullptr, nullptr, 0, nullptr}};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ElementwiseObject, vectorcall), READONLY,
     nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(ElementwiseObject, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void register_elementwise(py::module_& module) {
  g_out = PyUnicode_InternFromString("out");
  PyType_Slot slots[] = {type_slot(Py_tp_new, elementwise_new),
                         type_slot(Py_tp_dealloc, elementwise_dealloc),
                         type_slot(Py_tp_traverse, elementwise_traverse),
                         type_slot(Py_tp_clear, elementwise_clear),
                         type_slot(Py_tp_call, PyVectorcall_Call),
                         {Py_tp_methods, kMethods},
                         {Py_tp_members, kMembers},
                         {Py_tp_getset, kProperties},
                         {0, nullptr}};
  PyType_Spec spec{
      "mxnet._core.ElementwiseFunction", sizeof(ElementwiseObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
      slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  module.attr("ElementwiseFunction") = py::reinterpret_steal<py::object>(type);
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// PlainFunction and PlainMethod: functions and methods whose usual calls are one call of an
// operator. A table (mxnet/ndarray/_plain.py, mxnet/_numpy/plain.py) says which of its parameters
// each argument is; calls with other values than those that it names go to a Python function, which
// knows them all.
#include "array.h"

#include <structmember.h>

#include <array>
#include <utility>

#include "call_errors.h"
#include "check.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// What a parameter may be for a call to be plain.
enum class Kind {
  kInts,     // an integer or a tuple of them; None too where it has a default
  kGiven,    // None, an integer or a tuple of them; None is not passed on
  kRest,     // the same, or all further arguments by position; nothing is not passed on
  kCounts,   // all arguments by position, integers each, as a tuple
  kFlag,     // True or False
  kNumber,   // an integer or a float; None too where that is its default
  kDefault,  // the default alone, for which the operator gets `passed`
  kContext,  // None, for which the operator gets what `passed` returns
  kOut,      // None or an array, of mx.np where the operator is
};
constexpr std::array<const char*, 9> kKinds{"ints",   "given",   "rest",    "counts", "flag",
                                            "number", "default", "context", "out"};
// Kinds of a first parameter that takes what is given by position, and has no name.
bool by_position(Kind kind) { return kind == Kind::kRest || kind == Kind::kCounts; }

struct Parameter {
  py::str name;  // interned
  Kind kind;
  py::object otherwise;  // null: must be given
  py::object op_name;    // None: the operator does not get it
  py::object passed;
};

constexpr std::size_t kMostParameters = 8, kMostArrays = 16;
constexpr Py_ssize_t kSequence = -1;  // one list or tuple of arrays

struct Plain {
  py::object fallback, op;
  Py_ssize_t arrays;
  bool numpy;      // the operator's arrays are those of mx.np
  int least_ndim;  // an array of fewer dimensions is its own result
  std::vector<Parameter> parameters;
  std::vector<std::pair<py::object, py::object>> constants;  // of the operator
};

struct PlainObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  Plain* plain;
  PyObject* attributes;  // __dict__
};

const Plain& plain_of(PyObject* object) { return *reinterpret_cast<PlainObject*>(object)->plain; }

// What the operator gets. What is made for it is kept until it has run.
struct Call {
  explicit Call(bool of_numpy) : numpy(of_numpy) {}
  std::array<NDArrayHandle, kMostArrays> inputs;
  std::size_t count = 0;
  std::vector<ParamValue> params;
  PyObject* out = nullptr;
  py::object made, rest;
  KeptItems arrays;  // those of a list
  bool numpy;        // so is the result
};

bool takes(const Plain& plain, PyObject* object) {
  return is_array(object) && (as_array(object)->numpy || !plain.numpy);
}

bool add_arrays(const Plain& plain, PyObject* const* values, Py_ssize_t count, Call* call) {
  if (count < 1 || count > static_cast<Py_ssize_t>(kMostArrays)) return count == 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!takes(plain, values[i])) return false;
    call->inputs[call->count++] = as_array(values[i])->handle;
    call->numpy = call->numpy || as_array(values[i])->numpy;
  }
  return true;
}

bool add_sequence(const Plain& plain, PyObject* values, Call* call) {
  if (!PyList_CheckExact(values) && !PyTuple_CheckExact(values)) return false;
  if (PySequence_Fast_GET_SIZE(values) == 0) return false;
  call->arrays.keep(values);
  return add_arrays(plain, call->arrays.begin(), static_cast<Py_ssize_t>(call->arrays.size()),
                    call);
}

bool is_tuple_of_ints(PyObject* value) {
  if (!PyTuple_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i))) return false;
  return true;
}
bool are_ints(PyObject* value) { return PyLong_CheckExact(value) || is_tuple_of_ints(value); }

bool same(PyObject* a, PyObject* b) {
  return a == b || (PyUnicode_Check(a) && PyUnicode_Check(b) && PyUnicode_Compare(a, b) == 0);
}

// Adds one argument. False: the call is not plain.
bool add(const Plain& plain, const Parameter& parameter, PyObject* value, Call* call) {
  PyObject* passed = value;
  switch (parameter.kind) {
    case Kind::kInts:
      if (value == Py_None ? !parameter.otherwise : !are_ints(value)) return false;
      break;
    case Kind::kGiven:
    case Kind::kRest:
      if (value == Py_None) return bool(parameter.otherwise);
      if (!are_ints(value)) return false;
      break;
    case Kind::kCounts:
      if (!is_tuple_of_ints(value)) return false;
      break;
    case Kind::kFlag:
      if (!PyBool_Check(value)) return false;
      break;
    case Kind::kNumber:
      if (value == Py_None ? parameter.otherwise.ptr() != Py_None
                           : !PyLong_CheckExact(value) && !PyFloat_CheckExact(value))
        return false;
      break;
    case Kind::kDefault:
      if (!same(value, parameter.otherwise.ptr())) return false;
      passed = parameter.passed.ptr();
      break;
    case Kind::kContext:
      if (value != Py_None) return false;
      call->made = parameter.passed();
      passed = call->made.ptr();
      break;
    case Kind::kOut:
      if (value != Py_None && !takes(plain, value)) return false;
      call->out = value == Py_None ? nullptr : value;
      return true;
  }
  if (!parameter.op_name.is_none()) call->params.push_back({parameter.op_name.ptr(), passed});
  return true;
}

using Values = std::array<PyObject*, kMostParameters>;

// Puts arguments into the places of their parameters. False: the call is not plain.
bool place(const Plain& plain, PyObject* const* args, Py_ssize_t count, PyObject* names,
           Values* values, Call* call) {
  const auto most = static_cast<Py_ssize_t>(plain.parameters.size());
  const Py_ssize_t first = plain.arrays == kSequence ? 1 : plain.arrays, more = count - first;
  if (most > 0 && by_position(plain.parameters[0].kind) &&
      (more > 1 || plain.parameters[0].kind == Kind::kCounts)) {
    call->rest = py::reinterpret_steal<py::object>(PyTuple_New(more));
    if (!call->rest) throw py::error_already_set();
    for (Py_ssize_t i = 0; i < more; ++i)
      PyTuple_SET_ITEM(call->rest.ptr(), i, new_reference(args[first + i]));
    (*values)[0] = call->rest.ptr();
  } else {
    if (more > most) return false;
    for (Py_ssize_t i = 0; i < more; ++i) (*values)[static_cast<std::size_t>(i)] = args[first + i];
  }
  for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_GET_SIZE(names); ++k) {
    std::size_t i = 0;
    while (i < plain.parameters.size() &&
           (by_position(plain.parameters[i].kind) ||
            !same(plain.parameters[i].name.ptr(), PyTuple_GET_ITEM(names, k))))
      ++i;
    if (i == plain.parameters.size() || (*values)[i] != nullptr) return false;
    (*values)[i] = args[count + k];
  }
  return true;
}

bool read_call(const Plain& plain, PyObject* const* args, Py_ssize_t count, PyObject* names,
               Call* call) {
  const Py_ssize_t first = plain.arrays == kSequence ? 1 : plain.arrays;
  if (count < first) return false;
  if (plain.arrays == kSequence ? !add_sequence(plain, args[0], call)
                                : !add_arrays(plain, args, first, call))
    return false;
  Values values{};
  if (!place(plain, args, count, names, &values, call)) return false;
  for (std::size_t i = 0; i < plain.parameters.size(); ++i) {
    const Parameter& parameter = plain.parameters[i];
    PyObject* value = values[i] == nullptr ? parameter.otherwise.ptr() : values[i];
    if (value == nullptr || !add(plain, parameter, value, call)) return false;
  }
  for (const auto& [name, value] : plain.constants)
    call->params.push_back({name.ptr(), value.ptr()});
  return true;
}

int ndim_of(NDArrayHandle array) {
  int ndim = 0;
  const int64_t* dims = nullptr;
  check(MXNDArrayGetShapeEx64(array, &ndim, &dims));
  return ndim;
}

// The steady state does not allocate: what a call needs is reused by the next one. Taken away while
// it is in use, since preparing a call may call Python.
thread_local std::vector<ParamValue> t_spare;

PyObject* call_plain(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  return guarded_call([&] {
    const Plain& plain = plain_of(self);
    Call call(plain.numpy);
    std::vector<ParamValue>& spare = t_spare;
    call.params.swap(spare);
    call.params.clear();
    PyObject* result = nullptr;
    if (read_call(plain, args, PyVectorcall_NARGS(nargsf), names, &call)) {
      if (plain.least_ndim > 0 && ndim_of(call.inputs[0]) < plain.least_ndim)
        result = new_reference(args[0]);
      else
        result = invoke_operator(operator_data(plain.op.ptr()), call.inputs.data(),
                                 static_cast<int>(call.count), call.params, call.out, call.numpy);
    } else {
      result = PyObject_Vectorcall(plain.fallback.ptr(), args, nargsf, names);
    }
    spare.swap(call.params);
    return result;
  });
}

Kind kind_of(const py::handle& text) {
  const auto name = py::cast<std::string>(text);
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (name == kKinds[i]) return static_cast<Kind>(i);
  throw py::value_error("given kind " + name + ", expected one of those of a parameter");
}

py::object interned(const py::handle& text) {
  if (text.is_none()) return py::none();
  return py::reinterpret_steal<py::object>(
      PyUnicode_InternFromString(py::cast<std::string>(text).c_str()));
}

// (fallback, operator, arrays, ((name, kind, (default,) or (), operator's name, passed), ...),
// ((operator's name, value), ...), least_ndim): `arrays` come first, -1 for a sequence of them.
PyObject* plain_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *fallback = nullptr, *op = nullptr, *parameters = nullptr, *constants = nullptr;
  Py_ssize_t arrays = 0;
  int least_ndim = 0;
  if (PyArg_ParseTuple(args, "OOnOO|i", &fallback, &op, &arrays, &parameters, &constants,
                       &least_ndim) == 0)
    return nullptr;
  return guarded_call([&]() -> PyObject* {
    if (!is_operator(op)) throw py::type_error("expected an operator");
    auto plain = std::make_unique<Plain>();
    plain->fallback = py::reinterpret_borrow<py::object>(fallback);
    plain->op = py::reinterpret_borrow<py::object>(op);
    plain->arrays = arrays;
    plain->numpy = operator_data(op).numpy;
    plain->least_ndim = least_ndim;
    for (const py::handle row : py::reinterpret_borrow<py::sequence>(parameters)) {
      const auto facts = py::cast<py::tuple>(row);
      const auto otherwise = py::cast<py::tuple>(facts[2]);
      plain->parameters.push_back({py::str(interned(facts[0])), kind_of(facts[1]),
                                   otherwise.empty() ? py::object() : py::object(otherwise[0]),
                                   interned(facts[3]), facts[4]});
    }
    if (plain->parameters.size() > kMostParameters) throw py::value_error("too many parameters");
    for (const py::handle row : py::reinterpret_borrow<py::sequence>(constants)) {
      const auto pair = py::cast<py::tuple>(row);
      plain->constants.emplace_back(interned(pair[0]), pair[1]);
    }
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    auto* made = reinterpret_cast<PlainObject*>(object);
    made->vectorcall = call_plain;
    made->plain = plain.release();
    return object;
  });
}

int plain_traverse(PyObject* self, visitproc visit, void* arg) {
  const auto* object = reinterpret_cast<PlainObject*>(self);
  if (object->plain != nullptr) Py_VISIT(object->plain->fallback.ptr());
  Py_VISIT(object->attributes);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int plain_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PlainObject*>(self)->attributes);
  return 0;
}

void plain_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  plain_clear(self);
  delete std::exchange(reinterpret_cast<PlainObject*>(self)->plain, nullptr);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return new_reference(self);
  return PyMethod_New(self, instance);
}

// So that inspect, pydoc and help() see a routine; it is called as it is all the same.
PyObject* unbound(PyObject* self, PyObject*, PyObject*) { return new_reference(self); }

PyObject* plain_repr(PyObject* self) {
  return returning([&] {
    const py::handle object(self);
    return py::object(
        py::str("<function {}>")
            .format(py::getattr(object, "__qualname__", py::type::handle_of(object))));
  });
}

// Pickled as a function is: by its name.
PyObject* plain_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef kMethods[] = {{"__reduce__", plain_reduce, METH_NOARGS, nullptr},
                          {nullptr, nullptr, 0, nullptr}};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PlainObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PlainObject, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// A method finds its array by itself; a function that a class keeps is called as it is.
void add_type(py::module_& module, const char* name, bool method) {
  PyType_Slot slots[] = {type_slot(Py_tp_new, plain_new),
                         type_slot(Py_tp_dealloc, plain_dealloc),
                         type_slot(Py_tp_traverse, plain_traverse),
                         type_slot(Py_tp_clear, plain_clear),
                         type_slot(Py_tp_call, PyVectorcall_Call),
                         type_slot(Py_tp_repr, plain_repr),
                         type_slot(Py_tp_descr_get, method ? bind : unbound),
                         {Py_tp_methods, kMethods},
                         {Py_tp_members, kMembers},
                         {Py_tp_getset, kProperties},
                         {0, nullptr}};
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  if (method) flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec{name, sizeof(PlainObject), 0, flags, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  module.attr(method ? "PlainMethod" : "PlainFunction") = py::reinterpret_steal<py::object>(type);
}

}  // namespace

void register_plain_calls(py::module_& module) {
  add_type(module, "mxnet._core.PlainFunction", false);
  add_type(module, "mxnet._core.PlainMethod", true);
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// The type Operator: takes apart the arguments of a call as the operator's description says, finds
// the prepared call and runs it.
#include "operator.h"

#include <structmember.h>

#include <algorithm>

#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

PyTypeObject* g_operator = nullptr;
PyObject* g_out = nullptr;   // "out"
PyObject* g_name = nullptr;  // "name"
PyObject* g_attr = nullptr;  // "attr"

// mxnet.base._Null: as a value it says that the parameter is not given. Signatures show it as the
// default, and programs that wrap operators hand it on.
PyObject* g_not_given = nullptr;

bool same_text(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

// The place of a name among an operator's arguments, or their number. Names that stand in a program
// are interned, as those of operators are, and meet as pointers; names made at run time do not.
std::size_t place_of(PyObject* name, const std::vector<OperatorData::Argument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name.ptr() == name) return i;
  if (PyUnicode_CHECK_INTERNED(name) != 0) return arguments.size();
  std::size_t i = 0;
  while (i < arguments.size() && !same_text(arguments[i].name.ptr(), name)) ++i;
  return i;
}

// Arguments of one call, sorted out.
struct Arguments {
  std::vector<NDArrayHandle> inputs;
  std::vector<ParamValue> params;
  PyObject* out = nullptr;
  bool numpy = false;  // some input is an mx.np array
};

void add_input(const OperatorData& op, PyObject* value, Arguments* call) {
  if (is_array(value) && (as_array(value)->numpy || !op.numpy)) {
    call->inputs.push_back(as_array(value)->handle);
    call->numpy = call->numpy || as_array(value)->numpy;
    return;
  }
  throw py::type_error(op.name + ": given " + Py_TYPE(value)->tp_name + ", expected an " +
                       (op.numpy ? "mx.np array; NDArray.as_np_ndarray() makes one" : "NDArray"));
}

void sort_variadic(const OperatorData& op, PyObject* const* args, std::size_t count,
                   Arguments* call, KeptItems* kept) {
  if (count == 1 && (PyList_Check(args[0]) || PyTuple_Check(args[0]))) {
    kept->keep(args[0]);
    for (PyObject* array : *kept) add_input(op, array, call);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) add_input(op, args[i], call);
}

bool is_reserved(PyObject* key, PyObject* value, Arguments* call) {
  if (same_text(key, g_out)) {
    call->out = value == Py_None ? nullptr : value;
    return true;
  }
  return same_text(key, g_name) || same_text(key, g_attr);  // of symbols
}

// Values by position and name, in the operator's own order: arrays keep theirs whatever order the
// caller names them in.
void sort_fixed(const OperatorData& op, PyObject* const* args, std::size_t count, PyObject* names,
                Arguments* call) {
  const std::size_t known = op.arguments.size();
  for (; op.undescribed && count > 0 && is_array(*args); ++args, --count)
    add_input(op, *args, call);
  if (count > known + 2)  // out and name, which arrays do not have, follow the operator's own
    throw py::type_error(op.name + ": given " + std::to_string(count) +
                         " positional arguments, expected at most " + std::to_string(known + 2));
  PyObject* values[64] = {};
  if (known > 64) throw py::type_error(op.name + ": has more than 64 arguments");
  for (std::size_t i = 0; i < count && i < known; ++i) values[i] = args[i];
  if (count > known && args[known] != Py_None) call->out = args[known];
  const Py_ssize_t num_names = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  std::vector<ParamValue> unknown;
  for (Py_ssize_t k = 0; k < num_names; ++k) {
    PyObject* key = PyTuple_GET_ITEM(names, k);
    PyObject* value = args[count + static_cast<std::size_t>(k)];
    const std::size_t i = place_of(key, op.arguments);
    if (i < known) {
      if (values[i] != nullptr)
        throw py::type_error(op.name + ": given two values for " +
                             py::cast<std::string>(op.arguments[i].name) + ", expected one");
      values[i] = value;
    } else if (!is_reserved(key, value, call)) {
      unknown.push_back({key, value});  // the library says what is wrong with it
    }
  }
  for (std::size_t i = 0; i < known; ++i) {
    if (values[i] == nullptr || values[i] == g_not_given) continue;
    if (!op.arguments[i].array) {
      call->params.push_back({op.arguments[i].name.ptr(), values[i]});
    } else if (values[i] != Py_None) {
      add_input(op, values[i], call);
    }
  }
  call->params.insert(call->params.end(), unknown.begin(), unknown.end());
}

// The steady state neither parses nor allocates: what a call needs is reused by the next one. Taken
// away while it is in use, since operators may call operators (through text_of).
thread_local Arguments t_spare;

class ArgumentsLease {
 public:
  ArgumentsLease() : arguments_(std::exchange(t_spare, {})) {
    arguments_.inputs.clear();
    arguments_.params.clear();
    arguments_.out = nullptr;
    arguments_.numpy = false;
  }
  ~ArgumentsLease() { t_spare = std::move(arguments_); }
  Arguments* operator->() { return &arguments_; }
  Arguments* get() { return &arguments_; }

 private:
  Arguments arguments_;
};

PyObject* call_operator(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* names) {
  return guarded_call([&] {
    OperatorData& op = operator_data(self);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
    ArgumentsLease call;
    KeptItems kept;
    if (op.variadic) {
      sort_variadic(op, args, count, call.get(), &kept);
      for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_GET_SIZE(names); ++k) {
        PyObject* key = PyTuple_GET_ITEM(names, k);
        PyObject* value = args[count + static_cast<std::size_t>(k)];
        if (value != g_not_given && !is_reserved(key, value, call.get()))
          call->params.push_back({key, value});
      }
    } else {
      sort_fixed(op, args, count, names, call.get());
    }
    return invoke_operator(op, call->inputs.data(), static_cast<int>(call->inputs.size()),
                           call->params, call->out, op.numpy || call->numpy);
  });
}

// Before 3.12 a class that Python made of ours does not inherit how it is called: each call would
// make a tuple and a dictionary, each method an object.
void call_as_base(PyTypeObject* type) {
  constexpr unsigned long kCalls = Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  if ((type->tp_flags & kCalls) == kCalls || type->tp_call != PyVectorcall_Call ||
      type->tp_descr_get != g_operator->tp_descr_get)
    return;
  type->tp_flags |= kCalls;
  PyType_Modified(type);
}

PyObject* operator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"name", "numpy", nullptr};
  const char* name = nullptr;
  int numpy = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "s|p", const_cast<char**>(names), &name, &numpy) ==
      0)
    return nullptr;
  try {
    auto data = std::make_unique<OperatorData>(name, numpy != 0);
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    auto* made = reinterpret_cast<OperatorObject*>(object);
    made->vectorcall = call_operator;
    made->data = data.release();
    call_as_base(type);
    return object;
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

void operator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  auto* object = reinterpret_cast<OperatorObject*>(self);
  delete object->data;
  Py_CLEAR(object->attributes);
  type->tp_free(self);
  Py_DECREF(type);
}

int operator_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<OperatorObject*>(self)->attributes);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int operator_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<OperatorObject*>(self)->attributes);
  return 0;
}

PyObject* operator_bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return new_reference(self);
  return PyMethod_New(self, instance);
}

PyObject* operator_arguments(PyObject* self, void*) {
  const OperatorData& op = operator_data(self);
  py::list all;
  for (const OperatorData::Argument& argument : op.arguments)
    all.append(py::make_tuple(argument.name, argument.array));
  return all.release().ptr();
}

PyObject* operator_name(PyObject* self, void*) {
  return PyUnicode_FromString(operator_data(self).name.c_str());
}

PyObject* operator_variadic(PyObject* self, void*) {
  return PyBool_FromLong(operator_data(self).variadic);
}

PyGetSetDef kProperties[] = {
    {"op_name", operator_name, nullptr, "The name in the registry that it was made by.", nullptr},
    {"arguments", operator_arguments, nullptr, "Pairs: name, whether it is an array.", nullptr},
    {"variadic", operator_variadic, nullptr, "Whether it takes any number of arrays.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OperatorObject, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_operator_type() {
  PyType_Slot slots[] = {type_slot(Py_tp_new, operator_new),
                         type_slot(Py_tp_dealloc, operator_dealloc),
                         type_slot(Py_tp_traverse, operator_traverse),
                         type_slot(Py_tp_clear, operator_clear),
                         type_slot(Py_tp_call, PyVectorcall_Call),
                         type_slot(Py_tp_descr_get, operator_bind),
                         {Py_tp_getset, kProperties},
                         {Py_tp_members, kMembers},
                         {0, nullptr}};
  PyType_Spec spec{"mxnet._core.Operator", sizeof(OperatorObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
                       Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

// Given arrays; those of a list are kept too.
void take_outputs(PyObject* out, std::vector<NDArrayHandle>* handles, KeptItems* kept) {
  if (is_array(out)) return handles->push_back(output_handle_of(out));
  kept->keep(out);
  handles->reserve(kept->size());
  for (PyObject* array : *kept) handles->push_back(output_handle_of(array));
}

}  // namespace

OperatorData::OperatorData(std::string op_name, bool is_numpy)
    : name(std::move(op_name)), numpy(is_numpy) {
  check(NNGetOpHandle(name.c_str(), &op));
  const char *real_name, *description, *key_var_num_args;
  uint32_t count = 0;
  const char **names, **types, **docs;
  check(MXSymbolGetAtomicSymbolInfo(op, &real_name, &description, &count, &names, &types, &docs,
                                    &key_var_num_args));
  doc = description;
  bool by_address = false;  // where something else may lie by the next call
  for (uint32_t i = 0; i < count; ++i) {
    const std::string type = types[i];
    by_address = by_address || type.starts_with("ptr");
    const bool array = type.starts_with("NDArray") || type.starts_with("Symbol");
    variadic = variadic || type.starts_with("NDArray-or-Symbol[]");
    PyObject* interned = PyUnicode_InternFromString(names[i]);
    if (interned == nullptr) throw py::error_already_set();
    arguments.push_back({py::reinterpret_steal<py::str>(interned), array});
  }
  variadic = variadic || key_var_num_args[0] != '\0';
  undescribed = std::none_of(arguments.begin(), arguments.end(),
                             [](const Argument& argument) { return argument.array; });
  calls = std::make_unique<PreparedCalls>(op, /*keeps=*/!by_address);
}

bool is_operator(PyObject* object) { return PyObject_TypeCheck(object, g_operator) != 0; }

PyObject* invoke_operator(OperatorData& op, NDArrayHandle* inputs, int num_inputs,
                          const std::vector<ParamValue>& params, PyObject* out, bool numpy) {
  const PreparedCallRef call = op.calls->find(num_inputs, params);
  std::vector<NDArrayHandle> given;
  KeptItems kept;
  if (out != nullptr) take_outputs(out, &given, &kept);
  int count = static_cast<int>(given.size());
  // A list without arrays is no null, which asks for new ones.
  NDArrayHandle none = nullptr;
  NDArrayHandle* outputs = nullptr;
  if (out != nullptr) outputs = given.empty() ? &none : given.data();
  const int* storage_types = nullptr;
  check_blocking([&] {
    return MXOpCallInvoke(call->handle(), num_inputs, inputs, &count, &outputs, &storage_types);
  });
  if (out != nullptr) return new_reference(out);
  return wrap_results(count, outputs, storage_types, numpy);
}

void register_operator(py::module_& module) {
  g_out = PyUnicode_InternFromString("out");
  g_name = PyUnicode_InternFromString("name");
  g_attr = PyUnicode_InternFromString("attr");
  g_operator = make_operator_type();
  module.attr("Operator") = py::handle(reinterpret_cast<PyObject*>(g_operator));
  module.def(
      "set_not_given",
      [](const py::object& value) {
        Py_XDECREF(g_not_given);
        g_not_given = py::object(value).release().ptr();
      },
      py::arg("value"), "Leaves the object that stands for a parameter that is not given.");
  module.def("op_names", [] {
    uint32_t count = 0;
    const char** names = nullptr;
    check(MXListAllOpNames(&count, &names));
    py::list all;
    for (uint32_t i = 0; i < count; ++i) all.append(py::str(names[i]));
    return all;
  });
  module.def(
      "op_info",
      [](const std::string& name) {
        OpHandle op = nullptr;
        check(NNGetOpHandle(name.c_str(), &op));
        const char *real_name, *description, *key_var_num_args;
        uint32_t count = 0;
        const char **names, **types, **docs;
        check(MXSymbolGetAtomicSymbolInfo(op, &real_name, &description, &count, &names, &types,
                                          &docs, &key_var_num_args));
        py::list arguments;
        for (uint32_t i = 0; i < count; ++i)
          arguments.append(py::make_tuple(names[i], types[i], docs[i]));
        return py::make_tuple(real_name, description, arguments, key_var_num_args);
      },
      py::arg("name"), "Real name, description, (name, type, description) of arguments, counted.");
}

}  // namespace mxnet::python

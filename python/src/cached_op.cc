// SPDX-License-Identifier: Apache-2.0
// The type CachedOp: a symbol that is called like one operator. A call moves no texts and makes
// nothing but its results.
#include "array.h"

#include <structmember.h>

#include "call_errors.h"
#include "check.h"
#include "mxnet/c_api_ext.h"
#include "pointers.h"
#include "registrations.h"
#include "symbol.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Immutable once made, but for the hook.
struct CachedOpObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  CachedOpHandle handle;
  PyObject* weak_references;
  bool numpy;  // the symbol is one of mx.np: results are mx.np arrays
};

CachedOpObject* as_op(PyObject* object) { return reinterpret_cast<CachedOpObject*>(object); }

PyObject* g_out = nullptr;          // "out"
PyObject* g_default_ctx = nullptr;  // "default_ctx"

bool same_text(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

struct Call {
  std::vector<NDArrayHandle> inputs, outputs;
  PyObject* out = nullptr;
  KeptItems kept;  // the arrays of `out`, where it is a list
  int dev_type = 1, dev_id = 0;
};

void take_keyword(PyObject* key, PyObject* value, Call* call) {
  if (same_text(key, g_out)) {
    if (value == Py_None) return;
    call->out = value;
    if (is_array(value)) return call->outputs.push_back(output_handle_of(value));
    call->kept.keep(value);
    for (PyObject* array : call->kept) call->outputs.push_back(output_handle_of(array));
  } else if (same_text(key, g_default_ctx)) {
    if (value == Py_None) return;
    call->dev_type = py::cast<int>(py::handle(value).attr("device_typeid"));
    call->dev_id = py::cast<int>(py::handle(value).attr("device_id"));
  } else {
    throw py::type_error("CachedOp: given argument " + py::cast<std::string>(py::handle(key)) +
                         ", expected out or default_ctx");
  }
}

// op(*arrays, out=None, default_ctx=None)
PyObject* call_cached_op(PyObject* self, PyObject* const* args, std::size_t nargsf,
                         PyObject* names) {
  return guarded_call([&] {
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
    Call call;
    call.inputs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_array(args[i]))
        throw py::type_error("CachedOp: given " + std::string(Py_TYPE(args[i])->tp_name) +
                             " as input " + std::to_string(i) + ", expected an NDArray");
      call.inputs.push_back(as_array(args[i])->handle);
    }
    for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_GET_SIZE(names); ++k)
      take_keyword(PyTuple_GET_ITEM(names, k), args[count + static_cast<std::size_t>(k)], &call);
    int num_outputs = static_cast<int>(call.outputs.size());
    // A list without arrays is no null, which asks for new ones.
    NDArrayHandle none = nullptr;
    NDArrayHandle* outputs = nullptr;
    if (call.out != nullptr) outputs = call.outputs.empty() ? &none : call.outputs.data();
    const int* storage_types = nullptr;
    check_blocking([&] {
      return MXCachedOpCall(as_op(self)->handle, call.dev_type, call.dev_id,
                            static_cast<int>(count), call.inputs.data(), &num_outputs, &outputs,
                            &storage_types);
    });
    if (call.out != nullptr) return new_reference(call.out);
    return wrap_results(num_outputs, outputs, storage_types, as_op(self)->numpy);
  });
}

// Flags as pairs of texts and anything that has a text: (("static_alloc", True),).
CachedOpHandle create(const SymbolBase& symbol, const py::handle& flags, bool thread_safe) {
  Texts keys, values;
  for (const py::handle flag : py::iter(flags)) {
    const auto pair = py::reinterpret_borrow<py::sequence>(flag);
    keys.push_back(py::cast<std::string>(py::str(pair[0])));
    values.push_back(py::cast<std::string>(py::str(pair[1])));
  }
  CachedOpHandle handle = nullptr;
  check(MXCreateCachedOpEX(symbol.handle(), static_cast<int>(keys.size()), pointers(keys).data(),
                           pointers(values).data(), &handle, thread_safe));
  return handle;
}

PyObject* cached_op_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"sym", "flags", "thread_safe", nullptr};
  PyObject* symbol = nullptr;
  PyObject* flags = nullptr;
  int thread_safe = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op", const_cast<char**>(names), &symbol, &flags,
                                  &thread_safe) == 0)
    return nullptr;
  return guarded_call([&]() -> PyObject* {
    const py::object none = py::tuple();
    if (!py::isinstance<SymbolBase>(symbol))
      throw py::type_error(std::string("CachedOp: given ") + Py_TYPE(symbol)->tp_name +
                           ", expected a Symbol");
    const CachedOpHandle handle = create(py::cast<const SymbolBase&>(py::handle(symbol)),
                                         flags == nullptr ? none.ptr() : flags, thread_safe != 0);
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) {
      MXFreeCachedOp(handle);
      return nullptr;
    }
    as_op(object)->vectorcall = call_cached_op;
    as_op(object)->handle = handle;
    as_op(object)->numpy = py::bool_(py::getattr(symbol, "_is_np", py::bool_(false)));
    return object;
  });
}

void cached_op_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  if (as_op(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  MXFreeCachedOp(as_op(self)->handle);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_handle(PyObject* self, void*) {
  return guarded_call([&] { return pointer_object(as_op(self)->handle); });
}
PyObject* get_is_np_sym(PyObject* self, void*) { return PyBool_FromLong(as_op(self)->numpy); }

// Called on the thread that calls the op, without the GIL.
void call_hook(const char* name, const char* op, NDArrayHandle array, void* state) {
  const Gil held;
  try {
    call_function(static_cast<PyObject*>(state), name, op, wrapped(array));
  } catch (py::error_already_set& error) {
    discard(error, "the hook of a CachedOp");
  }
}

int drop_hook(void* state) {
  if (Py_IsInitialized() == 0) return 1;  // the interpreter is gone, and the function with it
  const Gil held;
  Py_DECREF(static_cast<PyObject*>(state));
  return 1;
}

PyObject* register_hook(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"callback", "monitor_all", nullptr};
  PyObject* callback = nullptr;
  int all = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", const_cast<char**>(names), &callback,
                                  &all) == 0)
    return nullptr;
  return guarded_call([&] {
    const bool none = callback == Py_None;
    check_blocking([&, state = none ? nullptr : new_reference(callback)] {
      return MXCachedOpSetHook(as_op(self)->handle, none ? nullptr : call_hook, state,
                               none ? nullptr : drop_hook, all);
    });
    return new_reference(Py_None);
  });
}

PyGetSetDef kProperties[] = {
    {"handle", get_handle, nullptr, "The handle of the C ABI, a ctypes.c_void_p.", nullptr},
    {"is_np_sym", get_is_np_sym, nullptr, "Whether results are mx.np arrays.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef kMethods[] = {
    {"_register_op_hook",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&register_hook)),
     METH_VARARGS | METH_KEYWORDS,
     "callback(name, operator, array) sees every output, and inputs too with monitor_all."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CachedOpObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CachedOpObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void register_cached_op(py::module_& module) {
  g_out = PyUnicode_InternFromString("out");
  g_default_ctx = PyUnicode_InternFromString("default_ctx");
  PyType_Slot slots[] = {
      type_slot(Py_tp_new, cached_op_new),
      type_slot(Py_tp_dealloc, cached_op_dealloc),
      type_slot(Py_tp_call, PyVectorcall_Call),
      {Py_tp_getset, kProperties},
      {Py_tp_methods, kMethods},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("CachedOp(sym, flags=(), thread_safe=False): a symbol "
                                    "that is called with arrays for all its inputs.")},
      {0, nullptr}};
  PyType_Spec spec{"mxnet._core.CachedOp", sizeof(CachedOpObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  module.attr("CachedOp") = py::reinterpret_steal<py::object>(type);
}

}  // namespace mxnet::python

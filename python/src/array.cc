// SPDX-License-Identifier: Apache-2.0
// The type NDArrayBase: life of the handle, facts about the array, views. Its values are in
// array_values.cc, operators in operator.cc, arithmetic in arithmetic.cc.
#include "array.h"

#include <structmember.h>

#include <functional>
#include <numeric>

#include <pybind11/stl.h>

#include "arithmetic.h"
#include "array_values.h"
#include "call_errors.h"
#include "check.h"
#include "dims.h"
#include "pointers.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

PyTypeObject* g_base = nullptr;

PyObject* array_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  ArrayObject* array = as_array(object);
  array->writable = true;
  PyTypeObject* numpy = array_classes().numpy;
  array->numpy = numpy != nullptr && PyType_IsSubtype(type, numpy) != 0;
  return object;
}

// NDArrayBase(handle, writable=True): takes over a handle, given as a pointer of ctypes, a number
// or by another array, which is empty afterwards.
int array_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"handle", "writable", nullptr};
  PyObject* handle = Py_None;
  int writable = 1;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|Op", const_cast<char**>(names), &handle,
                                  &writable) == 0)
    return -1;
  ArrayObject* array = as_array(self);
  array->writable = writable != 0;
  if (handle == Py_None) return 0;
  if (is_array(handle)) {
    array->handle = std::exchange(as_array(handle)->handle, nullptr);
    return 0;
  }
  PyObject* done = guarded_call([&] {
    array->handle = pointer_of(handle);
    return new_reference(Py_None);
  });
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

void array_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  ArrayObject* array = as_array(self);
  if (array->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  MXNDArrayFree(array->handle);
  type->tp_free(self);
  Py_DECREF(type);
}

Py_hash_t array_hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4);
}

PyObject* get_handle(PyObject* self, void*) {
  return guarded_call([&] { return pointer_object(as_array(self)->handle); });
}

PyObject* get_writable(PyObject* self, void*) { return PyBool_FromLong(as_array(self)->writable); }

PyObject* get_shape(PyObject* self, void*) {
  return returning([&]() -> py::object {
    int ndim = 0;
    const int64_t* dims = nullptr;
    check(MXNDArrayGetShapeEx64(as_array(self)->handle, &ndim, &dims));
    if (ndim < 0) return py::none();
    py::tuple shape(static_cast<std::size_t>(ndim));
    for (int i = 0; i < ndim; ++i) PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLongLong(dims[i]));
    return shape;
  });
}

// A fact that is one number.
template <int (*kGet)(NDArrayHandle, int*)>
PyObject* get_number(PyObject* self, void*) {
  return returning([&]() -> py::object {
    int number = 0;
    check(kGet(as_array(self)->handle, &number));
    return py::int_(number);
  });
}

PyObject* get_device(PyObject* self, void*) {
  return returning([&]() -> py::object {
    int type = 0, id = 0;
    check(MXNDArrayGetContext(as_array(self)->handle, &type, &id));
    py::tuple device(2);
    PyTuple_SET_ITEM(device.ptr(), 0, PyLong_FromLong(type));
    PyTuple_SET_ITEM(device.ptr(), 1, PyLong_FromLong(id));
    return device;
  });
}

PyObject* get_grad(PyObject* self, void*) {
  return returning([&]() -> py::object {
    NDArrayHandle grad = nullptr;
    check(MXNDArrayGetGrad(as_array(self)->handle, &grad));
    if (grad == nullptr) return py::none();
    return wrapped(grad, as_array(self)->numpy);
  });
}

PyObject* get_fresh_grad(PyObject* self, void*) {
  return returning([&]() -> py::object {
    int state = 0;
    check(MXNDArrayGetGradState(as_array(self)->handle, &state));
    return py::bool_(state != 0);
  });
}

int set_fresh_grad(PyObject* self, PyObject* value, void*) {
  const int state = value == nullptr ? 0 : PyObject_IsTrue(value);
  PyObject* done = state < 0 ? nullptr : returning([&]() -> py::object {
    check(MXNDArraySetGradState(as_array(self)->handle, state));
    return py::none();
  });
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

PyObject* method_slice(PyObject* self, PyObject* args) {
  return returning([&]() -> py::object {
    const auto [begin, end] = py::cast<std::pair<int64_t, int64_t>>(py::handle(args));
    NDArrayHandle view = nullptr;
    check(MXNDArraySlice64(as_array(self)->handle, begin, end, &view));
    return wrapped(view, as_array(self)->numpy);
  });
}

PyObject* method_at(PyObject* self, PyObject* index) {
  return returning([&]() -> py::object {
    NDArrayHandle view = nullptr;
    check(MXNDArrayAt64(as_array(self)->handle, py::cast<int64_t>(py::handle(index)), &view));
    return wrapped(view, as_array(self)->numpy);
  });
}

// _view(dims, reverse): all elements in another shape. The library has views of an array's front
// too, which Python does not show.
PyObject* method_view(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 2) throw py::type_error("_view: expected dims and reverse");
    GivenDims dims(args[0]);
    const NDArrayHandle handle = as_array(self)->handle;
    NDArrayHandle view = nullptr;
    check(MXNDArrayReshape64(handle, dims.count(), dims.data(), truth_of(args[1]), &view));
    py::object made = wrapped(view, as_array(self)->numpy);
    const int64_t size = size_of(handle);
    if (size_of(view) != size) {
      PyErr_Format(PyExc_ValueError, "reshape: given shape %R for %lld elements", args[0],
                   static_cast<long long>(size));
      throw py::error_already_set();
    }
    return made;
  });
}

PyObject* method_detach(PyObject* self, PyObject*) {
  return returning([&]() -> py::object {
    NDArrayHandle same = nullptr;
    check(MXNDArrayDetach(as_array(self)->handle, &same));
    return wrapped(same, as_array(self)->numpy);
  });
}

// The same array as the other kind of Python object.
PyObject* method_as_kind(PyObject* self, PyObject* numpy) {
  return returning([&]() -> py::object {
    NDArrayHandle same = nullptr;
    check(MXShallowCopyNDArray(as_array(self)->handle, &same));
    return wrapped(same, py::cast<bool>(py::handle(numpy)));
  });
}

template <int (*kWait)(NDArrayHandle)>
PyObject* method_wait(PyObject* self, PyObject*) {
  return returning([&]() -> py::object {
    check_blocking([&] { return kWait(as_array(self)->handle); });
    return py::none();
  });
}

PyGetSetDef kProperties[] = {
    {"_as_parameter_", get_handle, nullptr, "What ctypes passes to C.", nullptr},
    {"handle", get_handle, nullptr, "The handle of the C ABI, a ctypes.c_void_p.", nullptr},
    {"writable", get_writable, nullptr, "Whether operators may write to it.", nullptr},
    {"shape", get_shape, nullptr, "The dimensions; None if they are not known.", nullptr},
    {"dtype", dtype_of, nullptr, "The type of the elements, as NumPy names it.", nullptr},
    {"_dtype_id", get_number<MXNDArrayGetDType>, nullptr, nullptr, nullptr},
    {"_storage_type_id", get_number<MXNDArrayGetStorageType>, nullptr, nullptr, nullptr},
    {"_device", get_device, nullptr, nullptr, nullptr},
    {"grad", get_grad, nullptr, "The gradient buffer, None without one.", nullptr},
    {"_fresh_grad", get_fresh_grad, set_fresh_grad,
     "Set by backward; users clear it when they have used the gradient.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef kMethods[] = {
    {"_slice", method_slice, METH_VARARGS, nullptr},
    {"_at", method_at, METH_O, nullptr},
    fast_method("_view", method_view, nullptr),
    fast_method("item", item_of,
                "item($self, /, *places)\n--\n\nThe one element, or one by its place."),
    {"asscalar", scalar_of, METH_NOARGS,
     "asscalar($self, /)\n--\n\nThe one element, a NumPy scalar."},
    {"_number", only_number, METH_NOARGS, nullptr},
    {"_detach", method_detach, METH_NOARGS, nullptr},
    {"_as_kind", method_as_kind, METH_O, nullptr},
    {"_copy_to", copy_to_buffer, METH_O, nullptr},
    {"wait_to_read", method_wait<MXNDArrayWaitToRead>, METH_NOARGS,
     "Waits until all that writes it is done; what failed raises here."},
    {"wait_to_write", method_wait<MXNDArrayWaitToWrite>, METH_NOARGS,
     "Waits until all that reads or writes it is done."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_base() {
  std::vector<PyType_Slot> slots = {
      type_slot(Py_tp_new, array_new),
      type_slot(Py_tp_init, array_init),
      type_slot(Py_tp_dealloc, array_dealloc),
      type_slot(Py_tp_hash, array_hash),
      type_slot(Py_nb_float, float_of),
      {Py_tp_getset, kProperties},
      {Py_tp_methods, kMethods},
      {Py_tp_members, kMembers},
      {Py_tp_doc, const_cast<char*>("Owns an array of the library.")},
  };
  append_arithmetic(&slots);
  append_buffer(&slots);
  append_indexing(&slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec{"mxnet._core.NDArrayBase", sizeof(ArrayObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

void set_class(PyTypeObject** where, const py::handle& type) {
  *where = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}

}  // namespace

ArrayClasses& array_classes() {
  static ArrayClasses classes;
  return classes;
}

PyTypeObject* array_base() { return g_base; }

int64_t size_of(NDArrayHandle handle) {
  int ndim = 0;
  const int64_t* dims = nullptr;
  check(MXNDArrayGetShapeEx64(handle, &ndim, &dims));
  return ndim < 0 ? 0 : std::accumulate(dims, dims + ndim, int64_t{1}, std::multiplies<>());
}

PyObject* wrap_array(NDArrayHandle handle, int storage_type, bool numpy) {
  const ArrayClasses& classes = array_classes();
  PyTypeObject* type = numpy ? classes.numpy : classes.dense;
  if (storage_type == 1) type = classes.row_sparse;
  if (storage_type == 2) type = classes.csr;
  if (type == nullptr) type = array_base();  // mxnet._core imported on its own
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) {
    MXNDArrayFree(handle);
    return nullptr;
  }
  ArrayObject* array = as_array(object);
  array->handle = handle;
  array->writable = true;
  array->numpy = numpy && storage_type == 0;
  return object;
}

py::object wrapped(NDArrayHandle handle, bool numpy) {
  int storage_type = 0;
  check(MXNDArrayGetStorageType(handle, &storage_type));
  PyObject* object = wrap_array(handle, storage_type, numpy);
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

PyObject* wrap_results(int count, NDArrayHandle* handles, const int* storage_types, bool numpy) {
  if (count == 1) return wrap_array(handles[0], storage_types[0], numpy);
  py::list results(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    PyObject* array = wrap_array(handles[i], storage_types[i], numpy);
    if (array == nullptr) {
      for (int rest = i + 1; rest < count; ++rest) MXNDArrayFree(handles[rest]);
      return nullptr;
    }
    PyList_SET_ITEM(results.ptr(), i, array);
  }
  return results.release().ptr();
}

void fail_without_array(PyObject* object) {
  throw py::type_error(std::string("given ") + Py_TYPE(object)->tp_name + ", expected an NDArray");
}

void fail_read_only() {
  throw py::value_error("given a read-only array as output, expected a writable one");
}

Handles::Handles(const py::sequence& arrays, bool null_for_none) {
  arrays_.keep(arrays.ptr());
  handles_.reserve(arrays_.size());
  for (PyObject* array : arrays_)
    handles_.push_back(null_for_none && array == Py_None ? nullptr : handle_of(array));
}

void register_array(py::module_& module) {
  g_base = make_base();
  module.attr("NDArrayBase") = py::handle(reinterpret_cast<PyObject*>(g_base));
  module.def(
      "set_array_classes",
      [](py::handle dense, py::handle row_sparse, py::handle csr, py::handle scalar) {
        set_class(&array_classes().dense, dense);
        set_class(&array_classes().row_sparse, row_sparse);
        set_class(&array_classes().csr, csr);
        set_class(&array_classes().scalar, scalar);
      },
      "The classes of results by storage type, and numpy.generic.");
  module.def(
      "set_numpy_class", [](py::handle numpy) { set_class(&array_classes().numpy, numpy); },
      "The class of results of mx.np operators.");
}

}  // namespace mxnet::python

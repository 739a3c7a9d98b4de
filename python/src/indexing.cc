// SPDX-License-Identifier: Apache-2.0
// array[key] and array[key] = value for integers, slices, None and an ellipsis, without a detour
// through Python. What lies together in memory is a view, everything else takes the operator slice.
#include <algorithm>
#include <string>
#include <vector>

#include "array.h"
#include "array_keys.h"
#include "assignment.h"
#include "call_errors.h"
#include "check.h"
#include "registrations.h"
#include "selection.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

void call_slice(NDArrayHandle array, const Selection& s, NDArrayHandle* out) {
  static const OpHandle op = op_named("slice");
  const std::string begin = s.begin_text(), end = s.end_text(), step = s.step_text();
  const char* keys[] = {"begin", "end", "step"};
  const char* values[] = {begin.c_str(), end.c_str(), step.c_str()};
  int count = 0;
  NDArrayHandle* results = nullptr;
  const int* storage_types = nullptr;
  check_blocking([&] {
    return MXImperativeInvokeEx(const_cast<void*>(op), 1, &array, &count, &results, 3, keys, values,
                                &storage_types);
  });
  *out = results[0];
}

py::object basic_index(PyObject* object, PyObject* key) {
  py::object not_for_us = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (!is_array(object)) return not_for_us;
  const ArrayObject* array = as_array(object);
  Dims dims{};
  Selection s;
  if (!select_of(array, key, &dims, &s)) return not_for_us;
  int np_shape = 0;
  check(MXIsNumpyShape(&np_shape));
  if (s.rank == 0 && np_shape == 0 && s.ndim > 0) s.shape[static_cast<std::size_t>(s.rank++)] = 1;

  Handle picked;
  int64_t first = 0, last = 0;
  if (together(s, dims.data(), &first, &last)) {
    view_of(array->handle, first, last, picked.out());
    if (s.rank == 1) return wrapped(picked.release(), array->numpy);
  } else {
    call_slice(array->handle, s, picked.out());
    if (s.rank == s.ndim && std::equal(s.shape.begin(), s.shape.begin() + s.rank, s.kept.begin()))
      return wrapped(picked.release(), array->numpy);
  }
  NDArrayHandle result = nullptr;
  reshape(picked.get(), s.rank, s.shape.data(), &result);
  return wrapped(result, array->numpy);
}

// Rows [first, last) of an array, or one, as a view.
py::object slice_of(const ArrayObject* array, int64_t first, int64_t last) {
  NDArrayHandle view = nullptr;
  check(MXNDArraySlice64(array->handle, first, last, &view));
  return wrapped(view, array->numpy);
}

// The usual keys. NotImplemented: for Python.
py::object usual_index(PyObject* self, PyObject* key) {
  const ArrayObject* array = as_array(self);
  const bool integer = PyLong_CheckExact(key);
  if (is_array(key)) return taken_rows(self, key);
  if (!integer && !PySlice_Check(key)) {
    py::object made = basic_index(self, key);
    if (made.ptr() == Py_NotImplemented) made = taken_along(self, key);
    return made.ptr() == Py_NotImplemented ? taken_elements(self, key) : made;
  }
  int ndim = 0;
  const int64_t* dims = nullptr;
  check(MXNDArrayGetShapeEx64(array->handle, &ndim, &dims));
  if (ndim > 0 && integer) {
    const int64_t size = dims[0];
    int overflow = 0;
    const int64_t index = PyLong_AsLongLongAndOverflow(key, &overflow);
    if (overflow == 0 && index >= -size && index < size) {
      NDArrayHandle view = nullptr;
      check(MXNDArrayAt64(array->handle, index < 0 ? index + size : index, &view));
      return wrapped(view, array->numpy);
    }
  } else if (ndim > 0) {
    const int64_t size = dims[0];
    Py_ssize_t begin = 0, end = 0, step = 0;
    if (PySlice_Unpack(key, &begin, &end, &step) != 0) throw py::error_already_set();
    PySlice_AdjustIndices(size, &begin, &end, step);
    if (step == 1) return slice_of(array, begin, std::max(begin, end));
    return basic_index(self, key);
  }
  return py::reinterpret_borrow<py::object>(Py_NotImplemented);
}

// array[key]; what is not usual goes to the class's _get.
PyObject* subscript(PyObject* self, PyObject* key) {
  return returning([&]() -> py::object {
    py::object made = usual_index(self, key);
    if (made.ptr() != Py_NotImplemented) return made;
    static PyObject* const get = PyUnicode_InternFromString("_get");
    made = py::reinterpret_steal<py::object>(PyObject_CallMethodOneArg(self, get, key));
    if (!made) throw py::error_already_set();
    return made;
  });
}

// What makes it a sequence: the same.
PyObject* item_at(PyObject* self, Py_ssize_t index) {
  const auto key = py::reinterpret_steal<py::object>(PyLong_FromSsize_t(index));
  return key ? subscript(self, key.ptr()) : nullptr;
}

PyObject* call_basic_index(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 2) throw py::type_error("basic_index: expected an array and a key");
    return basic_index(args[0], args[1]);
  });
}

PyObject* call_basic_fill(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 3) throw py::type_error("basic_fill: expected an array, a key and a value");
    return py::bool_(basic_fill(args[0], args[1], args[2]));
  });
}

PyMethodDef kFunctions[] = {
    fast_method(
        "basic_index", call_basic_index,
        "array[key] for integers, slices, None and an ellipsis; NotImplemented for other keys."),
    fast_method(
        "basic_fill", call_basic_fill,
        "array[key] = value for the usual keys and values; otherwise False, and nothing done."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void append_indexing(std::vector<PyType_Slot>* slots) {
  slots->push_back(type_slot(Py_mp_subscript, subscript));
  slots->push_back(type_slot(Py_sq_item, item_at));
}

void register_indexing(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
}

}  // namespace mxnet::python

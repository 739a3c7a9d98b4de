// SPDX-License-Identifier: Apache-2.0
// array[key] and array[key] = value for integers, slices, None and an ellipsis, without a detour
// through Python. What lies together in memory is a view, everything else takes the operator slice.
// Keys with arrays are those of array_keys.h; results without elements and wrong indices are left
// to Python, which knows what errors should say.
#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "array.h"
#include "array_facts.h"
#include "array_keys.h"
#include "call_errors.h"
#include "check.h"
#include "numpy_elements.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// What a key selects along each dimension of the array, and the shape of the result.
struct Selection {
  Dims begin, end, step, kept;
  Dims shape;  // integers gone, new axes there
  int ndim = 0, rank = 0;
  bool ends_before_first[kMostDims] = {};  // a slice that runs backwards through element 0
};

// Adds one part of a key. False: not for us.
bool select(PyObject* part, int64_t size, Selection* s) {
  const auto axis = static_cast<std::size_t>(s->ndim);
  if (PyLong_CheckExact(part)) {
    int64_t index = PyLong_AsLongLong(part);
    if (index == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    if (index < -size || index >= size) return false;
    index += index < 0 ? size : 0;
    s->begin[axis] = index;
    s->end[axis] = index + 1;
    s->step[axis] = s->kept[axis] = 1;
  } else if (PySlice_Check(part)) {
    Py_ssize_t begin = 0, end = 0, step = 0;
    if (PySlice_Unpack(part, &begin, &end, &step) != 0) {
      PyErr_Clear();
      return false;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(size, &begin, &end, step);
    if (length == 0 || s->rank == kMostDims) return false;
    s->begin[axis] = begin;
    s->end[axis] = end;
    s->step[axis] = step;
    s->kept[axis] = length;
    s->ends_before_first[axis] = step < 0 && end < 0;
    s->shape[static_cast<std::size_t>(s->rank++)] = length;
  } else {
    return false;
  }
  ++s->ndim;
  return true;
}

void select_all(int64_t size, Selection* s) {
  const auto axis = static_cast<std::size_t>(s->ndim++);
  s->begin[axis] = 0;
  s->end[axis] = s->kept[axis] = size;
  s->step[axis] = 1;
  s->shape[static_cast<std::size_t>(s->rank++)] = size;
}

// The whole key. False: not for us.
bool select_key(PyObject* key, int ndim, const int64_t* dims, Selection* s) {
  const bool tuple = PyTuple_CheckExact(key);
  const Py_ssize_t parts = tuple ? PyTuple_GET_SIZE(key) : 1;
  const auto part = [&](Py_ssize_t i) { return tuple ? PyTuple_GET_ITEM(key, i) : key; };
  int used = 0, dots = 0;
  for (Py_ssize_t i = 0; i < parts; ++i) {
    dots += part(i) == Py_Ellipsis ? 1 : 0;
    used += part(i) != Py_Ellipsis && part(i) != Py_None ? 1 : 0;
  }
  if (dots > 1 || used > ndim || ndim + parts > kMostDims) return false;
  for (Py_ssize_t i = 0; i < parts; ++i) {
    if (part(i) == Py_None) {
      s->shape[static_cast<std::size_t>(s->rank++)] = 1;
    } else if (part(i) == Py_Ellipsis) {
      for (int skipped = ndim - used; skipped > 0; --skipped) select_all(dims[s->ndim], s);
    } else if (!select(part(i), dims[s->ndim], s)) {
      return false;
    }
  }
  while (s->ndim < ndim) select_all(dims[s->ndim], s);
  return true;
}

// The first and last + 1 element, if what is selected lies together.
bool together(const Selection& s, const int64_t* dims, int64_t* first, int64_t* last) {
  auto full = static_cast<std::size_t>(s.ndim);
  while (full > 0 && s.kept[full - 1] == dims[full - 1] && s.step[full - 1] == 1) --full;
  for (std::size_t i = 0; i + 1 < full; ++i)
    if (s.kept[i] != 1) return false;
  if (full > 0 && s.step[full - 1] != 1 && s.kept[full - 1] != 1) return false;
  int64_t begin = 0, count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.ndim); ++i) {
    begin = begin * dims[i] + s.begin[i];
    count *= s.kept[i];
  }
  *first = begin;
  *last = begin + count;
  return true;
}

// An owned handle of an intermediate array.
class Handle {
 public:
  Handle() = default;
  ~Handle() { MXNDArrayFree(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  NDArrayHandle get() const { return handle_; }
  NDArrayHandle* out() { return &handle_; }
  NDArrayHandle release() { return std::exchange(handle_, nullptr); }

 private:
  NDArrayHandle handle_ = nullptr;
};

std::string text_of(const Dims& values, int count, const bool* none = nullptr) {
  std::string text = "(";
  char digits[24];
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (none != nullptr && none[at]) {
      text += "None,";
      continue;
    }
    text.append(digits, std::to_chars(digits, digits + sizeof digits, values[at]).ptr);
    text += ',';
  }
  return text += ')';
}

void reshape(NDArrayHandle array, int ndim, const int64_t* dims, NDArrayHandle* out) {
  Dims copy{};
  std::copy_n(dims, ndim, copy.begin());
  check(MXNDArrayReshape64(array, ndim, reinterpret_cast<dim_t*>(copy.data()), false, out));
}

OpHandle op_named(const char* name) {
  OpHandle op = nullptr;
  check(NNGetOpHandle(name, &op));
  return op;
}

void call_slice(NDArrayHandle array, const Selection& s, NDArrayHandle* out) {
  static const OpHandle op = op_named("slice");
  const std::string begin = text_of(s.begin, s.ndim), step = text_of(s.step, s.ndim),
                    end = text_of(s.end, s.ndim, s.ends_before_first);
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

// Calls what writes to what is selected, wherever it lies: the first of `inputs` is the array.
void assign_slice(OpHandle op, std::span<NDArrayHandle> inputs, const Selection& s,
                  const char* scalar) {
  const std::string begin = text_of(s.begin, s.ndim), step = text_of(s.step, s.ndim),
                    end = text_of(s.end, s.ndim, s.ends_before_first);
  const char* keys[] = {"begin", "end", "step", "scalar"};
  const char* values[] = {begin.c_str(), end.c_str(), step.c_str(), scalar};
  int count = 1;
  NDArrayHandle* results = inputs.data();
  const int* storage_types = nullptr;
  check_blocking([&] {
    return MXImperativeInvokeEx(const_cast<void*>(op), static_cast<int>(inputs.size()),
                                inputs.data(), &count, &results, scalar != nullptr ? 4 : 3, keys,
                                values, &storage_types);
  });
}

void fill_slice(NDArrayHandle array, const Selection& s, PyObject* number) {
  static const OpHandle op = op_named("_slice_assign_scalar");
  assign_slice(op, {&array, 1}, s, py::cast<std::string>(py::str(py::handle(number))).c_str());
}

// What a key selects of an array. False: not for us.
bool select_of(const ArrayObject* array, PyObject* key, Dims* dims, Selection* s) {
  int ndim = 0;
  const int64_t* known = nullptr;
  check(MXNDArrayGetShapeEx64(array->handle, &ndim, &known));
  if (ndim <= 0 || ndim > kMostDims) return false;
  std::copy_n(known, ndim, dims->begin());
  return select_key(key, ndim, dims->data(), s) &&
         std::find(dims->begin(), dims->begin() + ndim, 0) == dims->begin() + ndim;
}

// Elements that lie together, as a vector on the array's memory.
void view_of(NDArrayHandle array, int64_t first, int64_t last, NDArrayHandle* out) {
  const int64_t all = -1;
  Handle flat;
  reshape(array, 1, &all, flat.out());
  check(MXNDArraySlice64(flat.get(), first, last, out));
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

// Copies an array of the array's type into the rows that an integer or a plain slice selects, if it
// has their shape or that of the last of their dimensions. False: not for us.
bool copy_to_rows(const ArrayObject* array, PyObject* key, NDArrayHandle value) {
  const bool integer = PyLong_CheckExact(key);
  Dims dims{};
  Selection s;
  if (!(integer || PySlice_Check(key)) || !select_of(array, key, &dims, &s) || s.step[0] != 1)
    return false;
  int dtype = 0;
  check(MXNDArrayGetDType(array->handle, &dtype));
  const ArrayFacts given(value);
  dims[0] = s.kept[0];
  const Dims::const_iterator begin = dims.begin() + (integer ? 1 : 0), end = dims.begin() + s.ndim;
  if (given.storage_type != 0 || given.dtype != dtype || given.ndim < 1 ||
      given.ndim > end - begin || !std::equal(given.dims.begin(), given.end(), end - given.ndim))
    return false;
  Handle rows;
  check(integer ? MXNDArrayAt64(array->handle, s.begin[0], rows.out())
                : MXNDArraySlice64(array->handle, s.begin[0], s.end[0], rows.out()));
  const py::object target = wrapped(rows.release());
  py::object repeated;  // apart: what is given may share the memory
  if (given.ndim < end - begin) {
    static OperatorData& repeat = *new OperatorData("_npi_broadcast_to", false);
    static PyObject* const shape = PyUnicode_InternFromString("shape");
    py::tuple sizes(end - begin);
    for (Dims::const_iterator size = begin; size != end; ++size)
      sizes[static_cast<std::size_t>(size - begin)] = *size;
    repeated = py::reinterpret_steal<py::object>(
        invoke_operator(repeat, &value, 1, {{shape, sizes.ptr()}}, nullptr, false));
    if (!repeated) throw py::error_already_set();
    value = as_array(repeated.ptr())->handle;
  }
  static OperatorData& copy = *new OperatorData("_copyto", false);
  PyObject* done = invoke_operator(copy, &value, 1, {}, target.ptr(), false);
  if (done == nullptr) throw py::error_already_set();
  Py_DECREF(done);
  return true;
}

// Copies an array of the array's type and on its device to what a key of several parts selects, if
// it has just that shape. False: not for us.
bool copy_to_slice(const ArrayObject* array, PyObject* key, NDArrayHandle value) {
  Dims dims{};
  Selection s;
  if (!PyTuple_CheckExact(key) || !select_of(array, key, &dims, &s)) return false;
  const ArrayFacts facts(array->handle), given(value);
  if (!facts.plain() || !given.plain() || given.dtype != facts.dtype ||
      given.device_number != facts.device_number || s.rank == 0 || given.ndim != s.rank ||
      !std::equal(given.dims.begin(), given.end(), s.shape.begin()))
    return false;
  static const OpHandle op = op_named("_slice_assign");
  Handle fitting;
  reshape(value, s.ndim, s.kept.data(), fitting.out());
  NDArrayHandle inputs[] = {array->handle, fitting.get()};
  assign_slice(op, inputs, s, nullptr);
  return true;
}

// One of NumPy's real numbers as Python's; null for anything else.
py::object plain_number(PyObject* number) {
  const std::string_view type = Py_TYPE(number)->tp_name;
  PyObject* plain = nullptr;
  if (type.starts_with("numpy.float")) plain = PyNumber_Float(number);
  if (type.starts_with("numpy.int") || type.starts_with("numpy.uint"))
    plain = PyNumber_Long(number);
  if (plain == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(plain);
}

// Writes a number, an array or one of NumPy's to what a key selects. While autograd records, an
// assignment is more than a view that is written to, and Python does it.
bool basic_fill(PyObject* object, PyObject* key, PyObject* value) {
  if (!is_array(object)) return false;
  const bool usual = PyLong_CheckExact(key) || PySlice_Check(key) || PyList_CheckExact(key) ||
                     PyTuple_CheckExact(key);
  const bool beside = usual && is_numpy_array(value), copies = is_array(value) || beside;
  py::object plain;
  if (!copies && !PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) {
    plain = plain_number(value);
    if (!plain) return false;
    value = plain.ptr();
  }
  const ArrayObject* array = as_array(object);
  int storage_type = 0;
  bool recording = false;
  check(MXNDArrayGetStorageType(array->handle, &storage_type));
  check(MXAutogradIsRecording(&recording));
  if (storage_type != 0 || recording) return false;
  if (beside) {
    plain = copied_beside(object, value);
    if (!plain) return false;
    value = plain.ptr();
  }
  if (copies)
    return copy_to_rows(array, key, as_array(value)->handle) ||
           copy_to_slice(array, key, as_array(value)->handle) ||
           copy_to_selected(object, key, value);
  Dims dims{};
  Selection s;
  int64_t first = 0, last = 0;
  if (!select_of(array, key, &dims, &s)) return fill_selected(object, key, value);
  if (!together(s, dims.data(), &first, &last)) {
    fill_slice(array->handle, s, value);
    return true;
  }
  Handle view;
  view_of(array->handle, first, last, view.out());
  const py::object target = wrapped(view.release());
  // Leaked, as operators that Python made are: they may be called until the interpreter is gone.
  static OperatorData& set_value = *new OperatorData("_set_value", false);
  static PyObject* const src = PyUnicode_InternFromString("src");
  const std::vector<ParamValue> params{{src, value}};
  PyObject* done = invoke_operator(set_value, nullptr, 0, params, target.ptr(), false);
  if (done == nullptr) throw py::error_already_set();
  Py_DECREF(done);
  return true;
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

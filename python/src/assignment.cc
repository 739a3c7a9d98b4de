// SPDX-License-Identifier: Apache-2.0
// What is selected is written to where it lies: through a view, or by the operators that assign to
// slices.
#include "assignment.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"
#include "array_facts.h"
#include "array_keys.h"
#include "check.h"
#include "numpy_copy.h"
#include "numpy_elements.h"
#include "operator.h"
#include "selection.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Calls what writes to what is selected, wherever it lies: the first of `inputs` is the array.
void assign_slice(OpHandle op, std::span<NDArrayHandle> inputs, const Selection& s,
                  const char* scalar) {
  const std::string begin = s.begin_text(), end = s.end_text(), step = s.step_text();
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

// Copies one of NumPy's arrays to what a key selects, if that has its shape, lies together and is
// used by nobody. False: not for us.
bool write_if_free(const ArrayObject* array, PyObject* key, PyObject* values) {
  Dims dims{};
  Selection s;
  int64_t first = 0, last = 0;
  if (!select_of(array, key, &dims, &s) || s.rank == 0 || !together(s, dims.data(), &first, &last))
    return false;
  const auto behind = dims.begin() + s.ndim;
  const bool rows = std::equal(s.kept.begin(), s.kept.begin() + s.ndim, s.shape.begin(),
                               s.shape.begin() + s.rank) &&
                    std::equal(dims.begin() + 1, behind, s.kept.begin() + 1);
  NDArrayHandle target = array->handle;
  Handle vector, part;
  if (!rows) {
    view_of(array->handle, first, last, vector.out());
    reshape(vector.get(), s.rank, s.shape.data(), part.out());
    target = part.get();
  } else if (s.kept[0] != dims[0]) {
    check(MXNDArraySlice64(array->handle, s.begin[0], s.begin[0] + s.kept[0], part.out()));
    target = part.get();
  }
  return write_numpy_if_free(values, target, s.rank, s.shape.data());
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

}  // namespace

bool basic_fill(PyObject* object, PyObject* key, PyObject* value) {
  if (!is_array(object)) return false;
  const bool usual = PyLong_CheckExact(key) || PySlice_Check(key) || PyList_CheckExact(key) ||
                     PyTuple_CheckExact(key) || key == Py_Ellipsis;
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
    if (write_if_free(array, key, value)) return true;
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

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Positions are looked at here, so that what is out of range fails at once; the operators take and
// _npi_boolean_mask_assign_scalar do the rest, as they would be called from Python.
#include "array_keys.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "array.h"
#include "array_facts.h"
#include "check.h"
#include "numpy_copy.h"
#include "numpy_elements.h"
#include "operator.h"
#include "positions.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Whether all of at[0, n) are in [0, size). No branch for each, so that they are looked at by
// vectors: a difference is negative where one is not.
template <class Index>
bool all_within(const Index* at, int64_t n, int64_t size) {
  const auto last =
      static_cast<Index>(std::min<int64_t>(size - 1, std::numeric_limits<Index>::max()));
  std::make_unsigned_t<Index> outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<std::make_unsigned_t<Index>>(at[i]);
    outside |= index | (static_cast<std::make_unsigned_t<Index>>(last) - index);
  }
  return static_cast<Index>(outside) >= 0;
}

// A new array on a CPU with these elements.
py::object array_of(const void* elements, const int64_t* dims, std::size_t ndim, int dtype,
                    int device_number) {
  NDArrayHandle handle = nullptr;
  check(MXNDArrayCreateEx64(dims, static_cast<int>(ndim), kCpu, device_number, 0, dtype, &handle));
  auto made = py::reinterpret_steal<py::object>(wrap_array(handle, 0, false));
  if (!made) throw py::error_already_set();
  const auto count = static_cast<std::size_t>(size_of(handle));
  check_blocking([&] { return MXNDArraySyncCopyFromCPU(handle, elements, count); });
  return made;
}

py::object take(NDArrayHandle array, NDArrayHandle positions, int axis, bool numpy) {
  // Leaked, as operators that Python made are: they may be called until the interpreter is gone.
  static OperatorData& op = *new OperatorData("take", false);
  static PyObject* const name = PyUnicode_InternFromString("axis");
  NDArrayHandle inputs[] = {array, positions};
  const py::int_ value(axis);
  std::vector<ParamValue> params;
  if (axis != 0) params.push_back({name, value.ptr()});
  PyObject* taken = invoke_operator(op, inputs, 2, params, nullptr, numpy);
  if (taken == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(taken);
}

// What positions select along a dimension, once they are known to be within it.
py::object take_read(PyObject* self, PyObject* key, int axis) {
  const ArrayObject* array = as_array(self);
  const ArrayFacts facts(array->handle);
  Positions positions;
  if (!positions.read(key, facts.dims[static_cast<std::size_t>(axis)]))
    return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const py::object at = array_of(positions.at.data(), positions.dims.data(), positions.dims.size(),
                                 kInt64, facts.device_number);
  return take(array->handle, as_array(at.ptr())->handle, axis, array->numpy);
}

bool is_whole(PyObject* part) {
  if (!PySlice_Check(part)) return false;
  const auto* slice = reinterpret_cast<PySliceObject*>(part);
  return slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None;
}

// The mask of what a key selects of the first dimensions, which it names.
class Selected {
 public:
  static constexpr int64_t kMost = 4096;  // elements; for more of them Python spreads the number
  explicit Selected(const ArrayFacts& array) : array_(array) {}
  // False: not for us.
  bool read(PyObject* key) {
    const bool tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = tuple ? PyTuple_GET_SIZE(key) : 1;
    if (count == 0 || count > array_.ndim || array_.size(0, static_cast<int>(count)) > kMost)
      return false;
    parts_.resize(static_cast<std::size_t>(count));
    const Positions* first = nullptr;
    for (Py_ssize_t i = 0; i < count; ++i) {
      Part& part = parts_[static_cast<std::size_t>(i)];
      PyObject* given = tuple ? PyTuple_GET_ITEM(key, i) : key;
      const int64_t size = array_.dims[static_cast<std::size_t>(i)];
      if (is_positions(given) || is_array(given)) {
        if (!part.positions.read(given, size)) return false;
        if (first != nullptr && first->dims != part.positions.dims) return false;
        first = &part.positions;
      } else if (!read_range(given, size, &part)) {
        return false;
      }
    }
    if (first == nullptr) return false;
    mask_.assign(static_cast<std::size_t>(array_.size(0, static_cast<int>(count))), 0);
    for (std::size_t nth = 0; nth < first->at.size(); ++nth) mark(0, 0, nth);
    return true;
  }
  py::object mask() const {
    return array_of(mask_.data(), array_.dims.data(), parts_.size(), kBool, array_.device_number);
  }

 private:
  struct Part {
    Positions positions;  // if any, else a range
    Py_ssize_t begin = 0, step = 1, length = 0;
  };
  static bool read_range(PyObject* given, int64_t size, Part* part) {
    if (PyLong_CheckExact(given)) {
      int overflow = 0;
      const int64_t index = PyLong_AsLongLongAndOverflow(given, &overflow);
      if (overflow != 0 || index < -size || index >= size) return false;
      part->begin = index + (index < 0 ? size : 0);
      part->length = 1;
      return true;
    }
    Py_ssize_t end = 0;
    if (!PySlice_Check(given)) return false;
    if (PySlice_Unpack(given, &part->begin, &end, &part->step) != 0) {
      PyErr_Clear();
      return false;
    }
    part->length = PySlice_AdjustIndices(size, &part->begin, &end, part->step);
    return part->length > 0;
  }
  // Marks what the parts from one on select behind `place`, for the nth of the positions.
  void mark(std::size_t from, int64_t place, std::size_t nth) {
    if (from == parts_.size()) {
      mask_[static_cast<std::size_t>(place)] = 1;
      return;
    }
    const Part& part = parts_[from];
    place *= array_.dims[from];
    if (!part.positions.at.empty()) return mark(from + 1, place + part.positions.at[nth], nth);
    for (Py_ssize_t i = 0; i < part.length; ++i)
      mark(from + 1, place + part.begin + i * part.step, nth);
  }

  const ArrayFacts& array_;
  std::vector<Part> parts_;
  std::vector<uint8_t> mask_;
};

// The mask that a key is, on the array's device; null for any other key.
py::object mask_of(const ArrayFacts& array, PyObject* key) {
  const auto covers = [&](int ndim, const auto* dims) {
    return ndim <= array.ndim && std::equal(dims, dims + ndim, array.dims.begin());
  };
  if (is_array(key)) {
    const ArrayFacts mask(as_array(key)->handle);
    if (mask.dtype != kBool || !mask.plain() || mask.device_number != array.device_number ||
        !covers(mask.ndim, mask.dims.data()))
      return {};
    return py::reinterpret_borrow<py::object>(key);
  }
  if (!is_numpy_array(key)) return {};
  const NumpyElements mask(key);
  if (!mask.are("?") || !covers(mask.ndim(), mask.dims())) return {};
  return array_of(mask.as<void>(), array.dims.data(), static_cast<std::size_t>(mask.ndim()), kBool,
                  array.device_number);
}

// The number as a parameter of the operator, which is a float32, if it says there what the array
// would hold of it.
bool says_the_same(int dtype, double number) {
  if (dtype == kFloat32 || dtype == kFloat64)
    return std::isnan(number) || number == static_cast<double>(static_cast<float>(number));
  if (number != std::trunc(number)) return false;  // infinities are left, and too large
  switch (dtype) {
    case kInt32:
    case kInt64:
      return std::abs(number) <= 1 << 24;
    case kFloat16:
    case kInt8:
    case kBfloat16:
      return std::abs(number) <= 127;
    case kUint8:
      return number >= 0 && number <= 255;
    case kBool:
      return number == 0 || number == 1;
    default:
      return false;
  }
}

// All elements of an array as rows of so many, on its memory.
py::object as_rows(NDArrayHandle array, int64_t width) {
  int64_t dims[] = {-1, width};
  NDArrayHandle view = nullptr;
  check(MXNDArrayReshape64(array, width > 1 ? 2 : 1, dims, false, &view));
  return wrapped(view);
}

}  // namespace

py::object taken_rows(PyObject* self, PyObject* indices) {
  py::object not_for_us = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const ArrayObject *array = as_array(self), *at = as_array(indices);
  const ArrayFacts positions(at->handle);
  const int64_t count = positions.size(0, positions.ndim);
  const ArrayFacts rows(array->handle);
  if (!rows.plain() || !positions.plain() || rows.device_number != positions.device_number)
    return not_for_us;
  const int64_t size = rows.dims[0];
  if (positions.dtype != kInt32 && positions.dtype != kInt64) return take_read(self, indices, 0);

  void* data = nullptr;
  bool within = false;
  check_blocking([&] {
    if (const int failed = MXNDArrayWaitToRead(at->handle)) return failed;
    if (const int failed = MXNDArrayGetData(at->handle, &data)) return failed;
    within = positions.dtype == kInt32 ? all_within(static_cast<const int32_t*>(data), count, size)
                                       : all_within(static_cast<const int64_t*>(data), count, size);
    return 0;
  });
  return within ? take(array->handle, at->handle, 0, array->numpy) : take_read(self, indices, 0);
}

py::object taken_along(PyObject* self, PyObject* key) {
  py::object not_for_us = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  Py_ssize_t axis = 0, count = 1;
  if (PyTuple_CheckExact(key)) {  // all but one part are `:`
    PyObject* const parts = key;
    count = PyTuple_GET_SIZE(parts);
    axis = -1;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (is_whole(PyTuple_GET_ITEM(parts, i))) continue;
      if (axis >= 0) return not_for_us;
      axis = i;
    }
    if (axis < 0) return not_for_us;
    key = PyTuple_GET_ITEM(parts, axis);
  }
  const ArrayFacts facts(as_array(self)->handle);
  const bool known = is_positions(key) || (is_array(key) && count > 1);
  if (!known || !facts.plain() || count > facts.ndim) return not_for_us;
  return take_read(self, key, static_cast<int>(axis));
}

py::object taken_elements(PyObject* self, PyObject* key) {
  py::object not_for_us = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  if (!PyTuple_CheckExact(key)) return not_for_us;
  const ArrayObject* array = as_array(self);
  const ArrayFacts facts(array->handle);
  const Py_ssize_t count = PyTuple_GET_SIZE(key);
  if (!facts.plain() || count != facts.ndim || count < 2) return not_for_us;
  Positions places, along;
  for (Py_ssize_t axis = 0; axis < count; ++axis) {
    PyObject* const part = PyTuple_GET_ITEM(key, axis);
    const int64_t size = facts.dims[static_cast<std::size_t>(axis)];
    if (!(is_positions(part) || is_array(part)) || !along.read(part, size)) return not_for_us;
    if (axis == 0) {
      std::swap(places, along);
      continue;
    }
    if (along.dims != places.dims) return not_for_us;
    for (std::size_t i = 0; i < places.at.size(); ++i)
      places.at[i] = places.at[i] * size + along.at[i];
  }
  const py::object flat = as_rows(array->handle, 1),
                   at = array_of(places.at.data(), places.dims.data(), places.dims.size(), kInt64,
                                 facts.device_number);
  return take(as_array(flat.ptr())->handle, as_array(at.ptr())->handle, 0, array->numpy);
}

py::object copied_beside(PyObject* self, PyObject* values) {
  const ArrayFacts facts(as_array(self)->handle);
  if (!facts.plain()) return {};
  py::object made = copy_of_numpy(values, facts.dtype, kCpu, facts.device_number, false);
  if (made && !ArrayFacts(as_array(made.ptr())->handle).has_elements()) return {};
  return made;
}

bool fill_selected(PyObject* self, PyObject* key, PyObject* number) {
  const ArrayObject* array = as_array(self);
  const ArrayFacts facts(array->handle);
  double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  if (facts.dtype == kFloat32 && PyFloat_CheckExact(number))  // integers are rounded once, too
    value = static_cast<float>(value);
  if (!facts.plain() || !says_the_same(facts.dtype, value)) return false;
  py::object mask = mask_of(facts, key);
  if (!mask) {
    Selected selected(facts);
    if (!selected.read(key)) return false;
    mask = selected.mask();
  }
  static OperatorData& assign = *new OperatorData("_npi_boolean_mask_assign_scalar", true);
  static PyObject* const name = PyUnicode_InternFromString("value");
  NDArrayHandle inputs[] = {array->handle, as_array(mask.ptr())->handle};
  const py::float_ said(value);
  const std::vector<ParamValue> params{{name, said.ptr()}};
  PyObject* done = invoke_operator(assign, inputs, 2, params, self, array->numpy);
  if (done == nullptr) throw py::error_already_set();
  Py_DECREF(done);
  return true;
}

bool copy_to_selected(PyObject* self, PyObject* key, PyObject* rows) {
  if (!is_positions(key) && !is_array(key)) return false;
  const ArrayFacts facts(as_array(self)->handle), given(as_array(rows)->handle);
  Positions positions;
  if (!facts.plain() || !given.plain() || given.dtype != facts.dtype ||
      given.device_number != facts.device_number || !positions.read(key, facts.dims[0]))
    return false;
  const auto lead = static_cast<int>(positions.dims.size());
  if (given.ndim != lead + facts.ndim - 1 ||
      !std::equal(positions.dims.begin(), positions.dims.end(), given.dims.begin()) ||
      !std::equal(facts.dims.begin() + 1, facts.end(), given.dims.begin() + lead))
    return false;
  const auto count = static_cast<int64_t>(positions.at.size());
  const int64_t width = facts.size(1, facts.ndim), places_dims[] = {1, count};
  const py::object target = as_rows(as_array(self)->handle, width),
                   values = as_rows(as_array(rows)->handle, width),
                   places =
                       array_of(positions.at.data(), places_dims, 2, kInt64, facts.device_number);
  static OperatorData& scatter = *new OperatorData("_scatter_set_nd", false);
  static PyObject* const name = PyUnicode_InternFromString("shape");
  NDArrayHandle inputs[] = {as_array(target.ptr())->handle, as_array(values.ptr())->handle,
                            as_array(places.ptr())->handle};
  py::tuple shape(width > 1 ? 2 : 1);
  shape[0] = facts.dims[0];
  if (width > 1) shape[1] = width;
  const std::vector<ParamValue> params{{name, shape.ptr()}};
  PyObject* done = invoke_operator(scatter, inputs, 3, params, target.ptr(), false);
  if (done == nullptr) throw py::error_already_set();
  Py_DECREF(done);
  return true;
}

}  // namespace mxnet::python

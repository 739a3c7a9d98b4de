// SPDX-License-Identifier: Apache-2.0
// Lists are read item by item, arrays of NumPy and of the library from their memory.
#include "positions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "array.h"
#include "array_facts.h"
#include "check.h"
#include "numpy_elements.h"

namespace mxnet::python {

bool is_positions(PyObject* part) { return PyList_CheckExact(part) || is_numpy_array(part); }

bool Positions::read(PyObject* given, int64_t size) {
  at.clear();
  if (is_array(given)) {
    if (!read_array(as_array(given)->handle)) return false;
  } else if (PyList_CheckExact(given)) {
    const Py_ssize_t count = PyList_GET_SIZE(given);
    at.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PyList_GET_ITEM(given, i);
      if (!PyLong_CheckExact(item)) return false;
      int overflow = 0;
      at.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
      if (overflow != 0) return false;
    }
    dims.assign(1, count);
  } else {
    const NumpyElements elements(given);
    if (!elements.are("ilq")) return false;
    dims.assign(elements.dims(), elements.dims() + elements.ndim());
    if (elements.item_size() == sizeof(int64_t))
      at.assign(elements.as<int64_t>(), elements.as<int64_t>() + elements.count());
    else if (elements.item_size() == sizeof(int32_t))
      at.assign(elements.as<int32_t>(), elements.as<int32_t>() + elements.count());
  }
  for (int64_t& position : at) {
    if (position < -size || position >= size) return false;
    position += position < 0 ? size : 0;
  }
  return !at.empty();
}

bool Positions::read_array(NDArrayHandle array) {
  const ArrayFacts facts(array);
  const bool integers = facts.dtype == kInt32 || facts.dtype == kInt64;
  if (!(integers || facts.dtype == kFloat32 || facts.dtype == kFloat64) || !facts.plain())
    return false;
  dims.assign(facts.dims.begin(), facts.end());
  const int64_t count = facts.size(0, facts.ndim);
  void* data = nullptr;
  check_blocking([&] { return MXNDArrayWaitToRead(array); });
  check(MXNDArrayGetData(array, &data));
  const auto take = [&](const auto* given) {
    at.assign(given, given + count);
    return true;
  };
  const auto cut = [&](const auto* given) {
    // Beyond these neighbours are further apart than 1; nor has any dimension as many elements.
    constexpr double kMost = 9007199254740992;
    if (!std::all_of(given, given + count, [](double v) { return std::abs(v) < kMost; }))
      return false;
    at.resize(static_cast<std::size_t>(count));
    std::transform(given, given + count, at.begin(),
                   [](auto v) { return static_cast<int64_t>(v); });
    return true;
  };
  switch (facts.dtype) {
    case kInt32:
      return take(static_cast<const int32_t*>(data));
    case kInt64:
      return take(static_cast<const int64_t*>(data));
    case kFloat32:
      return cut(static_cast<const float*>(data));
    default:
      return cut(static_cast<const double*>(data));
  }
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Keys are read part by part, as Python's own sequences read them.
#include "selection.h"

#include <algorithm>
#include <charconv>

#include "check.h"

namespace mxnet::python {
namespace {

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

}  // namespace

std::string Selection::begin_text() const { return text_of(begin, ndim); }
std::string Selection::end_text() const { return text_of(end, ndim, ends_before_first); }
std::string Selection::step_text() const { return text_of(step, ndim); }

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

bool select_of(const ArrayObject* array, PyObject* key, Dims* dims, Selection* s) {
  int ndim = 0;
  const int64_t* known = nullptr;
  check(MXNDArrayGetShapeEx64(array->handle, &ndim, &known));
  if (ndim <= 0 || ndim > kMostDims) return false;
  std::copy_n(known, ndim, dims->begin());
  return select_key(key, ndim, dims->data(), s) &&
         std::find(dims->begin(), dims->begin() + ndim, 0) == dims->begin() + ndim;
}

void reshape(NDArrayHandle array, int ndim, const int64_t* dims, NDArrayHandle* out) {
  Dims copy{};
  std::copy_n(dims, ndim, copy.begin());
  check(MXNDArrayReshape64(array, ndim, reinterpret_cast<dim_t*>(copy.data()), false, out));
}

void view_of(NDArrayHandle array, int64_t first, int64_t last, NDArrayHandle* out) {
  const int64_t all = -1;
  Handle flat;
  reshape(array, 1, &all, flat.out());
  check(MXNDArraySlice64(flat.get(), first, last, out));
}

OpHandle op_named(const char* name) {
  OpHandle op = nullptr;
  check(NNGetOpHandle(name, &op));
  return op;
}

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// What array[key] selects for integers, slices, None and an ellipsis, and how it is reached: as a
// view where it lies together in memory, by an operator otherwise. Keys with arrays are those of
// array_keys.h.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>

#include "array.h"
#include "array_facts.h"

namespace mxnet::python {

// What a key selects along each dimension of the array, and the shape of the result.
struct Selection {
  Dims begin, end, step, kept;
  Dims shape;  // integers gone, new axes there
  int ndim = 0, rank = 0;
  bool ends_before_first[kMostDims] = {};  // a slice that runs backwards through element 0

  // As parameters of the operators on slices.
  std::string begin_text() const;
  std::string end_text() const;
  std::string step_text() const;
};

// What a key selects of an array, whose dimensions are written to `dims`. False: not for us, as
// results without elements and wrong indices are: Python knows what errors should say.
bool select_of(const ArrayObject* array, PyObject* key, Dims* dims, Selection* s);
// The first and last + 1 element, if what is selected lies together.
bool together(const Selection& s, const int64_t* dims, int64_t* first, int64_t* last);

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

// Views of an array: of another shape, and of elements that lie together as a vector.
void reshape(NDArrayHandle array, int ndim, const int64_t* dims, NDArrayHandle* out);
void view_of(NDArrayHandle array, int64_t first, int64_t last, NDArrayHandle* out);

OpHandle op_named(const char* name);

}  // namespace mxnet::python

// SPDX-License-Identifier: Apache-2.0
// Views of arrays: slices, rows, other shapes, the same array again.
#include <algorithm>
#include <span>
#include <vector>

#include "base/numpy_shape.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "exec/views.h"
#include "ndarray/reshape_codes.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

void slice(const char* function, NDArrayHandle handle, int64_t begin, int64_t end,
           NDArrayHandle* out) {
  require(out, function, "out");
  *out = new_handle(recorded_slice(array_of(handle, function), begin, end));
}

void at(const char* function, NDArrayHandle handle, int64_t index, NDArrayHandle* out) {
  require(out, function, "out");
  NDArray row = recorded_at(array_of(handle, function), index);
  // Without NumPy shapes there are no scalars: one element of a vector is a vector of one.
  if (row.shape().ndim() == 0 && !is_numpy_shape()) row = recorded_reshape(row, Shape{1});
  *out = new_handle(std::move(row));
}

void reshape(const char* function, NDArrayHandle handle, std::span<const int64_t> dims,
             bool reverse, NDArrayHandle* out) {
  require(out, function, "out");
  NDArray& array = array_of(handle, function);
  require_dense(array, "reshape");
  const Shape shape = resolve_reshape(array.shape(), dims, reverse);
  // Without NumPy shapes the front of an array is a view too.
  const bool front = !is_numpy_shape() && shape.size() < array.size();
  *out = new_handle(front ? array.view_as(shape, array.dtype()) : recorded_reshape(array, shape));
}

// Instructions of reshape, of which -4 takes two more for two dimensions.
template <class T>
std::span<const T> checked_dims(const char* function, const T* dims, int ndim) {
  constexpr int kMost = 3 * Shape::kMaxDims;
  if (ndim < 0 || ndim > kMost || (ndim > 0 && dims == nullptr)) {
    throw Error(ErrorCode::kValue, function,
                "given " + std::to_string(ndim) + " dimensions, expected 0 to " +
                    std::to_string(kMost) + " and a pointer to them");
  }
  return {dims, static_cast<std::size_t>(ndim)};
}

}  // namespace

int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                   NDArrayHandle* out) {
  return guarded([&] { slice("MXNDArraySlice", handle, slice_begin, slice_end, out); });
}

int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                     NDArrayHandle* out) {
  return guarded([&] { slice("MXNDArraySlice64", handle, slice_begin, slice_end, out); });
}

int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle* out) {
  return guarded([&] { at("MXNDArrayAt", handle, idx, out); });
}

int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle* out) {
  return guarded([&] { at("MXNDArrayAt64", handle, idx, out); });
}

int MXNDArrayReshape(NDArrayHandle handle, int ndim, int* dims, NDArrayHandle* out) {
  return guarded([&] {
    const std::span<const int> given = checked_dims<int>("MXNDArrayReshape", dims, ndim);
    const std::vector<int64_t> wide(given.begin(), given.end());
    // Of the instructions this older function knows 0 and -1 only.
    if (std::any_of(wide.begin(), wide.end(), [](int64_t dim) { return dim < -1; }))
      throw Error(ErrorCode::kValue, "MXNDArrayReshape",
                  "given a dimension below -1, expected -1 or more");
    reshape("MXNDArrayReshape", handle, wide, false, out);
  });
}

int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t* dims, bool reverse,
                       NDArrayHandle* out) {
  return guarded([&] {
    reshape("MXNDArrayReshape64", handle, checked_dims<dim_t>("MXNDArrayReshape64", dims, ndim),
            reverse, out);
  });
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle* out) {
  return guarded([&] {
    require(out, "MXNDArrayDetach", "out");
    const NDArray& array = array_of(handle, "MXNDArrayDetach");
    *out = new_handle(array.is_none() ? NDArray() : array.detach());
  });
}

int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle* out) {
  return guarded([&] {
    require(out, "MXShallowCopyNDArray", "out");
    *out = new_handle(array_of(src, "MXShallowCopyNDArray"));
  });
}

// SPDX-License-Identifier: Apache-2.0
// What an array is: shape, type, place, address, gradient.
#include <fmt/format.h>

#include <limits>

#include "base/numpy_shape.h"
#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "ndarray/sparse_store.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

// Into the caller's type; a dimension that does not fit is an error, not another number.
template <class T>
void copy_shape(const char* function, const Shape& shape, std::vector<T>* to) {
  to->clear();
  for (int64_t dim : shape) {
    if (dim > static_cast<int64_t>(std::numeric_limits<int32_t>::max()) &&
        sizeof(T) < sizeof(int64_t)) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given an array of shape {}, expected dimensions below 2^31: use "
                              "MXNDArrayGetShapeEx64",
                              to_string(shape)));
    }
    to->push_back(static_cast<T>(dim));
  }
}

// An unknown shape has no dimensions, or with NumPy shapes, where no dimensions mean a scalar, -1.
int shown_ndim(const Shape& shape) {
  return shape.rank_known() || is_numpy_shape() ? shape.ndim() : 0;
}

TapeInfo& tape_of(const NDArray& array) {
  if (!array.tape()) {
    throw Error(ErrorCode::kValue, "NDArray",
                "given an array that is not marked for gradients: it has no gradient state");
  }
  return *array.tape();
}

}  // namespace

int MXNDArrayGetShape(NDArrayHandle handle, uint32_t* out_dim, const uint32_t** out_pdata) {
  return guarded([&] {
    require(out_dim, "MXNDArrayGetShape", "out_dim");
    require(out_pdata, "MXNDArrayGetShape", "out_pdata");
    const NDArray& array = array_of(handle, "MXNDArrayGetShape");
    std::vector<uint32_t>& kept = ndarray_returns().shape32;
    copy_shape("MXNDArrayGetShape", array.shape(), &kept);
    *out_dim = static_cast<uint32_t>(kept.size());
    *out_pdata = kept.data();
  });
}

int MXNDArrayGetShapeEx(NDArrayHandle handle, int* out_dim, const int** out_pdata) {
  return guarded([&] {
    require(out_dim, "MXNDArrayGetShapeEx", "out_dim");
    require(out_pdata, "MXNDArrayGetShapeEx", "out_pdata");
    const NDArray& array = array_of(handle, "MXNDArrayGetShapeEx");
    std::vector<int>& kept = ndarray_returns().shape_int;
    copy_shape("MXNDArrayGetShapeEx", array.shape(), &kept);
    *out_dim = shown_ndim(array.shape());
    *out_pdata = kept.data();
  });
}

int MXNDArrayGetShapeEx64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata) {
  return guarded([&] {
    require(out_dim, "MXNDArrayGetShapeEx64", "out_dim");
    require(out_pdata, "MXNDArrayGetShapeEx64", "out_pdata");
    const NDArray& array = array_of(handle, "MXNDArrayGetShapeEx64");
    std::vector<int64_t>& kept = ndarray_returns().shape64;
    copy_shape("MXNDArrayGetShapeEx64", array.shape(), &kept);
    *out_dim = shown_ndim(array.shape());
    *out_pdata = kept.data();
  });
}

int MXNDArrayGetDType(NDArrayHandle handle, int* out_dtype) {
  return guarded([&] {
    require(out_dtype, "MXNDArrayGetDType", "out_dtype");
    *out_dtype = static_cast<int>(array_of(handle, "MXNDArrayGetDType").dtype());
  });
}

int MXNDArrayGetStorageType(NDArrayHandle handle, int* out_storage_type) {
  return guarded([&] {
    require(out_storage_type, "MXNDArrayGetStorageType", "out_storage_type");
    *out_storage_type =
        static_cast<int>(array_of(handle, "MXNDArrayGetStorageType").storage_type());
  });
}

int MXNDArrayGetContext(NDArrayHandle handle, int* out_dev_type, int* out_dev_id) {
  return guarded([&] {
    require(out_dev_type, "MXNDArrayGetContext", "out_dev_type");
    require(out_dev_id, "MXNDArrayGetContext", "out_dev_id");
    const NDArray& array = array_of(handle, "MXNDArrayGetContext");
    *out_dev_type = array.is_none() ? 0 : static_cast<int>(array.device().type);
    *out_dev_id = array.is_none() ? 0 : array.device().id;
  });
}

int MXNDArrayGetData(NDArrayHandle handle, void** out_pdata) {
  return guarded([&] {
    require(out_pdata, "MXNDArrayGetData", "out_pdata");
    const NDArray& array = array_of(handle, "MXNDArrayGetData");
    require_data(array, "MXNDArrayGetData");
    array.chunk()->hand_out();
    *out_pdata = array.is_sparse() ? array.sparse().values() : array.data();
  });
}

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle* out) {
  return guarded([&] {
    require(out, "MXNDArrayGetGrad", "out");
    const NDArray& array = array_of(handle, "MXNDArrayGetGrad");
    NDArray gradient = array.tape() ? array.tape()->gradient() : NDArray();
    *out = gradient.is_none() ? nullptr : new_handle(std::move(gradient));
  });
}

int MXNDArrayGetGradState(NDArrayHandle handle, int* out) {
  return guarded([&] {
    require(out, "MXNDArrayGetGradState", "out");
    const NDArray& array = array_of(handle, "MXNDArrayGetGradState");
    *out = array.tape() && array.tape()->fresh_gradient() ? 1 : 0;
  });
}

int MXNDArraySetGradState(NDArrayHandle handle, int state) {
  return guarded(
      [&] { tape_of(array_of(handle, "MXNDArraySetGradState")).set_fresh_gradient(state != 0); });
}

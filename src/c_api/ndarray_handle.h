// SPDX-License-Identifier: Apache-2.0
// NDArrayHandle and NDArray, one into the other, for all parts of the C ABI that take or give
// arrays.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/handle_pool.h"
#include "mxnet/c_api.h"
#include "ndarray/ndarray.h"

namespace mxnet::c_api {

inline HandlePool<NDArray>& ndarray_pool() {
  static constinit HandlePool<NDArray> pool("NDArray");
  return pool;
}

// The array behind a handle; the reference is good until the handle is freed. Throws Error(kValue)
// for null, freed handles, handles of another kind and other addresses; `function` complains.
inline NDArray& array_of(NDArrayHandle handle, const char* function = "NDArray") {
  return ndarray_pool().get(handle, function);
}
inline NDArrayHandle new_handle(NDArray array) { return ndarray_pool().create(std::move(array)); }

// What goes out through pointers and lives until the next call of the same kind on this thread.
struct NDArrayReturns {
  std::vector<uint32_t> shape32;
  std::vector<int> shape_int;
  std::vector<int64_t> shape64;
  std::string bytes;
  std::vector<NDArrayHandle> handles;
  std::vector<std::string> names;
  std::vector<const char*> name_pointers;
};
NDArrayReturns& ndarray_returns();

// Several arrays and names at once. Either all handles are made or none.
void return_arrays(std::vector<NDArray> arrays, std::vector<std::string> names, uint32_t* out_size,
                   NDArrayHandle** out_arrays, uint32_t* out_name_size, const char*** out_names);

// From the numbers of the ABI: dimensions of any integer type, and types. Throw Error(kValue).
template <class T>
Shape checked_shape(std::string_view function, const T* dims, int64_t ndim) {
  if (ndim < 0 || ndim > Shape::kMaxDims || (ndim > 0 && dims == nullptr)) {
    throw Error(ErrorCode::kValue, function,
                "given " + std::to_string(ndim) + " dimensions, expected 0 to " +
                    std::to_string(Shape::kMaxDims) + " and a pointer to them");
  }
  int64_t copied[Shape::kMaxDims];
  for (int64_t i = 0; i < ndim; ++i) {
    copied[i] = static_cast<int64_t>(dims[i]);
    if (copied[i] < 0)
      throw Error(ErrorCode::kValue, function,
                  "given dimension " + std::to_string(copied[i]) + ", expected 0 or more");
  }
  return Shape(std::span<const int64_t>(copied, static_cast<std::size_t>(ndim)));
}
DType checked_dtype(std::string_view function, int number);

}  // namespace mxnet::c_api

// SPDX-License-Identifier: Apache-2.0
// The pool of array handles and the per-thread store of what goes out.
#include "c_api/ndarray_handle.h"
#include "base/of_thread.h"

#include <memory>

#include <fmt/format.h>

#include <limits>

namespace mxnet::c_api {

NDArrayReturns& ndarray_returns() { return of_thread<NDArrayReturns>(); }

void return_arrays(std::vector<NDArray> arrays, std::vector<std::string> names, uint32_t* out_size,
                   NDArrayHandle** out_arrays, uint32_t* out_name_size, const char*** out_names) {
  if (arrays.size() > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorCode::kValue, "NDArray", fmt::format("given {} arrays", arrays.size()));
  NDArrayReturns& store = ndarray_returns();
  store.names = std::move(names);
  store.name_pointers.clear();
  for (const std::string& name : store.names) store.name_pointers.push_back(name.c_str());
  store.handles.clear();
  store.handles.reserve(arrays.size());
  try {
    for (NDArray& array : arrays) store.handles.push_back(new_handle(std::move(array)));
  } catch (...) {
    for (NDArrayHandle handle : store.handles) ndarray_pool().destroy(handle, "NDArray");
    store.handles.clear();
    throw;
  }
  *out_size = static_cast<uint32_t>(store.handles.size());
  *out_arrays = store.handles.data();
  *out_name_size = static_cast<uint32_t>(store.names.size());
  *out_names = store.name_pointers.data();
}

DType checked_dtype(std::string_view function, int number) {
  if (const std::optional<DType> dtype = dtype_from_number(number)) return *dtype;
  throw Error(ErrorCode::kValue, function,
              fmt::format("given dtype {}, expected 0 to 7 or 12", number));
}

}  // namespace mxnet::c_api

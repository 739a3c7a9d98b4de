// SPDX-License-Identifier: Apache-2.0
// Positions are waited for and looked at, so that what is out of range fails here and now; the
// operator take does the rest, as it would be called from Python.
#include "taken_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "array.h"
#include "check.h"
#include "operator.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

constexpr int kCpu = 1, kInt32 = 4, kInt64 = 6;  // as the C ABI numbers them

// What the ABI says of an array.
struct Facts {
  explicit Facts(NDArrayHandle array) {
    check(MXNDArrayGetStorageType(array, &storage_type));
    check(MXNDArrayGetContext(array, &device, &device_number));
    check(MXNDArrayGetShapeEx64(array, &ndim, &dims));
  }
  // Dense, on the CPU, with dimensions and elements.
  bool plain() const {
    return storage_type == 0 && device == kCpu && ndim > 0 &&
           std::all_of(dims, dims + ndim, [](int64_t dim) { return dim > 0; });
  }
  int64_t size() const {
    int64_t product = 1;
    for (int i = 0; i < ndim; ++i) product *= dims[i];
    return product;
  }
  int storage_type = 0, device = 0, device_number = 0, ndim = 0;
  const int64_t* dims = nullptr;
};

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

}  // namespace

py::object taken_rows(PyObject* self, PyObject* indices) {
  py::object not_for_us = py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const ArrayObject *array = as_array(self), *at = as_array(indices);
  int type = 0;
  check(MXNDArrayGetDType(at->handle, &type));
  if (type != kInt32 && type != kInt64) return not_for_us;
  const Facts positions(at->handle);
  if (!positions.plain()) return not_for_us;
  const int64_t count = positions.size();
  const Facts rows(array->handle);
  if (!rows.plain() || rows.device_number != positions.device_number) return not_for_us;
  const int64_t size = rows.dims[0];

  void* data = nullptr;
  bool within = false;
  check_blocking([&] {
    if (const int failed = MXNDArrayWaitToRead(at->handle)) return failed;
    if (const int failed = MXNDArrayGetData(at->handle, &data)) return failed;
    within = type == kInt32 ? all_within(static_cast<const int32_t*>(data), count, size)
                            : all_within(static_cast<const int64_t*>(data), count, size);
    return 0;
  });
  if (!within) return not_for_us;
  // Leaked, as operators that Python made are: they may be called until the interpreter is gone.
  static OperatorData& take = *new OperatorData("take", false);
  NDArrayHandle inputs[] = {array->handle, at->handle};
  PyObject* taken = invoke_operator(take, inputs, 2, {}, nullptr, array->numpy);
  if (taken == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(taken);
}

}  // namespace mxnet::python

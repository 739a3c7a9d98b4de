// SPDX-License-Identifier: Apache-2.0
// Arrays from values and values from arrays, for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ndarray/copy_into.h"
#include "ndarray/ndarray.h"

namespace mxnet::testing_arrays {

template <class T>
NDArray make(const Shape& shape, const std::vector<T>& values, Device device = Device::cpu()) {
  NDArray array(shape, dtype_of<T>, device);
  array.sync_copy_from(values.data(), static_cast<int64_t>(values.size()));
  return array;
}

// 0, 1, 2, ...
inline NDArray counting(const Shape& shape, Device device = Device::cpu()) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return make(shape, values, device);
}

template <class T>
std::vector<T> values(const NDArray& array) {
  EXPECT_EQ(array.dtype(), dtype_of<T>);
  std::vector<T> result(static_cast<std::size_t>(array.size()));
  array.sync_copy_to(result.data(), array.size());
  return result;
}

inline std::vector<float> floats(const NDArray& array) { return values<float>(array); }
inline std::vector<int64_t> aux(const NDArray& array, int i) {
  return values<int64_t>(copy_part(array, i));
}

inline NDArray make_csr(const Shape& shape, const std::vector<float>& data,
                        const std::vector<int64_t>& indptr, const std::vector<int64_t>& indices) {
  NDArray array(StorageType::kCSR, shape, DType::kFloat32, Device::cpu());
  sync_copy_into(array, make(Shape{static_cast<int64_t>(data.size())}, data), kValuesPart);
  sync_copy_into(array, make(Shape{static_cast<int64_t>(indptr.size())}, indptr), 0);
  sync_copy_into(array, make(Shape{static_cast<int64_t>(indices.size())}, indices), 1);
  return array;
}

inline NDArray make_row_sparse(const Shape& shape, const std::vector<float>& data,
                               const std::vector<int64_t>& rows) {
  NDArray array(StorageType::kRowSparse, shape, DType::kFloat32, Device::cpu());
  Shape stored = shape;
  stored[0] = static_cast<int64_t>(rows.size());
  sync_copy_into(array, make(stored, data), kValuesPart);
  sync_copy_into(array, make(Shape{stored[0]}, rows), 0);
  return array;
}

// The text of the Error that `body` throws; fails the test if it throws none.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return "";
}

}  // namespace mxnet::testing_arrays

// SPDX-License-Identifier: Apache-2.0
// Stores and arrays for the tests of this folder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "engine/engine.h"
#include "kvstore/local_store.h"
#include "ndarray/arrays.h"

namespace mxnet::testing_kvstore {

using testing_arrays::error_of;
using testing_arrays::floats;
using testing_arrays::make;
using testing_arrays::make_csr;
using testing_arrays::make_row_sparse;
using testing_arrays::values;

// `n` arrays of one key, as the calls take them.
inline std::vector<Key> same_key(const Key& key, std::size_t n) { return std::vector<Key>(n, key); }

inline void push(KVStore& store, const Key& key, const std::vector<NDArray>& values,
                 int priority = 0) {
  store.push(same_key(key, values.size()), values, priority);
}

inline std::vector<float> pulled(KVStore& store, const Key& key, const Shape& shape) {
  const std::vector<NDArray> out{NDArray(shape, DType::kFloat32, Device::cpu())};
  store.pull(same_key(key, 1), out, 0, true);
  return floats(out[0]);
}

inline NDArray filled(const Shape& shape, float value, Device device = Device::cpu()) {
  return make(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), value), device);
}

// One whose last writer has failed.
inline NDArray broken_array(const Shape& shape) {
  NDArray broken(shape, DType::kFloat32, Device::cpu());
  Var* const writes[] = {broken.var()};
  Engine::get().push([](const RunContext&) { throw Error(ErrorCode::kGeneric, "gone wrong"); },
                     {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "Fail"});
  return broken;
}

}  // namespace mxnet::testing_kvstore

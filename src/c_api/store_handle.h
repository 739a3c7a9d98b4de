// SPDX-License-Identifier: Apache-2.0
// Key-value stores behind handles.
#pragma once
#include <memory>

#include "c_api/handle_pool.h"
#include "kvstore/kvstore.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

using StorePool = HandlePool<std::unique_ptr<KVStore>, Handles::kInTurns>;

inline StorePool& store_pool() {
  static constinit StorePool pool("KVStore");
  return pool;
}

// The store, for this thread alone while the caller holds it: threads that use a store at once take
// turns. Throws Error(kValue) for what is no handle of a store; `function` was given it.
inline StorePool::Use use_store(KVStoreHandle handle, const char* function) {
  return store_pool().use(handle, function);
}
// Without a turn: for what never changes, and for a server, which is at it for as long as it lives.
inline KVStore& store_of(KVStoreHandle handle, const char* function) {
  return *store_pool().get(handle, function);
}

}  // namespace mxnet::c_api

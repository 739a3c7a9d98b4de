// SPDX-License-Identifier: Apache-2.0
// Key-value stores behind handles.
#pragma once
#include <memory>

#include "c_api/handle_pool.h"
#include "kvstore/kvstore.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

using StorePool = HandlePool<std::shared_ptr<KVStore>, Handles::kInTurns>;

inline StorePool& store_pool() {
  static constinit StorePool pool("KVStore");
  return pool;
}

// The store, for this thread alone while the caller holds it: threads that use a store at once take
// turns. Throws Error(kValue) for what is no handle of a store; `function` was given it.
inline StorePool::Use use_store(KVStoreHandle handle, const char* function) {
  return store_pool().use(handle, function);
}
// The store behind a handle that may be freed meanwhile, after a turn to get hold of it: for calls
// that wait for other processes, which may wait for what another thread of this one has yet to
// push.
inline std::shared_ptr<KVStore> hold_store(KVStoreHandle handle, const char* function) {
  return *use_store(handle, function);
}
// Without a turn: for what never changes.
inline KVStore& store_of(KVStoreHandle handle, const char* function) {
  return *store_pool().get(handle, function);
}

}  // namespace mxnet::c_api

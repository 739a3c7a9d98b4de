// SPDX-License-Identifier: Apache-2.0
// Key-value stores by handle. Functions with integer keys and with texts have one body.
#include "kvstore/kvstore.h"

#include <fmt/format.h>

#include <memory>

#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "c_api/store_handle.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

template <class K>
std::vector<Key> keys_of(const char* function, uint32_t count, K keys) {
  if (count > 0) require(keys, function, "keys");
  std::vector<Key> result;
  result.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<K, const char**>) require(keys[i], function, "a key");
    result.emplace_back(keys[i]);
  }
  return result;
}

std::vector<const NDArray*> arrays_of(const char* function, uint32_t count,
                                      const NDArrayHandle* handles, const char* parameter) {
  if (count > 0) require(handles, function, parameter);
  std::vector<const NDArray*> result;
  result.reserve(count);
  for (uint32_t i = 0; i < count; ++i) result.push_back(&array_of(handles[i], function));
  return result;
}

template <class K>
int init(KVStoreHandle handle, uint32_t num, K keys, NDArrayHandle* vals, const char* function) {
  return guarded(function, [&] {
    (*use_store(handle, function))
        ->init(keys_of(function, num, keys), arrays_of(function, num, vals, "vals"));
  });
}

template <class K>
int push(KVStoreHandle handle, uint32_t num, K keys, NDArrayHandle* vals, int priority,
         const char* function) {
  return guarded(function, [&] {
    (*use_store(handle, function))
        ->push(keys_of(function, num, keys), arrays_of(function, num, vals, "vals"), priority);
  });
}

template <class K>
int pull(KVStoreHandle handle, uint32_t num, K keys, NDArrayHandle* vals, int priority,
         bool ignore_sparse, const char* function) {
  return guarded(function, [&] {
    (*use_store(handle, function))
        ->pull(keys_of(function, num, keys), arrays_of(function, num, vals, "vals"), priority,
               ignore_sparse);
  });
}

template <class K>
int pull_rows(KVStoreHandle handle, uint32_t num, K keys, NDArrayHandle* vals,
              const NDArrayHandle* row_ids, int priority, const char* function) {
  return guarded(function, [&] {
    (*use_store(handle, function))
        ->pull_rows(keys_of(function, num, keys), arrays_of(function, num, vals, "vals"),
                    arrays_of(function, num, row_ids, "row_ids"), priority);
  });
}

template <class K>
int exchange(KVStoreHandle handle, mx_uint vnum, K vkeys, mx_uint onum, K okeys,
             NDArrayHandle* vals, NDArrayHandle* outs, int priority, const char* function,
             void (KVStore::*call)(Keys, KeyedArrays, Keys, KeyedArrays, int)) {
  return guarded(function, [&] {
    const std::vector<Key> keys = keys_of(function, vnum, vkeys);
    const std::vector<const NDArray*> values = arrays_of(function, vnum, vals, "vals");
    const StorePool::Use use = use_store(handle, function);
    KVStore& store = **use;
    if (vnum == onum && vkeys == okeys && vals == outs)  // in place
      return (store.*call)(keys, values, keys, values, priority);
    (store.*call)(keys, values, keys_of(function, onum, okeys),
                  arrays_of(function, onum, outs, "outs"), priority);
  });
}

// What an updater has said that is wrong.
thread_local const char* t_update_failure = nullptr;

void set_updater(KVStore& store, MXKVStoreUpdater* updater, MXKVStoreStrUpdater* str_updater,
                 void* context) {
  store.set_updater([=, of = &store](const Key& key, const NDArray& pushed, const NDArray& stored) {
    const auto missing = [&](const char* kind) {
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("key {} was pushed, but no updater for {} keys was given",
                              kvstore::to_string(key), kind));
    };
    t_update_failure = nullptr;
    const std::string* text = std::get_if<std::string>(&key);
    if (text != nullptr && str_updater != nullptr) {
      str_updater(text->c_str(), new_handle(pushed), new_handle(stored), context);
    } else {
      const std::optional<int> number = text != nullptr ? of->number(key) : std::get<int>(key);
      if (updater == nullptr || !number) missing(text != nullptr ? "string" : "integer");
      updater(*number, new_handle(pushed), new_handle(stored), context);
    }
    if (const char* failure = std::exchange(t_update_failure, nullptr)) {
      throw Error(ErrorCode::kGeneric, "kvstore",
                  fmt::format("update of key {}: {}", kvstore::to_string(key), failure));
    }
  });
}

}  // namespace

int MXKVStoreCreate(const char* type, KVStoreHandle* out) {
  return guarded([&] {
    require(type, "MXKVStoreCreate", "type");
    require(out, "MXKVStoreCreate", "out");
    *out = store_pool().create(KVStore::create(type));
  });
}

int MXKVStoreFree(KVStoreHandle handle) {
  return guarded([&] { store_pool().destroy(handle, "MXKVStoreFree"); });
}

int MXKVStoreGetType(KVStoreHandle handle, const char** type) {
  return guarded([&] {
    require(type, "MXKVStoreGetType", "type");
    *type = store_of(handle, "MXKVStoreGetType").type().c_str();
  });
}

int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals) {
  return init(handle, num, keys, vals, "MXKVStoreInit");
}

int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals) {
  return init(handle, num, keys, vals, "MXKVStoreInitEx");
}

int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals,
                  int priority) {
  return push(handle, num, keys, vals, priority, "MXKVStorePush");
}

int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals,
                    int priority) {
  return push(handle, num, keys, vals, priority, "MXKVStorePushEx");
}

int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals,
                  int priority) {
  return pull(handle, num, keys, vals, priority, true, "MXKVStorePull");
}

int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char** keys, NDArrayHandle* vals,
                    int priority) {
  return pull(handle, num, keys, vals, priority, true, "MXKVStorePullEx");
}

int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int* keys,
                            NDArrayHandle* vals, int priority, bool ignore_sparse) {
  return pull(handle, num, keys, vals, priority, ignore_sparse, "MXKVStorePullWithSparse");
}

int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char** keys,
                              NDArrayHandle* vals, int priority, bool ignore_sparse) {
  return pull(handle, num, keys, vals, priority, ignore_sparse, "MXKVStorePullWithSparseEx");
}

int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int* keys, NDArrayHandle* vals,
                           const NDArrayHandle* row_ids, int priority) {
  return pull_rows(handle, num, keys, vals, row_ids, priority, "MXKVStorePullRowSparse");
}

int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char** keys,
                             NDArrayHandle* vals, const NDArrayHandle* row_ids, int priority) {
  return pull_rows(handle, num, keys, vals, row_ids, priority, "MXKVStorePullRowSparseEx");
}

int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum,
                       const int* okeys, NDArrayHandle* vals, NDArrayHandle* outs, int priority) {
  return exchange(handle, vnum, vkeys, onum, okeys, vals, outs, priority, "MXKVStoreBroadcast",
                  &KVStore::broadcast);
}

int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum,
                         const char** okeys, NDArrayHandle* vals, NDArrayHandle* outs,
                         int priority) {
  return exchange(handle, vnum, vkeys, onum, okeys, vals, outs, priority, "MXKVStoreBroadcastEx",
                  &KVStore::broadcast);
}

int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum,
                      const int* okeys, NDArrayHandle* vals, NDArrayHandle* outs, int priority) {
  return exchange(handle, vnum, vkeys, onum, okeys, vals, outs, priority, "MXKVStorePushPull",
                  &KVStore::push_pull);
}

int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys, mx_uint onum,
                        const char** okeys, NDArrayHandle* vals, NDArrayHandle* outs,
                        int priority) {
  return exchange(handle, vnum, vkeys, onum, okeys, vals, outs, priority, "MXKVStorePushPullEx",
                  &KVStore::push_pull);
}

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater* updater, void* updater_handle) {
  return guarded([&] {
    const StorePool::Use store = use_store(handle, "MXKVStoreSetUpdater");
    require(reinterpret_cast<const void*>(updater), "MXKVStoreSetUpdater", "updater");
    set_updater(**store, updater, nullptr, updater_handle);
  });
}

int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater* updater,
                          MXKVStoreStrUpdater* str_updater, void* updater_handle) {
  return guarded([&] {
    const StorePool::Use store = use_store(handle, "MXKVStoreSetUpdaterEx");
    if (updater == nullptr)
      require(reinterpret_cast<const void*>(str_updater), "MXKVStoreSetUpdaterEx",
              "updater and str_updater");
    set_updater(**store, updater, str_updater, updater_handle);
  });
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char** keys,
                                    const char** vals) {
  return guarded([&] {
    constexpr const char* kFunction = "MXKVStoreSetGradientCompression";
    const StorePool::Use store = use_store(handle, kFunction);
    std::vector<std::pair<std::string_view, std::string_view>> params;
    for_each_text(kFunction, num_params, keys, vals,
                  [&](const char* key, const char* value) { params.emplace_back(key, value); });
    (*store)->set_compression(params);
  });
}

int MXKVStoreGetRank(KVStoreHandle handle, int* ret) {
  return guarded([&] {
    require(ret, "MXKVStoreGetRank", "ret");
    *ret = store_of(handle, "MXKVStoreGetRank").rank();
  });
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int* ret) {
  return guarded([&] {
    require(ret, "MXKVStoreGetGroupSize", "ret");
    *ret = store_of(handle, "MXKVStoreGetGroupSize").group_size();
  });
}

int MXKVStoreBarrier(KVStoreHandle handle) {
  return guarded([&] { hold_store(handle, "MXKVStoreBarrier")->barrier(); });
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit) {
  return guarded([&] {
    (*use_store(handle, "MXKVStoreSetBarrierBeforeExit"))
        ->set_barrier_before_exit(barrier_before_exit != 0);
  });
}

int MXKVStoreFailUpdate(const char* text) {
  return guarded([&] {
    require(text, "MXKVStoreFailUpdate", "text");
    t_update_failure = keep_for_caller(text);
  });
}

// SPDX-License-Identifier: Apache-2.0
// The functions of key-value stores with every pointer and handle null.
#include "mxnet/c_api.h"
#include "null_calls.h"

std::multimap<std::string, NullCall> kvstore_null_calls() {
  return {
      // clang-format off
      {"MXInitPSEnv", [] { return MXInitPSEnv(1, nullptr, nullptr); }},
      {"MXKVStoreBarrier", [] { return MXKVStoreBarrier(nullptr); }},
      {"MXKVStoreBroadcast", [] { return MXKVStoreBroadcast(nullptr, 1, nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStoreBroadcastEx", [] { return MXKVStoreBroadcastEx(nullptr, 1, nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStoreCreate", [] { return MXKVStoreCreate(nullptr, nullptr); }},
      {"MXKVStoreFree", [] { return MXKVStoreFree(nullptr); }},
      {"MXKVStoreGetGroupSize", [] { return MXKVStoreGetGroupSize(nullptr, nullptr); }},
      {"MXKVStoreGetNumDeadNode", [] { return MXKVStoreGetNumDeadNode(nullptr, 1, nullptr, 1); }},
      {"MXKVStoreGetRank", [] { return MXKVStoreGetRank(nullptr, nullptr); }},
      {"MXKVStoreGetType", [] { return MXKVStoreGetType(nullptr, nullptr); }},
      {"MXKVStoreInit", [] { return MXKVStoreInit(nullptr, 1, nullptr, nullptr); }},
      {"MXKVStoreInitEx", [] { return MXKVStoreInitEx(nullptr, 1, nullptr, nullptr); }},
      {"MXKVStoreIsSchedulerNode", [] { return MXKVStoreIsSchedulerNode(nullptr); }},
      {"MXKVStoreIsServerNode", [] { return MXKVStoreIsServerNode(nullptr); }},
      {"MXKVStoreIsWorkerNode", [] { return MXKVStoreIsWorkerNode(nullptr); }},
      {"MXKVStorePull", [] { return MXKVStorePull(nullptr, 1, nullptr, nullptr, 1); }},
      {"MXKVStorePullEx", [] { return MXKVStorePullEx(nullptr, 1, nullptr, nullptr, 1); }},
      {"MXKVStorePullRowSparse", [] { return MXKVStorePullRowSparse(nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStorePullRowSparseEx", [] { return MXKVStorePullRowSparseEx(nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStorePullWithSparse", [] { return MXKVStorePullWithSparse(nullptr, 1, nullptr, nullptr, 1, true); }},
      {"MXKVStorePullWithSparseEx", [] { return MXKVStorePullWithSparseEx(nullptr, 1, nullptr, nullptr, 1, true); }},
      {"MXKVStorePush", [] { return MXKVStorePush(nullptr, 1, nullptr, nullptr, 1); }},
      {"MXKVStorePushEx", [] { return MXKVStorePushEx(nullptr, 1, nullptr, nullptr, 1); }},
      {"MXKVStorePushPull", [] { return MXKVStorePushPull(nullptr, 1, nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStorePushPullEx", [] { return MXKVStorePushPullEx(nullptr, 1, nullptr, 1, nullptr, nullptr, nullptr, 1); }},
      {"MXKVStoreRunServer", [] { return MXKVStoreRunServer(nullptr, nullptr, nullptr); }},
      {"MXKVStoreSendCommmandToServers", [] { return MXKVStoreSendCommmandToServers(nullptr, 1, nullptr); }},
      {"MXKVStoreSetBarrierBeforeExit", [] { return MXKVStoreSetBarrierBeforeExit(nullptr, 1); }},
      {"MXKVStoreSetGradientCompression", [] { return MXKVStoreSetGradientCompression(nullptr, 1, nullptr, nullptr); }},
      {"MXKVStoreSetUpdater", [] { return MXKVStoreSetUpdater(nullptr, nullptr, nullptr); }},
      {"MXKVStoreSetUpdaterEx", [] { return MXKVStoreSetUpdaterEx(nullptr, nullptr, nullptr, nullptr); }},
      // clang-format on
  };
}

/* SPDX-License-Identifier: Apache-2.0
 * The part of the C ABI that sums arrays over devices and processes: key-value stores. It belongs
 * to mxnet/c_api.h, which states the conventions and includes it. */
#ifndef MXNET_C_API_KVSTORE_H_
#define MXNET_C_API_KVSTORE_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Key-value stores ------------------------------------------------------------------------- */

/* Changes `local`, what is stored, given `recv`, the sum of what was pushed. Called by the push, on
 * its thread. Both handles are the callee's to free. */
typedef void(MXKVStoreUpdater)(int key, NDArrayHandle recv, NDArrayHandle local, void* handle);
typedef void(MXKVStoreStrUpdater)(const char* key, NDArrayHandle recv, NDArrayHandle local,
                                  void* handle);
/* Called on a server for each command of a worker. */
typedef void(MXKVStoreServerController)(int head, const char* body, void* controller_handle);

/* Settings of distributed stores (DMLC_ROLE, DMLC_NUM_WORKER, ...) that go before those of the
 * environment; before the first store is made. */
MXNET_DLL int MXInitPSEnv(uint32_t num_vars, const char** keys, const char** vals);

/* Types: docs/kvstore.md. Threads use a store in turns; while one waits at the barrier or for what
 * servers answer, or serves, others may call. Functions without Ex take integer keys, those with Ex
 * texts; a store keeps to one kind. A key that is given several times stands for one array a
 * device. */
MXNET_DLL int MXKVStoreCreate(const char* type, KVStoreHandle* out);
MXNET_DLL int MXKVStoreFree(KVStoreHandle handle);
MXNET_DLL int MXKVStoreGetType(KVStoreHandle handle, const char** type);

MXNET_DLL int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int* keys,
                            NDArrayHandle* vals);
MXNET_DLL int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char** keys,
                              NDArrayHandle* vals);
MXNET_DLL int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int* keys,
                            NDArrayHandle* vals, int priority);
MXNET_DLL int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char** keys,
                              NDArrayHandle* vals, int priority);
/* Leaves sparse arrays alone. */
MXNET_DLL int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int* keys,
                            NDArrayHandle* vals, int priority);
MXNET_DLL int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char** keys,
                              NDArrayHandle* vals, int priority);
MXNET_DLL int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int* keys,
                                      NDArrayHandle* vals, int priority, bool ignore_sparse);
MXNET_DLL int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char** keys,
                                        NDArrayHandle* vals, int priority, bool ignore_sparse);
/* The rows that row_ids names, into row_sparse arrays. */
MXNET_DLL int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int* keys,
                                     NDArrayHandle* vals, const NDArrayHandle* row_ids,
                                     int priority);
MXNET_DLL int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char** keys,
                                       NDArrayHandle* vals, const NDArrayHandle* row_ids,
                                       int priority);
/* An init and a pull. */
MXNET_DLL int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum,
                                 const int* okeys, NDArrayHandle* vals, NDArrayHandle* outs,
                                 int priority);
MXNET_DLL int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys,
                                   mx_uint onum, const char** okeys, NDArrayHandle* vals,
                                   NDArrayHandle* outs, int priority);
/* A push and a pull, in one pass over memory where that is possible. The keys need not be the same.
 */
MXNET_DLL int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int* vkeys, mx_uint onum,
                                const int* okeys, NDArrayHandle* vals, NDArrayHandle* outs,
                                int priority);
MXNET_DLL int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char** vkeys,
                                  mx_uint onum, const char** okeys, NDArrayHandle* vals,
                                  NDArrayHandle* outs, int priority);

MXNET_DLL int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater* updater,
                                  void* updater_handle);
/* The first is called for integer keys, the second for texts; either may be null. Without the
 * second the first is called for texts too, with their numbers 0, 1, ... in the order of their
 * init. */
MXNET_DLL int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater* updater,
                                    MXKVStoreStrUpdater* str_updater, void* updater_handle);
/* Parameters: type (none, 1bit, 2bit), threshold. */
MXNET_DLL int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params,
                                              const char** keys, const char** vals);

/* What this process is among those of a distributed job; a process on its own is a worker. */
MXNET_DLL int MXKVStoreIsWorkerNode(int* ret);
MXNET_DLL int MXKVStoreIsServerNode(int* ret);
MXNET_DLL int MXKVStoreIsSchedulerNode(int* ret);
MXNET_DLL int MXKVStoreGetRank(KVStoreHandle handle, int* ret);
MXNET_DLL int MXKVStoreGetGroupSize(KVStoreHandle handle, int* ret);
MXNET_DLL int MXKVStoreBarrier(KVStoreHandle handle);
MXNET_DLL int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit);
/* Runs until the workers have finished. */
MXNET_DLL int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController* controller,
                                 void* controller_handle);
MXNET_DLL int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id,
                                             const char* cmd_body);
/* Processes of the group that `node_id` names (1 scheduler, 2 servers, 4 workers, or a sum) that
 * are known to be lost. */
MXNET_DLL int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int* number,
                                      const int timeout_sec MXNET_DEFAULT(60));

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_KVSTORE_H_ */

/* SPDX-License-Identifier: Apache-2.0
 * What this library offers beyond the ABI of MXNet 1.9.1, in the same conventions (see c_api.h):
 * typed errors, the configuration table, variables of the engine for C programs, calls that move no
 * texts, statistics of the memory pools, data, and key-value stores with servers.
 */
#ifndef MXNET_C_API_EXT_H_
#define MXNET_C_API_EXT_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a ContextHandle points to. */
typedef struct MXContext {
  int dev_type;
  int dev_id;
} MXContext;

/* --- Errors ----------------------------------------------------------------------------------- */

/* As MXGetLastError, which calls nearly every failure an MXNetError, as programs of 1.x expect:
 * here the text begins with ValueError, TypeError, IndexError or AttributeError where it is one. */
MXNET_DLL const char* MXGetLastTypedError(void);

/* --- Configuration ---------------------------------------------------------------------------- */

/* All rows as a JSON array of objects: name, section, field, type, default, allowed, when (startup,
 * live), value, source (default, environment, set), spelling, effect (active, pending, inert),
 * note, doc, aliases. */
MXNET_DLL int MXConfigToJSON(const char** out);
/* The value of the row that is called or spelled `name`, as text. */
MXNET_DLL int MXConfigGet(const char* name, const char** out);
/* Null or "" goes back to the default. As MXSetEnv, but a name that is no row is an error. */
MXNET_DLL int MXConfigSet(const char* name, const char* value);

/* --- Engine ----------------------------------------------------------------------------------- */

/* A variable orders operations by what they read and write. The caller deletes it. */
MXNET_DLL int MXEngineNewVariable(EngineVarHandle* out);
/* Takes effect after all operations pushed before on it; the handle is invalid at once. */
MXNET_DLL int MXEngineDeleteVariable(EngineVarHandle var);
/* Waits for all operations pushed before on it; fails with the failure of the last of them, once.
 */
MXNET_DLL int MXEngineWaitForVariable(EngineVarHandle var);
/* The number of writes to the variable that have been done. */
MXNET_DLL int MXEngineGetVariableVersion(EngineVarHandle var, uint64_t* out);

/* What the on_complete of an EngineAsyncFunc points to. Copy it if the function returns before its
 * work is done; then end the operation with exactly one call of MXEngineComplete, from any thread.
 * The layout is that of MXNet's CallbackOnComplete, whose call operator does the same; `error`
 * there is null or a C++ std::exception. */
typedef struct MXEngineOnComplete {
  void (*callback)(void* engine, void* param, const void* error);
  void* engine;
  void* param;
} MXEngineOnComplete;
/* `error` is null, or the text with which the operation and all that depends on it fails. */
MXNET_DLL int MXEngineComplete(const MXEngineOnComplete* on_complete, const char* error);

/* --- Arrays ----------------------------------------------------------------------------------- */

/* The address of the values of a dense array in host memory for who only reads, after a wait for
 * all that was pushed on it; unlike after MXNDArrayGetData, what the library keeps of the values
 * stays. The same version from a later call says that nobody has written in between. */
MXNET_DLL int MXNDArrayGetDataToRead(NDArrayHandle handle, const void** out_pdata,
                                     uint64_t* out_version);

/* As MXNDArraySyncCopyFromCPU, of elements in any order and of any type (as MXNDArrayCreateEx
 * numbers them), which are converted as the operator Cast does: `data` is where the first one lies,
 * and neighbours of dimension i of the array, which has `ndim` of them, are strides[i] bytes apart,
 * a multiple, perhaps 0 or negative, of an element's. `overflows`, if it is not null, becomes 1
 * where a finite float64 has become an infinite float32, else 0. */
MXNET_DLL int MXNDArraySyncCopyFromStrided(NDArrayHandle handle, const void* data, int dtype,
                                           int ndim, const int64_t* strides, int* overflows);
/* The same without waiting, where nothing is to be waited for: `done` becomes 1. It becomes 0, and
 * nothing is written, where operations that use the array have not ended, where it is not in host
 * memory, has no elements, or has the elements themselves in its memory. */
MXNET_DLL int MXNDArrayCopyFromStridedIfFree(NDArrayHandle handle, const void* data, int dtype,
                                             int ndim, const int64_t* strides, int* done);

/* --- Typed fast path -------------------------------------------------------------------------- */

/* An operator with its parameters, read once: calling it moves no texts. Immutable; any number of
 * threads may call one. */
typedef void* OpCallHandle;
/* num_inputs: for operators that take any number. Errors in the parameters come out here. */
MXNET_DLL int MXOpCallCreate(OpHandle op, int num_inputs, int num_params, const char** param_keys,
                             const char** param_vals, OpCallHandle* out);
/* Null is allowed and does nothing. */
MXNET_DLL int MXOpCallFree(OpCallHandle call);
/* As MXImperativeInvokeEx. */
MXNET_DLL int MXOpCallInvoke(OpCallHandle call, int num_inputs, NDArrayHandle* inputs,
                             int* num_outputs, NDArrayHandle** outputs, const int** out_stypes);

/* As MXInvokeCachedOpEx, with the device of a graph that has no inputs. */
MXNET_DLL int MXCachedOpCall(CachedOpHandle handle, int dev_type, int dev_id, int num_inputs,
                             NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                             const int** out_stypes);
/* Name of a value, its operator, the value, whose handle the callee owns, and the state. */
typedef void (*CachedOpHook)(const char*, const char*, NDArrayHandle, void*);
/* As MXCachedOpRegisterOpHook, with a state that the library owns from here on, even when the call
 * fails: `drop`, if not null, is called with it when the hook is gone. A null hook ends it. */
MXNET_DLL int MXCachedOpSetHook(CachedOpHandle handle, CachedOpHook hook, void* state,
                                int (*drop)(void*), int monitor_all);

/* While a thread waits (MXNDArrayWaitToRead and all that waits like it), `check` is called about
 * ten times a second on that thread, without locks. When it returns not 0 the waiting call fails;
 * the work goes on. Null takes it away. For interpreters that must look at signals. */
MXNET_DLL int MXSetInterruptCheck(int (*check)(void));

/* --- Memory ----------------------------------------------------------------------------------- */

/* Bytes, and counts of events since the start. Fields are only ever added at the end. */
typedef struct MXStorageStatistics {
  uint64_t in_use;         /* handed out, as rounded by the pool */
  uint64_t requested;      /* handed out, as asked for */
  uint64_t cached;         /* kept for reuse */
  uint64_t peak_in_use;    /* since the start or the last reset */
  uint64_t peak_footprint; /* of in_use + cached */
  uint64_t hits;           /* requests served from the cache */
  uint64_t misses;
  uint64_t flushes; /* times that the cache was given back because memory ran out */
  uint64_t system_allocations;
} MXStorageStatistics;
/* Writes the first out_bytes of the statistics; give sizeof(MXStorageStatistics). */
MXNET_DLL int MXStorageGetStatistics(int dev_type, int dev_id, MXStorageStatistics* out,
                                     size_t out_bytes);
/* The table of a pool that an out-of-memory error shows. */
MXNET_DLL int MXStorageGetTable(int dev_type, int dev_id, const char** out);
MXNET_DLL int MXStorageResetPeak(int dev_type, int dev_id);
/* Bytes of host memory that this process could still use, and may use in all: the machine's or its
 * cgroup's. */
MXNET_DLL int MXGetCPUMemoryInformation(uint64_t* free_mem, uint64_t* total_mem);

/* --- Data ------------------------------------------------------------------------------------- */

/* Whether a RecordIO reader goes on at the next record where the file is damaged (0, the default:
 * reading is an error there), and what it has passed over. */
MXNET_DLL int MXRecordIOReaderSetSkipping(RecordIOHandle handle, int skip);
MXNET_DLL int MXRecordIOReaderGetSkipped(RecordIOHandle handle, uint64_t* places, uint64_t* bytes);
/* A uint8 image, (height, width, 3) red, green, blue or (height, width, 1), in a file format:
 * ".jpg" (quality 1 to 100) or ".png" (quality 0 to 9: effort). The bytes are good until the next
 * call on this thread. */
MXNET_DLL int MXImageEncode(NDArrayHandle image, const char* format, int quality,
                            const char** out_bytes, size_t* out_size);

/* --- Key-value stores with servers ------------------------------------------------------------ */

MXNET_DLL int MXKVStoreGetNumServers(KVStoreHandle handle, int* out);
/* In how many parts the key of that text, or without one of that number, lies on servers, and the
 * shape that these have together, good until the next call on this thread; 0 where they hold no
 * such key. */
MXNET_DLL int MXKVStoreGetPlacement(KVStoreHandle handle, const char* text, int number,
                                    int* out_parts, int* out_dim, const int64_t** out_shape);
/* As MXKVStoreSendCommmandToServers, with a body of any bytes; what each server answered. The
 * replies are good until the next call on this thread. Fails with what a server's controller said.
 * Other commands make servers hold the keys, and are given by all workers; those below 0 do not.
 * They come after what the worker has pushed and pulled before.
 */
MXNET_DLL int MXKVStoreAskServers(KVStoreHandle handle, int cmd_id, const char* body, size_t size,
                                  uint32_t* out_num, const char*** out_replies,
                                  const size_t** out_sizes);
/* A server's answer to a command, which must stay until the next one; not 0: an error of that text.
 */
typedef int (*MXKVStoreResponder)(int head, const char* body, size_t size, const char** reply,
                                  size_t* reply_size, void* state);
/* For updaters, which return nothing: the call that is under way on this thread fails with the text
 * once the updater returns; on a server, the push of the worker does. */
MXNET_DLL int MXKVStoreFailUpdate(const char* text);
/* As MXKVStoreRunServer, with a controller that answers. */
MXNET_DLL int MXKVStoreServe(KVStoreHandle handle, MXKVStoreResponder responder, void* state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_EXT_H_ */

/* SPDX-License-Identifier: Apache-2.0
 * The C ABI of MXNet 1.9.1, for C99 and C++: what language bindings and programs link to. It never
 * loses a function and never changes one; what is ours beyond it stands in c_api_ext.h.
 *
 * Conventions, for every function unless it says otherwise:
 *
 *   Errors     The result is 0, or -1 on failure. Then MXGetLastError() gives the text "TypeName:
 * message", where TypeName is MXNetError, ValueError, TypeError, IndexError, AttributeError or
 * NotImplementedError. With DMLC_LOG_STACK_TRACE_DEPTH > 0 the lines "Stack trace:" and frames
 * follow. Nothing throws through this ABI and nothing ends the process. On failure the
 * out-parameters are left as they were. First use  The first call reads the environment. A bad
 * value in a variable makes that call and all later ones fail with a message that names the
 * variable, its value and what is allowed. Nulls      A null pointer is an error, never a crash,
 * except where null has a meaning of its own. Handles are not checked beyond that: one that is
 * freed or of another kind is undefined behaviour. Lifetime   Strings and arrays that come out
 * through pointers belong to the library: they live until the next call on the same thread, those
 * of MXLibInfoFeatures until the process ends. What the caller hands in is copied before the call
 * returns. Threads    All functions may be called from any thread at the same time. The error text,
 * and the settings said to be of the thread, are each thread's own. Order      Work on arrays and
 * variables runs asynchronously, in an order that respects what it reads and writes; a failure in
 * it comes out of a later wait.
 */
#ifndef MXNET_C_API_H_
#define MXNET_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MXNET_DLL __attribute__((visibility("default")))
#else
#define MXNET_DLL
#endif

#ifdef __cplusplus
#define MXNET_DEFAULT(value) = value
extern "C" {
#else
#define MXNET_DEFAULT(value)
#endif

/* Devices: dev_type is 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared. Any dev_id is accepted for the CPU
 * kinds, all of them are the one CPU. */

/* Points to struct {int dev_type; int dev_id;}, see MXContext in c_api_ext.h. Read during the call
 * only. */
typedef const void* ContextHandle;
/* A variable of the engine. Where a function takes several, it is a pointer to an array of such
 * handles. */
typedef void* EngineVarHandle;
/* Points to an int32_t: 0 normal, 1 copy from GPU, 2 copy to GPU, 3 prioritized on the CPU, 4
 * asynchronous, 5 deletes a variable, 6 prioritized on the GPU, 7 runs even if an input failed.
 * Null = normal. Read during the call only. */
typedef const void* EngineFnPropertyHandle;

/* A function that the engine runs. `run_context` points to a context (see ContextHandle) and lives
 * during the call. An asynchronous function has ended when somebody calls what `on_complete` points
 * to: MXEngineOnComplete in c_api_ext.h. */
typedef void (*EngineSyncFunc)(void* run_context, void* param);
typedef void (*EngineAsyncFunc)(void* run_context, void* on_complete, void* param);
typedef void (*EngineFuncParamDeleter)(void* param);

/* A property of this build or machine. */
struct LibFeature {
  const char* name;
  bool enabled;
};

/* --- Errors
 * --------------------------------------------------------------------------------------------------------
 */

/* The text of the last failure on this thread, "" if there was none. Valid until the next failure
 * on this thread. Never fails. Functions that start with MX and NN share one text. */
MXNET_DLL const char* MXGetLastError(void);
MXNET_DLL const char* NNGetLastError(void);
/* Sets that text, for callbacks that fail. Null counts as "". */
MXNET_DLL void NNAPISetLastError(const char* msg);

/* --- The library
 * ----------------------------------------------------------------------------------------------------
 */

/* The level of this ABI: major * 10000 + minor * 100 + patch. */
MXNET_DLL int MXGetVersion(int* out);
/* The features, always the same ones in the same order. */
MXNET_DLL int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size);
/* Sets a variable for the library; null or "" takes it back. The process's environment is not
 * touched. A variable that is read once, at the first use, is an error. */
MXNET_DLL int MXSetEnv(const char* name, const char* value);
/* The text of a variable as the library sees it, null when it is not set. */
MXNET_DLL int MXGetEnv(const char* name, const char** value);
/* Threads inside one CPU operator, for the whole process. */
MXNET_DLL int MXSetNumOMPThreads(int thread_num);
/* Waits for all work and ends the library's threads. Later work runs on the thread that asks for
 * it. May be repeated. */
MXNET_DLL int MXNotifyShutdown(void);

/* --- Devices and memory
 * ---------------------------------------------------------------------------------------------- */

/* The number of usable GPUs; 0, not an error, where there is no driver. */
MXNET_DLL int MXGetGPUCount(int* out);
/* Bytes; numbers that do not fit are given as INT_MAX. Use MXGetGPUMemoryInformation64. */
MXNET_DLL int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem);
MXNET_DLL int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem);
/* Gives the memory that the device's pool keeps for reuse back to the system. */
MXNET_DLL int MXStorageEmptyCache(int dev_type, int dev_id);

/* --- Engine
 * ---------------------------------------------------------------------------------------------------------
 */

/* Waits for all work pushed so far. Fails with the first failure in it that no wait has shown yet.
 */
MXNET_DLL int MXNDArrayWaitAll(void);
/* Operations that this thread pushes from now on are merged, up to bulk_size into one; 0 = off, as
 * at the start. */
MXNET_DLL int MXEngineSetBulkSize(int bulk_size, int* prev_bulk_size);
/* Runs a function when the variables it reads (const) and writes (mutable) are free. `deleter` (may
 * be null) is called with func_param exactly once: when the function is done or skipped, or when
 * this call fails. num_* is the length of the array that *_vars_handle points to, 0 with null; no
 * variable may occur twice. Larger priorities run earlier. `wait` says that the caller will wait
 * for it at once, hence that it must not stay in a bulk. */
MXNET_DLL int MXEnginePushAsync(EngineAsyncFunc async_func, void* func_param,
                                EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                EngineVarHandle const_vars_handle, int num_const_vars,
                                EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                                EngineFnPropertyHandle prop_handle MXNET_DEFAULT(NULL),
                                int priority MXNET_DEFAULT(0),
                                const char* opr_name MXNET_DEFAULT(NULL),
                                bool wait MXNET_DEFAULT(false));
MXNET_DLL int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param,
                               EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                               EngineVarHandle const_vars_handle, int num_const_vars,
                               EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                               EngineFnPropertyHandle prop_handle MXNET_DEFAULT(NULL),
                               int priority MXNET_DEFAULT(0),
                               const char* opr_name MXNET_DEFAULT(NULL));

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_H_ */

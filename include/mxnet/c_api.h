/* SPDX-License-Identifier: Apache-2.0
 * The C ABI of MXNet 1.9.1, for C99 and C++: what language bindings and programs link to. It never
 * loses a function and never changes one; what is ours beyond it stands in c_api_ext.h.
 *
 * Conventions, for every function unless it says otherwise:
 *
 * - Errors: the result is 0, or -1 on failure. Then MXGetLastError() gives the text "TypeName:
 *   message", where TypeName is MXNetError, ValueError, TypeError, IndexError, AttributeError or
 *   NotImplementedError. With DMLC_LOG_STACK_TRACE_DEPTH > 0 the lines "Stack trace:" and frames
 *   follow. Nothing throws through this ABI and nothing ends the process. On failure the
 *   out-parameters are left as they were.
 *
 * - First use: the first call reads the environment. A bad value in a variable makes that call and
 *   all later ones fail with a message that names the variable, its value and what is allowed.
 *
 * - Nulls: a null pointer is an error, never a crash, except where null has a meaning of its own.
 *   So is a handle that was freed or is of another kind; freeing a null array is none.
 *
 * - Lifetime: strings and arrays that come out through pointers belong to the library. They live
 *   until the next call on the same thread, those of MXLibInfoFeatures until the process ends. What
 *   the caller hands in is copied before the call returns.
 *
 * - Threads: all functions may be called from any thread at the same time. What threads may do at
 *   once with one handle stands at its type; "in turns" are handles of which a call has its object
 *   to itself, callbacks included, while others wait. The error text, and the settings said to be
 *   of the thread, are each thread's own.
 *
 * - Order: work on arrays and variables runs asynchronously, in an order that respects what it
 *   reads and writes; a failure in it comes out of a later wait.
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

/* What marks a program's own work in profiles: a domain, task, frame, event or counter. */
typedef void* ProfileHandle;
/* A store of arrays by key (c_api_kvstore.h). */
typedef void* KVStoreHandle;

/* A property of this build or machine. */
struct LibFeature {
  const char* name;
  bool enabled;
};

/* --- Errors ----------------------------------------------------------------------------------- */

/* The text of the last failure on this thread, "" if there was none. Valid until the next failure
 * on this thread. Never fails. Functions that start with MX and NN share one text. */
MXNET_DLL const char* MXGetLastError(void);
MXNET_DLL const char* NNGetLastError(void);
/* Sets that text, for callbacks that fail. Null counts as "". */
MXNET_DLL void NNAPISetLastError(const char* msg);

/* --- The library ------------------------------------------------------------------------------ */

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

/* --- Devices and memory ----------------------------------------------------------------------- */

/* The number of usable GPUs; 0, not an error, where there is no driver. */
MXNET_DLL int MXGetGPUCount(int* out);
/* Bytes; numbers that do not fit are given as INT_MAX. Use MXGetGPUMemoryInformation64. */
MXNET_DLL int MXGetGPUMemoryInformation(int dev, int* free_mem, int* total_mem);
MXNET_DLL int MXGetGPUMemoryInformation64(int dev, uint64_t* free_mem, uint64_t* total_mem);
/* Gives the memory that the device's pool keeps for reuse back to the system. */
MXNET_DLL int MXStorageEmptyCache(int dev_type, int dev_id);

/* --- Engine ----------------------------------------------------------------------------------- */

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
                                EngineFnPropertyHandle prop_handle MXNET_DEFAULT(nullptr),
                                int priority MXNET_DEFAULT(0),
                                const char* opr_name MXNET_DEFAULT(nullptr),
                                bool wait MXNET_DEFAULT(false));
MXNET_DLL int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param,
                               EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                               EngineVarHandle const_vars_handle, int num_const_vars,
                               EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                               EngineFnPropertyHandle prop_handle MXNET_DEFAULT(nullptr),
                               int priority MXNET_DEFAULT(0),
                               const char* opr_name MXNET_DEFAULT(nullptr));

/* --- Arrays ----------------------------------------------------------------------------------- */

typedef int64_t dim_t;
typedef uint32_t mx_uint;
typedef float mx_float;

/* An array; every handle that comes out is freed by MXNDArrayFree. It is checked: null, a freed
 * handle and any other pointer are errors. Handles of views keep the memory alive. */
typedef void* NDArrayHandle;
/* DLManagedTensor* of the DLPack standard, in the form without version. */
typedef void* DLManagedTensorHandle;

/* dtype: 0 float32, 1 float64, 2 float16, 3 uint8, 4 int32, 5 int8, 6 int64, 7 bool, 12 bfloat16.
 * Storage type: 0 dense, 1 row_sparse (index array 0 the rows), 2 csr (0 indptr, 1 indices).
 * Shapes are as the thread's mode says (MXSetIsNumpyShape): without NumPy shapes an array without
 * data has 0 dimensions, with them -1. */

/* 0 off, 1 on for this thread, 2 on for all threads. Setting 0 ends both. */
MXNET_DLL int MXIsNumpyShape(int* curr);
MXNET_DLL int MXSetIsNumpyShape(int is_np_shape, int* prev);

/* Seeds the generators of every device, or of one. Draws that were pushed before are not affected.
 */
MXNET_DLL int MXRandomSeed(int seed);
MXNET_DLL int MXRandomSeedContext(int seed, int dev_type, int dev_id);

/* An array without shape, type and memory. */
MXNET_DLL int MXNDArrayCreateNone(NDArrayHandle* out);
/* delay_alloc: memory is taken at the first use, not now. */
MXNET_DLL int MXNDArrayCreate(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id,
                              int delay_alloc, NDArrayHandle* out);
MXNET_DLL int MXNDArrayCreateEx(const uint32_t* shape, uint32_t ndim, int dev_type, int dev_id,
                                int delay_alloc, int dtype, NDArrayHandle* out);
MXNET_DLL int MXNDArrayCreateEx64(const int64_t* shape, int ndim, int dev_type, int dev_id,
                                  int delay_alloc, int dtype, NDArrayHandle* out);
/* aux_shape: the shapes of the num_aux index arrays one after the other. */
MXNET_DLL int MXNDArrayCreateSparseEx(int storage_type, const uint32_t* shape, uint32_t ndim,
                                      int dev_type, int dev_id, int delay_alloc, int dtype,
                                      uint32_t num_aux, int* aux_type, uint32_t* aux_ndims,
                                      const uint32_t* aux_shape, NDArrayHandle* out);
MXNET_DLL int MXNDArrayCreateSparseEx64(int storage_type, const int64_t* shape, int ndim,
                                        int dev_type, int dev_id, int delay_alloc, int dtype,
                                        uint32_t num_aux, int* aux_type, int* aux_ndims,
                                        const int64_t* aux_shape, NDArrayHandle* out);
/* Null is allowed and does nothing. Work in flight keeps the memory. */
MXNET_DLL int MXNDArrayFree(NDArrayHandle handle);

/* Views: they share memory, and are of dense arrays only. Rows [slice_begin, slice_end). */
MXNET_DLL int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end,
                             NDArrayHandle* out);
MXNET_DLL int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end,
                               NDArrayHandle* out);
/* One row, a dimension less; of a vector one element, which without NumPy shapes is a vector of
 * one. */
MXNET_DLL int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle* out);
MXNET_DLL int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle* out);
/* dims: 0 keeps a dimension, -1 is inferred; in Reshape64 also -2, -3, -4 as the operator reshape
 * has them, read from the right with `reverse`. Without NumPy shapes the result may be smaller: the
 * front. */
MXNET_DLL int MXNDArrayReshape(NDArrayHandle handle, int ndim, int* dims, NDArrayHandle* out);
MXNET_DLL int MXNDArrayReshape64(NDArrayHandle handle, int ndim, dim_t* dims, bool reverse,
                                 NDArrayHandle* out);
/* The same memory without, and with, what autograd knows. */
MXNET_DLL int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle* out);
MXNET_DLL int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle* out);

/* A dimension that does not fit the type is an error. */
MXNET_DLL int MXNDArrayGetShape(NDArrayHandle handle, uint32_t* out_dim,
                                const uint32_t** out_pdata);
MXNET_DLL int MXNDArrayGetShapeEx(NDArrayHandle handle, int* out_dim, const int** out_pdata);
MXNET_DLL int MXNDArrayGetShapeEx64(NDArrayHandle handle, int* out_dim, const int64_t** out_pdata);
MXNET_DLL int MXNDArrayGetDType(NDArrayHandle handle, int* out_dtype);
MXNET_DLL int MXNDArrayGetStorageType(NDArrayHandle handle, int* out_storage_type);
MXNET_DLL int MXNDArrayGetContext(NDArrayHandle handle, int* out_dev_type, int* out_dev_id);
/* The address of the values; does not wait for them (MXNDArrayWaitToRead). */
MXNET_DLL int MXNDArrayGetData(NDArrayHandle handle, void** out_pdata);
/* The gradient buffer as a new handle, or null. */
MXNET_DLL int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle* out);
MXNET_DLL int MXNDArrayGetGradState(NDArrayHandle handle, int* out);
MXNET_DLL int MXNDArraySetGradState(NDArrayHandle handle, int state);

/* These block. `size` counts elements and must be that of the array, which must be dense. */
MXNET_DLL int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void* data, size_t size);
MXNET_DLL int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void* data, size_t size);
/* The (stored) values of src into those of dst (i = -1) or into its index array i. What is written
 * takes the shape of src; types are converted. */
MXNET_DLL int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, const NDArrayHandle handle_src,
                                           const int i);
/* Fails where a sparse array's index arrays do not fit together; with full_check, where they are
 * not ascending and inside the shape. */
MXNET_DLL int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check);
MXNET_DLL int MXNDArrayWaitToRead(NDArrayHandle handle);
MXNET_DLL int MXNDArrayWaitToWrite(NDArrayHandle handle);

/* Copies of a sparse array's stored values and index arrays. */
MXNET_DLL int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle* out);
MXNET_DLL int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle* out);
MXNET_DLL int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle* out);
MXNET_DLL int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int* out_type);
MXNET_DLL int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int* out_type);

/* Files of arrays: a list without keys, else a dictionary. Saving replaces the file whole or leaves
 * the old one. Of what is loaded each handle is the caller's to free; damage is an error that names
 * file and byte. */
MXNET_DLL int MXNDArraySave(const char* fname, uint32_t num_args, NDArrayHandle* args,
                            const char** keys);
MXNET_DLL int MXNDArrayLoad(const char* fname, uint32_t* out_size, NDArrayHandle** out_arr,
                            uint32_t* out_name_size, const char*** out_names);
MXNET_DLL int MXNDArrayLoadFromBuffer(const void* ndarray_buffer, size_t size, uint32_t* out_size,
                                      NDArrayHandle** out_arr, uint32_t* out_name_size,
                                      const char*** out_names);
/* One array without the file around it. */
MXNET_DLL int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t* out_size, const char** out_buf);
MXNET_DLL int MXNDArrayLoadFromRawBytes(const void* buf, size_t size, NDArrayHandle* out);

/* Memory of other frameworks, without a copy. An array that is taken in must be row-major; its
 * deleter runs once, on any thread, when nobody uses the memory any more. After an error nothing is
 * taken over. transient_handle: the structure itself is copied, the deleter gets the copy. */
MXNET_DLL int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle* out_dlpack);
MXNET_DLL int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle* out_handle);
MXNET_DLL int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle,
                                    NDArrayHandle* out_handle);
MXNET_DLL int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack);

/* Arrays on cpu_shared, for other processes: (shared_pid, shared_id) are process and descriptor. A
 * duplicate of the descriptor may be given instead of the original; it is taken over. */
MXNET_DLL int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int* shared_pid, int* shared_id);
MXNET_DLL int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t* shape,
                                           uint32_t ndim, int dtype, NDArrayHandle* out);
MXNET_DLL int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int* shape,
                                             int ndim, int dtype, NDArrayHandle* out);

/* As MXEnginePushAsync and MXEnginePushSync, with arrays in place of variables: the function runs
 * when those it reads (const) and writes (mutable) are free. */
MXNET_DLL int MXEnginePushAsyncND(EngineAsyncFunc async_func, void* func_param,
                                  EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                  NDArrayHandle* const_nds_handle, int num_const_nds,
                                  NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                                  EngineFnPropertyHandle prop_handle MXNET_DEFAULT(nullptr),
                                  int priority MXNET_DEFAULT(0),
                                  const char* opr_name MXNET_DEFAULT(nullptr),
                                  bool wait MXNET_DEFAULT(false));
MXNET_DLL int MXEnginePushSyncND(EngineSyncFunc sync_func, void* func_param,
                                 EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                 NDArrayHandle* const_nds_handle, int num_const_nds,
                                 NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                                 EngineFnPropertyHandle prop_handle MXNET_DEFAULT(nullptr),
                                 int priority MXNET_DEFAULT(0),
                                 const char* opr_name MXNET_DEFAULT(nullptr));

/* --- Operators -------------------------------------------------------------------------------- */

typedef unsigned int nn_uint;
/* An operator; OpHandle and AtomicSymbolCreator are the same. They live as long as the process. */
typedef void* OpHandle;
typedef void* AtomicSymbolCreator;
/* One of the few functions on arrays that are older than operators. */
typedef const void* FunctionHandle;

/* All names, aliases included, sorted; the lists live as long as the process. */
MXNET_DLL int MXListAllOpNames(uint32_t* out_size, const char*** out_array);
MXNET_DLL int NNListAllOpNames(nn_uint* out_size, const char*** out_array);
/* All operators, each once. */
MXNET_DLL int MXSymbolListAtomicSymbolCreators(uint32_t* out_size, AtomicSymbolCreator** out_array);
MXNET_DLL int NNListUniqueOps(nn_uint* out_size, OpHandle** out_array);
/* By name or alias. */
MXNET_DLL int NNGetOpHandle(const char* op_name, OpHandle* op_out);
MXNET_DLL int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char** name);
/* Name, description and arguments, arrays before parameters. key_var_num_args: the parameter that
 * holds the number of arrays, or "". return_type (may be null) is always "". What comes out lives
 * as long as the process. */
MXNET_DLL int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char** name,
                                          const char** description, uint32_t* num_args,
                                          const char*** arg_names, const char*** arg_type_infos,
                                          const char*** arg_descriptions,
                                          const char** key_var_num_args,
                                          const char** return_type MXNET_DEFAULT(nullptr));
MXNET_DLL int NNGetOpInfo(OpHandle op, const char** real_name, const char** description,
                          nn_uint* num_doc_args, const char*** arg_names,
                          const char*** arg_type_infos, const char*** arg_descriptions,
                          const char** return_type);

/* Runs an operator. Parameters are texts; the number of arrays is added where the operator wants
 * it. With *outputs == NULL the library makes the visible outputs, whose handles are the caller's
 * to free (the array of them lives until the next call); else *num_outputs given arrays are
 * written, which must have the right shape and type and may be inputs. Errors in shapes, types and
 * parameters fail this call; those of kernels come out of a later wait. out_stypes: the outputs'
 * storage types. */
MXNET_DLL int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs,
                                 int* num_outputs, NDArrayHandle** outputs, int num_params,
                                 const char** param_keys, const char** param_vals);
MXNET_DLL int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs,
                                   NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                                   int num_params, const char** param_keys, const char** param_vals,
                                   const int** out_stypes);

/* type_mask: 1 arrays come before scalars, 4 an array without shape may be the target. */
MXNET_DLL int MXListFunctions(uint32_t* out_size, FunctionHandle** out_array);
MXNET_DLL int MXGetFunction(const char* name, FunctionHandle* out);
MXNET_DLL int MXFuncGetInfo(FunctionHandle fun, const char** name, const char** description,
                            uint32_t* num_args, const char*** arg_names,
                            const char*** arg_type_infos, const char*** arg_descriptions,
                            const char** return_type MXNET_DEFAULT(nullptr));
MXNET_DLL int MXFuncDescribe(FunctionHandle fun, uint32_t* num_use_vars, uint32_t* num_scalars,
                             uint32_t* num_mutate_vars, int* type_mask);
MXNET_DLL int MXFuncInvoke(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args,
                           NDArrayHandle* mutate_vars);
MXNET_DLL int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle* use_vars, float* scalar_args,
                             NDArrayHandle* mutate_vars, int num_params, char** param_keys,
                             char** param_vals);

/* --- Autograd --------------------------------------------------------------------------------- */

/* The callbacks of a function or operator of the user; those of a function in the order of
 * CustomFunctionCallbacks, each with the pointer it is called with as the last argument. */
struct MXCallbackList {
  int num_callbacks;
  int (**callbacks)(void);
  void** contexts;
};
enum CustomFunctionCallbacks { kCustomFunctionBackward, kCustomFunctionDelete };
/* `ptrs`: handles of the outputs' gradients, then of the inputs' gradients, which the function has
 * to fill; all are the function's to free. 0 = it failed. */
typedef int (*CustomFunctionBwdFunc)(int num_ograds, int num_igrads, void** ptrs, const int* reqs,
                                     const int is_train, void* state);
typedef int (*CustomFunctionDelFunc)(void* state);

/* Switches of the thread, off at first. */
MXNET_DLL int MXAutogradSetIsRecording(int is_recording, int* prev);
MXNET_DLL int MXAutogradSetIsTraining(int is_training, int* prev);
MXNET_DLL int MXAutogradIsRecording(bool* curr);
MXNET_DLL int MXAutogradIsTraining(bool* curr);
/* From now on gradients with respect to the arrays go into the buffers, as the requests say: 0 not
 * at all, 1 or 2 written, 3 added. Detaches the arrays from what was recorded. */
MXNET_DLL int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle* var_handles,
                                      uint32_t* reqs_array, NDArrayHandle* grad_handles);
/* Differentiates what was recorded. ograd_handles: a gradient per output; null, or null in it,
 * stands for ones. With variables (marked arrays) their gradients are returned as new arrays, whose
 * handles are the caller's to free; without, the buffers are filled. retain_graph keeps the graph
 * for another call, create_graph records this one. */
MXNET_DLL int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle* output_handles);
MXNET_DLL int MXAutogradBackward(uint32_t num_output, NDArrayHandle* output_handles,
                                 NDArrayHandle* ograd_handles, int retain_graph);
MXNET_DLL int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle* output_handles,
                                   NDArrayHandle* ograd_handles, uint32_t num_variables,
                                   NDArrayHandle* var_handles, int retain_graph, int create_graph,
                                   int is_train, NDArrayHandle** grad_handles, int** grad_stypes);
/* Puts a call that the user has computed onto the tape: its gradient is the first callback, and the
 * second one is called when nobody will ask for it any more. */
MXNET_DLL int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs,
                                     NDArrayHandle* outputs, struct MXCallbackList* callbacks);

/* --- Profiler (docs/profiler.md) -------------------------------------------------------------- */

/* A whole configuration, of which each parameter not named has its default: filename, profile_all,
 * profile_symbolic, profile_imperative, profile_memory, profile_api, continuous_dump, dump_period,
 * aggregate_stats, profile_process. */
MXNET_DLL int MXSetProfilerConfig(int num_params, const char* const* keys, const char* const* vals);
/* state: 0 stop, 1 run. */
MXNET_DLL int MXSetProfilerState(int state);
/* paused: not 0 = record nothing until the next call with 0. */
MXNET_DLL int MXProfilePause(int paused);
/* Writes what was recorded to the file, which is complete then. finished: not 0 = stop; the next
 * run begins the file anew. Fails where nothing has been run. */
MXNET_DLL int MXDumpProfile(int finished);
/* The same for the process meant by profile_process: 0 this one (the store may be null), 1 the
 * servers of a distributed kvstore. */
MXNET_DLL int MXSetProcessProfilerConfig(int num_params, const char* const* keys,
                                         const char* const* vals, KVStoreHandle kvstoreHandle);
MXNET_DLL int MXSetProcessProfilerState(int state, int profile_process,
                                        KVStoreHandle kvStoreHandle);
MXNET_DLL int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_DLL int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle);
/* Tables of count, total, least, greatest and average for each name, "" if aggregate_stats is off.
 * reset: not 0 = count from zero again. format: 0 table, 1 JSON. sort_by: 0 total, 1 average, 2
 * least, 3 greatest, 4 count. */
MXNET_DLL int MXAggregateProfileStatsPrint(const char** out_str, int reset);
MXNET_DLL int MXAggregateProfileStatsPrintEx(const char** out_str, int reset, int format,
                                             int sort_by, int ascending);
/* What these create is freed by MXProfileDestroyHandle; a domain may be freed before what is in it.
 */
MXNET_DLL int MXProfileCreateDomain(const char* domain, ProfileHandle* out);
MXNET_DLL int MXProfileCreateTask(ProfileHandle domain, const char* task_name, ProfileHandle* out);
MXNET_DLL int MXProfileCreateFrame(ProfileHandle domain, const char* frame_name,
                                   ProfileHandle* out);
MXNET_DLL int MXProfileCreateEvent(const char* event_name, ProfileHandle* out);
MXNET_DLL int MXProfileCreateCounter(ProfileHandle domain, const char* counter_name,
                                     ProfileHandle* out);
MXNET_DLL int MXProfileDestroyHandle(ProfileHandle frame_handle);
/* Of a task, frame or event. Stopping what was not started does nothing. */
MXNET_DLL int MXProfileDurationStart(ProfileHandle duration_handle);
MXNET_DLL int MXProfileDurationStop(ProfileHandle duration_handle);
MXNET_DLL int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);
MXNET_DLL int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);
/* An instant. scope: global, process, thread, task or marker. */
MXNET_DLL int MXProfileSetMarker(ProfileHandle domain, const char* instant_marker_name,
                                 const char* scope);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "mxnet/c_api_data.h"
#include "mxnet/c_api_symbol.h"
/* After the symbols that they run. */
#include "mxnet/c_api_executor.h"
#include "mxnet/c_api_kvstore.h"

#include "mxnet/c_api_custom.h"

#endif /* MXNET_C_API_H_ */

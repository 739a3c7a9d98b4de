/* SPDX-License-Identifier: Apache-2.0
 * The part of the C ABI that runs networks: executors and cached ops. It belongs to mxnet/c_api.h,
 * which states the conventions and includes it. */
#ifndef MXNET_C_API_EXECUTOR_H_
#define MXNET_C_API_EXECUTOR_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Executors -------------------------------------------------------------------------------- */

/* A graph bound to arrays. Threads use one in turns; the arrays that come out of a call are new
 * handles of the same memory, which the caller frees. */
typedef void* ExecutorHandle;
/* Name of a value ("fc1_output") and the value, whose handle the callee owns. */
typedef void (*ExecutorMonitorCallback)(const char*, NDArrayHandle, void*);

/* Binds to given arrays, in the order of arguments and of auxiliary states. grad_req_type: 0 no
 * gradient, 1 write, 3 add; arg_grad_store may hold nulls. The map_ and g2c_ parameters give
 * devices to groups of nodes. shared_exec, if not null, lends its activations: the two are not to
 * be used in turns within one training step. */
MXNET_DLL int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len,
                             NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                             uint32_t* grad_req_type, uint32_t aux_states_len,
                             NDArrayHandle* aux_states, ExecutorHandle* out);
MXNET_DLL int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                              uint32_t num_map_keys, const char** map_keys,
                              const int* map_dev_types, const int* map_dev_ids, uint32_t len,
                              NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                              uint32_t* grad_req_type, uint32_t aux_states_len,
                              NDArrayHandle* aux_states, ExecutorHandle* out);
MXNET_DLL int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                               uint32_t num_map_keys, const char** map_keys,
                               const int* map_dev_types, const int* map_dev_ids, uint32_t len,
                               NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                               uint32_t* grad_req_type, uint32_t aux_states_len,
                               NDArrayHandle* aux_states, ExecutorHandle shared_exec,
                               ExecutorHandle* out);
/* Makes the arrays, from the shapes (0 or, with NumPy semantics, -1 is unknown), types and storage
 * types of some arguments. Gradient requests ("write", "add", "null"): one for all
 * (provided_grad_req_list_len 0), one for each argument (no names), or by name. Arguments in
 * shared_arg_name_list take the arrays of shared_exec_handle, others those of the shared buffer
 * where they are large enough (shared_buffer_len -1: there is none). */
MXNET_DLL int MXExecutorSimpleBind(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,
    const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,
    const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
    const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,
    const char** provided_arg_shape_names, const uint32_t* provided_arg_shape_data,
    const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
    const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
    const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,
    const int* provided_arg_stypes, const uint32_t num_shared_arg_names,
    const char** shared_arg_name_list, int* shared_buffer_len, const char** shared_buffer_name_list,
    NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list,
    NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args,
    NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
    NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);
MXNET_DLL int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,
    const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,
    const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
    const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,
    const char** provided_arg_shape_names, const int* provided_arg_shape_data,
    const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
    const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
    const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,
    const int* provided_arg_stypes, const uint32_t num_shared_arg_names,
    const char** shared_arg_name_list, int* shared_buffer_len, const char** shared_buffer_name_list,
    NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list,
    NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args,
    NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
    NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);
MXNET_DLL int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys,
    const char** g2c_keys, const int* g2c_dev_types, const int* g2c_dev_ids,
    const uint32_t provided_grad_req_list_len, const char** provided_grad_req_names,
    const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,
    const char** provided_arg_shape_names, const int64_t* provided_arg_shape_data,
    const uint32_t* provided_arg_shape_idx, const uint32_t num_provided_arg_dtypes,
    const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
    const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names,
    const int* provided_arg_stypes, const uint32_t num_shared_arg_names,
    const char** shared_arg_name_list, int* shared_buffer_len, const char** shared_buffer_name_list,
    NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list,
    NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args,
    NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux_states,
    NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out);
/* The graph of shared_exec for other shapes, on the same memory where that suffices. Without
 * partial_shaping only arguments that are named may change, without allow_up_sizing none may need
 * more memory. */
MXNET_DLL int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                                uint32_t num_map_keys, const char** map_keys,
                                const int* map_dev_types, const int* map_dev_ids,
                                const uint32_t num_provided_arg_shapes,
                                const char** provided_arg_shape_names,
                                const uint32_t* provided_arg_shape_data,
                                const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args,
                                NDArrayHandle** in_args, NDArrayHandle** arg_grads,
                                uint32_t* num_aux_states, NDArrayHandle** aux_states,
                                ExecutorHandle shared_exec, ExecutorHandle* out);
MXNET_DLL int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type,
                                  int dev_id, uint32_t num_map_keys, const char** map_keys,
                                  const int* map_dev_types, const int* map_dev_ids,
                                  const uint32_t num_provided_arg_shapes,
                                  const char** provided_arg_shape_names,
                                  const int* provided_arg_shape_data,
                                  const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args,
                                  NDArrayHandle** in_args, NDArrayHandle** arg_grads,
                                  uint32_t* num_aux_states, NDArrayHandle** aux_states,
                                  ExecutorHandle shared_exec, ExecutorHandle* out);
MXNET_DLL int MXExecutorFree(ExecutorHandle handle);

/* Backward differentiates the last forward in training mode, once; without head gradients they are
 * ones. */
MXNET_DLL int MXExecutorForward(ExecutorHandle handle, int is_train);
MXNET_DLL int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads);
MXNET_DLL int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads,
                                   int is_train);
MXNET_DLL int MXExecutorOutputs(ExecutorHandle handle, uint32_t* out_size, NDArrayHandle** out);
/* The compiled graph as text, with its memory. */
MXNET_DLL int MXExecutorPrint(ExecutorHandle handle, const char** out_str);
MXNET_DLL int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle* out);
/* Forward shows every value (inputs of nodes too, if monitor_all); null ends it. */
MXNET_DLL int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                           void* callback_handle);
MXNET_DLL int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle,
                                             ExecutorMonitorCallback callback,
                                             void* callback_handle, bool monitor_all);

/* --- Cached ops ------------------------------------------------------------------------------- */

/* A graph that is called like one operator. Any number of threads may call one at once. */
typedef void* CachedOpHandle;
/* Name of a value, its operator, and the value, whose handle the callee owns. */
typedef void (*CachedOpMonitorCallback)(const char*, const char*, NDArrayHandle);

/* Flags: static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size,
 * data_indices, param_indices, is_np_shape. */
MXNET_DLL int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle* out);
MXNET_DLL int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char** keys,
                                 const char** vals, CachedOpHandle* out);
MXNET_DLL int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char** keys,
                                 const char** vals, CachedOpHandle* out,
                                 bool thread_safe MXNET_DEFAULT(false));
MXNET_DLL int MXFreeCachedOp(CachedOpHandle handle);
/* Inputs are all variables of the symbol in order. *outputs null: they are made; else they are
 * given. */
MXNET_DLL int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs,
                               int* num_outputs, NDArrayHandle** outputs);
MXNET_DLL int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs,
                                 int* num_outputs, NDArrayHandle** outputs, const int** out_stypes);
MXNET_DLL int MXCachedOpRegisterOpHook(NDArrayHandle handle, CachedOpMonitorCallback callback,
                                       bool monitor_all);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_EXECUTOR_H_ */

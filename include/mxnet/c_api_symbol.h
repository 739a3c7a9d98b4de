/* SPDX-License-Identifier: Apache-2.0
 * The part of the C ABI that builds networks: symbols, their files, inference and passes. It
 * belongs to mxnet/c_api.h, which states the conventions and includes it. */
#ifndef MXNET_C_API_SYMBOL_H_
#define MXNET_C_API_SYMBOL_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Symbols ---------------------------------------------------------------------------------- */

/* Some values of a graph under construction. MX and NN functions take the same handles. Symbols
 * share nodes: attributes set through one are seen through all; one thread at a time. Strings and
 * arrays that come out live until the next call of the same kind on this thread; handles in them
 * are the caller's to free. */
typedef void* SymbolHandle;

/* An operator without name and inputs; composing gives it both. */
MXNET_DLL int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param,
                                         const char** keys, const char** vals, SymbolHandle* out);
MXNET_DLL int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char** keys,
                                         const char** vals, SymbolHandle* out);

MXNET_DLL int MXSymbolCreateVariable(const char* name, SymbolHandle* out);
MXNET_DLL int NNSymbolCreateVariable(const char* name, SymbolHandle* out);

/* All outputs of several symbols. */
MXNET_DLL int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle* symbols, SymbolHandle* out);
MXNET_DLL int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle* symbols, SymbolHandle* out);

/* Inputs by position (keys NULL) or by name. Inputs that are not given become variables NAME_INPUT.
 * On a network, variables of these names are replaced instead: copy it first. */
MXNET_DLL int MXSymbolCompose(SymbolHandle sym, const char* name, uint32_t num_args,
                              const char** keys, SymbolHandle* args);
MXNET_DLL int NNSymbolCompose(SymbolHandle sym, const char* name, nn_uint num_args,
                              const char** keys, SymbolHandle* args);

/* The same on nodes of its own; a shallow copy shares them. */
MXNET_DLL int MXSymbolCopy(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int NNSymbolCopy(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int MXShallowCopySymbol(SymbolHandle src, SymbolHandle* out);

MXNET_DLL int MXSymbolFree(SymbolHandle symbol);
MXNET_DLL int NNSymbolFree(SymbolHandle symbol);

/* Operator and attributes of the symbol's one node, without its inputs. */
MXNET_DLL int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);

/* Files of every version since 0.8 are read; the current one is written. */
MXNET_DLL int MXSymbolCreateFromFile(const char* fname, SymbolHandle* out);
MXNET_DLL int MXSymbolCreateFromJSON(const char* json, SymbolHandle* out);
MXNET_DLL int MXSymbolSaveToFile(SymbolHandle symbol, const char* fname);
MXNET_DLL int MXSymbolSaveToJSON(SymbolHandle symbol, const char** out_json);

/* success is 0 where there is no such thing: outputs of several nodes have no name. */
MXNET_DLL int MXSymbolGetName(SymbolHandle symbol, const char** out, int* success);
MXNET_DLL int MXSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);
MXNET_DLL int NNSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);
MXNET_DLL int MXSymbolSetAttr(SymbolHandle symbol, const char* key, const char* value);
MXNET_DLL int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char** keys,
                               const char** values);

/* Key and value, alternating: "NODE$KEY" for all nodes, or KEY for the output's own; hidden keys
 * such as lr_mult with and without their underscores. out_size counts pairs. */
MXNET_DLL int MXSymbolListAttr(SymbolHandle symbol, uint32_t* out_size, const char*** out);
MXNET_DLL int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t* out_size, const char*** out);

/* recursive_option 0: all nodes, 1: the output's own; keys as they are stored. */
MXNET_DLL int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint* out_size,
                                const char*** out);

MXNET_DLL int MXSymbolListArguments(SymbolHandle symbol, uint32_t* out_size,
                                    const char*** out_str_array);
MXNET_DLL int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t* out_size,
                                          const char*** out_str_array);
MXNET_DLL int MXSymbolListOutputs(SymbolHandle symbol, uint32_t* out_size,
                                  const char*** out_str_array);
MXNET_DLL int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint* out_size,
                                      const char*** out_str_array);

/* option 0: all variables, 1: arguments, 2: auxiliary states. */
MXNET_DLL int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint* out_size,
                                     const char*** out_str_array);
MXNET_DLL int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint* out_size,
                                         SymbolHandle** out_sym_array);

MXNET_DLL int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t* output_count);
MXNET_DLL int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint* output_count);
MXNET_DLL int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle* out);
MXNET_DLL int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle* out);

/* Every value of the graph as an output; inputs of the outputs' nodes (NULL where there are none);
 * a symbol for each variable. */
MXNET_DLL int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);
MXNET_DLL int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle** inputs, int* input_size);

/* The nodes that carry the same __subgraph_name__ as the outputs are cut off the rest: what they
 * read of it becomes variables, and comes out as symbols. */
MXNET_DLL int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle** inputs, int* input_size);

MXNET_DLL int MXSymbolPrint(SymbolHandle symbol, const char** out_str);
MXNET_DLL int NNSymbolPrint(SymbolHandle symbol, const char** out_str);

/* The gradients of the outputs' sum by the variables of these names. */
MXNET_DLL int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char** wrt, SymbolHandle* out);

/* Shapes and types of arguments, outputs and auxiliary states out of those given by name, or with
 * keys NULL by position. What cannot be known stays unknown and complete is 0; conflicts are errors
 * that name the node. The shapes of argument i are arg_shape_data[arg_ind_ptr[i] ...
 * arg_ind_ptr[i + 1]]. Partial calls are the same but for complete, which is always 1. */
MXNET_DLL int MXSymbolInferShape(SymbolHandle sym, uint32_t num_args, const char** keys,
                                 const uint32_t* arg_ind_ptr, const uint32_t* arg_shape_data,
                                 uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                 const uint32_t*** in_shape_data, uint32_t* out_shape_size,
                                 const uint32_t** out_shape_ndim, const uint32_t*** out_shape_data,
                                 uint32_t* aux_shape_size, const uint32_t** aux_shape_ndim,
                                 const uint32_t*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferShapeEx(SymbolHandle sym, uint32_t num_args, const char** keys,
                                   const uint32_t* arg_ind_ptr, const int* arg_shape_data,
                                   uint32_t* in_shape_size, const int** in_shape_ndim,
                                   const int*** in_shape_data, uint32_t* out_shape_size,
                                   const int** out_shape_ndim, const int*** out_shape_data,
                                   uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                   const int*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferShapeEx64(SymbolHandle sym, uint32_t num_args, const char** keys,
                                     const int64_t* arg_ind_ptr, const int64_t* arg_shape_data,
                                     size_t* in_shape_size, const int** in_shape_ndim,
                                     const int64_t*** in_shape_data, size_t* out_shape_size,
                                     const int** out_shape_ndim, const int64_t*** out_shape_data,
                                     size_t* aux_shape_size, const int** aux_shape_ndim,
                                     const int64_t*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferShapePartial(SymbolHandle sym, uint32_t num_args, const char** keys,
                                        const uint32_t* arg_ind_ptr, const uint32_t* arg_shape_data,
                                        uint32_t* in_shape_size, const uint32_t** in_shape_ndim,
                                        const uint32_t*** in_shape_data, uint32_t* out_shape_size,
                                        const uint32_t** out_shape_ndim,
                                        const uint32_t*** out_shape_data, uint32_t* aux_shape_size,
                                        const uint32_t** aux_shape_ndim,
                                        const uint32_t*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferShapePartialEx(SymbolHandle sym, uint32_t num_args, const char** keys,
                                          const uint32_t* arg_ind_ptr, const int* arg_shape_data,
                                          uint32_t* in_shape_size, const int** in_shape_ndim,
                                          const int*** in_shape_data, uint32_t* out_shape_size,
                                          const int** out_shape_ndim, const int*** out_shape_data,
                                          uint32_t* aux_shape_size, const int** aux_shape_ndim,
                                          const int*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferShapePartialEx64(
    SymbolHandle sym, uint32_t num_args, const char** keys, const int64_t* arg_ind_ptr,
    const int64_t* arg_shape_data, size_t* in_shape_size, const int** in_shape_ndim,
    const int64_t*** in_shape_data, size_t* out_shape_size, const int** out_shape_ndim,
    const int64_t*** out_shape_data, size_t* aux_shape_size, const int** aux_shape_ndim,
    const int64_t*** aux_shape_data, int* complete);
MXNET_DLL int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char** keys,
                                const int* arg_type_data, uint32_t* in_type_size,
                                const int** in_type_data, uint32_t* out_type_size,
                                const int** out_type_data, uint32_t* aux_type_size,
                                const int** aux_type_data, int* complete);
MXNET_DLL int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char** keys,
                                       const int* arg_type_data, uint32_t* in_type_size,
                                       const int** in_type_data, uint32_t* out_type_size,
                                       const int** out_type_data, uint32_t* aux_type_size,
                                       const int** aux_type_data, int* complete);

/* Without the casts that mixed precision has inserted. */
MXNET_DLL int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle);

/* What was recorded to compute this array. */
MXNET_DLL int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle* out);

/* Backends replace parts of a graph by nodes that hold them. The backend "default" takes operators
 * by name. */
MXNET_DLL int MXBuildSubgraphByOpNames(SymbolHandle sym_handle, const char* prop_name,
                                       const uint32_t num_ops, const char** op_names,
                                       SymbolHandle* ret_sym_handle);
MXNET_DLL int MXSetSubgraphPropertyOpNames(const char* prop_name, const uint32_t num_ops,
                                           const char** op_names);
MXNET_DLL int MXSetSubgraphPropertyOpNamesV2(const char* prop_name, const uint32_t num_ops,
                                             const char** op_names);
MXNET_DLL int MXRemoveSubgraphPropertyOpNames(const char* prop_name);
MXNET_DLL int MXRemoveSubgraphPropertyOpNamesV2(const char* prop_name);
MXNET_DLL int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend,
                                   SymbolHandle* ret_sym_handle);
MXNET_DLL int MXOptimizeForBackend(
    SymbolHandle sym_handle, const char* backend_name, const int dev_type,
    SymbolHandle* ret_sym_handle, const uint32_t args_len, NDArrayHandle* in_args_handle,
    const uint32_t aux_len, NDArrayHandle* in_aux_handle, const uint32_t num_options,
    const char** keys, const char** vals, const uint32_t num_input_shapes,
    const char** input_shape_names, const int64_t* input_shape_data,
    const uint32_t* input_shape_idx, const uint32_t num_input_dtypes,
    const char** input_dtype_names, const int* input_dtypes, const uint32_t num_input_stypes,
    const char** input_stype_names, const int* input_stypes, bool skip_infer, int* new_args_cnt,
    NDArrayHandle** new_args_handle, char*** new_arg_names_handle, int* new_aux_cnt,
    NDArrayHandle** new_aux_handle, char*** new_aux_names_handle);

/* Mixed precision and quantization of whole networks. */
MXNET_DLL int MXReducePrecisionSymbol(
    SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, uint32_t num_args,
    const int* arg_type_data, uint32_t num_ind_ptr, const int* ind_ptr, const int* target_dtype,
    const int cast_optional_params, const uint32_t num_target_dtype_op_names,
    const uint32_t num_fp32_op_names, const uint32_t num_widest_dtype_op_names,
    const uint32_t num_conditional_fp32_op_names, const uint32_t num_excluded_symbols,
    const uint32_t num_model_params, const char** target_dtype_op_names, const char** fp32_op_names,
    const char** widest_dtype_op_names, const char** conditional_fp32_op_names,
    const char** excluded_symbols, const char** conditional_param_names,
    const char** conditional_param_vals, const char** model_param_names, const char** arg_names);
MXNET_DLL int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle,
                               const int* dev_type, const uint32_t num_excluded_sym_names,
                               const char** excluded_sym_names,
                               const uint32_t num_excluded_op_names, const char** excluded_op_names,
                               const uint32_t num_offline, const char** offline_params,
                               const char* quantized_dtype, const bool calib_quantize,
                               const char* quantize_mode, const char* quantize_granularity,
                               uint32_t* out_num_calib_names, const char*** out_calib_names);
MXNET_DLL int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, const uint32_t num_layers,
                                               const char** layer_names, const float* low_quantiles,
                                               const float* high_quantiles,
                                               SymbolHandle* ret_sym_handle);

/* Graphs with attributes, for programs of the older interface. */
typedef void* GraphHandle;
MXNET_DLL int NNGraphCreate(SymbolHandle symbol, GraphHandle* graph);
MXNET_DLL int NNGraphFree(GraphHandle handle);
MXNET_DLL int NNGraphGetSymbol(GraphHandle graph, SymbolHandle* symbol);
MXNET_DLL int NNGraphSetJSONAttr(GraphHandle handle, const char* key, const char* json_value);
MXNET_DLL int NNGraphGetJSONAttr(GraphHandle handle, const char* key, const char** json_out,
                                 int* success);
MXNET_DLL int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char* key, SymbolHandle list);
MXNET_DLL int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char** pass_names,
                                 GraphHandle* dst);
MXNET_DLL int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_SYMBOL_H_ */

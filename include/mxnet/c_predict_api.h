/* SPDX-License-Identifier: Apache-2.0
 * Inference for programs that know nothing else of the library: a symbol, its parameters, arrays of
 * floats in and out. Conventions are those of c_api.h.
 */
#ifndef MXNET_C_PREDICT_API_H_
#define MXNET_C_PREDICT_API_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model bound to shapes. Threads use one in turns; those made by one MXPredCreateMultiThread, and
 * by MXPredReshape, share parameters and may run at the same time. */
typedef void* PredictorHandle;
/* The arrays of a file. */
typedef void* NDListHandle;
typedef void (*PredMonitorCallback)(const char*, NDArrayHandle, void*);

/* The text of a "-symbol.json" and the bytes of a ".params" file. Shapes of inputs as a flat list:
 * input i has input_shape_data[input_shape_indptr[i] .. input_shape_indptr[i + 1]). Names that the
 * symbol lacks are passed over; inputs that have neither shape nor parameter (labels) are there
 * too. Inputs begin as zeros, or with the numbers of the file where it has some of that name and
 * shape. */
MXNET_DLL int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, PredictorHandle* out);
MXNET_DLL int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                             int dev_type, int dev_id, const uint32_t num_input_nodes,
                             const char** input_keys, const uint32_t* input_shape_indptr,
                             const uint32_t* input_shape_data,
                             const uint32_t num_provided_arg_dtypes,
                             const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                             PredictorHandle* out);
/* Only what these values need is computed: names of nodes or of their outputs. */
MXNET_DLL int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes,
                                     int param_size, int dev_type, int dev_id,
                                     uint32_t num_input_nodes, const char** input_keys,
                                     const uint32_t* input_shape_indptr,
                                     const uint32_t* input_shape_data, uint32_t num_output_nodes,
                                     const char** output_keys, PredictorHandle* out);
/* `out` takes num_threads predictors. */
MXNET_DLL int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes,
                                      int param_size, int dev_type, int dev_id,
                                      uint32_t num_input_nodes, const char** input_keys,
                                      const uint32_t* input_shape_indptr,
                                      const uint32_t* input_shape_data, int num_threads,
                                      PredictorHandle* out);
/* A new predictor with the same parameters for other shapes. Inputs whose shape is as it was begin
 * with what they hold in the old one. */
MXNET_DLL int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                            const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                            PredictorHandle handle, PredictorHandle* out);
MXNET_DLL int MXPredFree(PredictorHandle handle);

/* `data` holds `size` numbers of the input's type, which is float unless MXPredCreateEx has said
 * otherwise. */
MXNET_DLL int MXPredSetInput(PredictorHandle handle, const char* key, const float* data,
                             uint32_t size);
MXNET_DLL int MXPredForward(PredictorHandle handle);
/* Runs one operator: step 0, 1, ... until *step_left is 0. */
MXNET_DLL int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);
/* The dimensions are good until the same is asked again, or the predictor freed. */
MXNET_DLL int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                                   uint32_t* shape_ndim);
MXNET_DLL int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype);
/* Waits; `size` must be that of the output. */
MXNET_DLL int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size);
MXNET_DLL int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                                       void* callback_handle, bool monitor_all);

MXNET_DLL int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                             uint32_t* out_length);
MXNET_DLL int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key,
                          const float** out_data, const uint32_t** out_shape, uint32_t* out_ndim);
MXNET_DLL int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif
#endif /* MXNET_C_PREDICT_API_H_ */

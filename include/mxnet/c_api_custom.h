/* SPDX-License-Identifier: Apache-2.0
 * What programs add to the library: operators whose bodies are callbacks, libraries of operators,
 * GPU kernels from source. Part of mxnet/c_api.h, whose conventions hold. */
#ifndef MXNET_C_API_CUSTOM_H_
#define MXNET_C_API_CUSTOM_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Custom operators ------------------------------------------------------------------------- */

/* The operator "Custom" with op_type=NAME asks a creator for a description (CustomOpPropCallbacks),
 * and the description for an operator (CustomOpCallbacks). All callbacks give 0 when they fail; the
 * operator that needed them then fails. They run on the thread that calls the operator (or
 * backward), never under a lock of the library, and may use the whole ABI. */
enum CustomOpCallbacks { kCustomOpDelete, kCustomOpForward, kCustomOpBackward };
enum CustomOpPropCallbacks {
  kCustomOpPropDelete,
  kCustomOpPropListArguments,
  kCustomOpPropListOutputs,
  kCustomOpPropListAuxiliaryStates,
  kCustomOpPropInferShape,
  kCustomOpPropDeclareBackwardDependency,
  kCustomOpPropCreateOperator,
  kCustomOpPropInferType,
  kCustomOpPropInferStorageType,
  kCustomOpPropBackwardInferStorageType
};

/* `ptrs`: `size` handles, which are the function's to free, of kinds `tags`: 0 input, 1 output, 2
 * gradient of an input, 3 gradient of an output, 4 auxiliary state. `reqs`: one for each array that
 * is to be computed: 0 nothing, 1 write, 2 write in place, 3 add. */
typedef int (*CustomOpFBFunc)(int size, void** ptrs, int* tags, const int* reqs, const int is_train,
                              void* state);
typedef int (*CustomOpDelFunc)(void* state);
/* A list of names that ends with null. */
typedef int (*CustomOpListFunc)(char*** args, void* state);
/* Arguments, outputs and auxiliary states, in this order; what is known before the call are the
 * arguments. The callee sets the rest; the memory of its shapes is its own until its next call. */
typedef int (*CustomOpInferShapeFunc)(int num_tensor, int* ndims, int** shapes, void* state);
typedef int (*CustomOpInferTypeFunc)(int num_tensor, int* types, void* state);
typedef int (*CustomOpInferStorageTypeFunc)(int num_tensor, int* stypes, void* state);
/* Output gradients, inputs, outputs, input gradients, auxiliary states; `tags` as above. */
typedef int (*CustomOpBackwardInferStorageTypeFunc)(int num_tensor, int* stypes, int* tags,
                                                    void* state);
/* Which of the numbered arrays the gradient needs. */
typedef int (*CustomOpBwdDepFunc)(const int* out_grad, const int* in_data, const int* out_data,
                                  int* num_deps, int** rdeps, void* state);
typedef int (*CustomOpCreateFunc)(const char* ctx, int num_inputs, unsigned** shapes,
                                  const int* ndims, const int* dtypes, struct MXCallbackList* ret,
                                  void* state);
/* The parameters of the call besides op_type, as texts. */
typedef int (*CustomOpPropCreator)(const char* op_type, const int num_kwargs, const char** keys,
                                   const char** values, struct MXCallbackList* ret);

/* How operators of the user were described before, and still may be: the operators _Native and
 * _NDArray take the address of one, in hexadecimal digits, as their parameter `info`. It is copied
 * when the operator is first called or becomes part of a symbol. Kinds and shapes are as above;
 * only float32 is taken. Functions of the first get addresses of values in host memory, those of
 * the second handles, which are theirs to free, and give false when they fail. A gradient has
 * always to be written. */
struct NativeOpInfo {
  void (*forward)(int, float**, int*, unsigned**, int*, void*);
  void (*backward)(int, float**, int*, unsigned**, int*, void*);
  void (*infer_shape)(int, int*, unsigned**, void*);
  void (*list_outputs)(char***, void*);
  void (*list_arguments)(char***, void*);
  void* p_forward;
  void* p_backward;
  void* p_infer_shape;
  void* p_list_outputs;
  void* p_list_arguments;
};
struct NDArrayOpInfo {
  bool (*forward)(int, void**, int*, void*);
  bool (*backward)(int, void**, int*, void*);
  bool (*infer_shape)(int, int*, unsigned**, void*);
  bool (*list_outputs)(char***, void*);
  bool (*list_arguments)(char***, void*);
  bool (*declare_backward_dependency)(const int*, const int*, const int*, int*, int**, void*);
  void* p_forward;
  void* p_backward;
  void* p_infer_shape;
  void* p_list_outputs;
  void* p_list_arguments;
  void* p_declare_backward_dependency;
};

/* An operator of which a symbol is made, in the words of older programs. */
typedef void* AtomicSymbolHandle;

/* From now on op_type means this creator; a later registration takes the name over. */
MXNET_DLL int MXCustomOpRegister(const char* op_type, CustomOpPropCreator creator);

/* --- Libraries of operators ------------------------------------------------------------------- */

/* Loads operators, passes and partitioners from a shared library (docs/extensions.md); nothing
 * happens where it is loaded already. `verbose` logs what was found. */
MXNET_DLL int MXLoadLib(const char* path, unsigned verbose);
/* Always an error: kernels compiled by TVM are not supported. */
MXNET_DLL int MXTVMBridge(void* pregister);

/* --- GPU kernels from source ------------------------------------------------------------------ */

typedef void* RtcHandle;
typedef void* CudaModuleHandle;
typedef void* CudaKernelHandle;

/* The interface before CUDA modules: always an error. */
MXNET_DLL int MXRtcCreate(char* name, uint32_t num_input, uint32_t num_output, char** input_names,
                          char** output_names, NDArrayHandle* inputs, NDArrayHandle* outputs,
                          char* kernel, RtcHandle* out);
MXNET_DLL int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output,
                        NDArrayHandle* inputs, NDArrayHandle* outputs, uint32_t gridDimX,
                        uint32_t gridDimY, uint32_t gridDimZ, uint32_t blockDimX,
                        uint32_t blockDimY, uint32_t blockDimZ);
MXNET_DLL int MXRtcFree(RtcHandle handle);
/* CUDA C++ compiled for the GPUs of this machine; an error without one, or with the compiler's
 * messages. `exports` names templates and functions that are not extern "C". */
MXNET_DLL int MXRtcCudaModuleCreate(const char* source, int num_options, const char** options,
                                    int num_exports, const char** exports, CudaModuleHandle* out);
MXNET_DLL int MXRtcCudaModuleFree(CudaModuleHandle handle);
/* Of each argument: whether it is an array, whether the kernel only reads it, its type number. */
MXNET_DLL int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char* name, int num_args,
                                    int* is_ndarray, int* is_const, int* arg_types,
                                    CudaKernelHandle* out);
MXNET_DLL int MXRtcCudaKernelFree(CudaKernelHandle handle);
/* Puts a launch on the GPU `dev_id`. `args` are NDArrayHandles, of arrays on that GPU, and
 * addresses of numbers, which are copied. */
MXNET_DLL int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void** args,
                                  uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
                                  uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
                                  uint32_t shared_mem);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_C_API_CUSTOM_H_ */

/* SPDX-License-Identifier: Apache-2.0
 * Functions by name that take typed values instead of texts: what NumPy-like calls of existing
 * front ends use for the few that they call this way. Conventions as in mxnet/c_api.h. */
#ifndef MXNET_RUNTIME_C_RUNTIME_API_H_
#define MXNET_RUNTIME_C_RUNTIME_API_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of values; numbers below 3 are those of DLPack: 0 int64, 2 float64. */
typedef enum {
  kHandle = 3,
  kNull = 4,
  kMXNetType = 5,
  kMXNetContext = 6,
  kArrayHandle = 7,
  kObjectHandle = 8,
  kModuleHandle = 9,
  kFuncHandle = 10,
  kStr = 11,
  kBytes = 12,
  kNDArrayContainer = 13,
  kNDArrayHandle = 14,
  kExtBegin = 15,
  kNNVMFirst = 16,
  kNNVMLast = 20,
  kExtReserveEnd = 64,
  kExtEnd = 128,
  kCustomBegin = 129
} MXNetTypeCode;

typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } v_type; /* DLDataType */
} MXNetValue;

typedef struct {
  const char* data;
  size_t size;
} MXNetByteArray;

typedef void* MXNetFunctionHandle;
typedef void* MXNetObjectHandle;

/* Names live as long as the process, as do the functions. An unknown name gives a null handle. */
MXNET_DLL int MXNetFuncListGlobalNames(int* out_size, const char*** out_array);
MXNET_DLL int MXNetFuncGetGlobal(const char* name, MXNetFunctionHandle* out);
/* Functions that the library holds need not be freed; the call is accepted. */
MXNET_DLL int MXNetFuncFree(MXNetFunctionHandle func);
/* Objects and arrays in the result are the caller's to free. */
MXNET_DLL int MXNetFuncCall(MXNetFunctionHandle func, MXNetValue* arg_values, int* type_codes,
                            int num_args, MXNetValue* ret_val, int* ret_type_code);
MXNET_DLL int MXNetObjectFree(MXNetObjectHandle obj);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_RUNTIME_C_RUNTIME_API_H_ */

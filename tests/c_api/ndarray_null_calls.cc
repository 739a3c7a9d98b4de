// SPDX-License-Identifier: Apache-2.0
// The functions of arrays with every pointer and handle null.
#include "null_calls.h"

#include "mxnet/c_api.h"

std::multimap<std::string, NullCall> ndarray_null_calls() {
  return {
      // clang-format off
      {"MXIsNumpyShape", [] { return MXIsNumpyShape(nullptr); }},
      {"MXNDArrayAt", [] { return MXNDArrayAt(nullptr, 1, nullptr); }},
      {"MXNDArrayAt64", [] { return MXNDArrayAt64(nullptr, 1, nullptr); }},
      {"MXNDArrayCallDLPackDeleter", [] { return MXNDArrayCallDLPackDeleter(nullptr); }},
      {"MXNDArrayCreate", [] { return MXNDArrayCreate(nullptr, 1, 1, 1, 1, nullptr); }},
      {"MXNDArrayCreateEx", [] { return MXNDArrayCreateEx(nullptr, 1, 1, 1, 1, 1, nullptr); }},
      {"MXNDArrayCreateEx64", [] { return MXNDArrayCreateEx64(nullptr, 1, 1, 1, 1, 1, nullptr); }},
      {"MXNDArrayCreateFromSharedMem", [] { return MXNDArrayCreateFromSharedMem(1, 1, nullptr, 1, 1, nullptr); }},
      {"MXNDArrayCreateFromSharedMemEx", [] { return MXNDArrayCreateFromSharedMemEx(1, 1, nullptr, 1, 1, nullptr); }},
      {"MXNDArrayCreateNone", [] { return MXNDArrayCreateNone(nullptr); }},
      {"MXNDArrayCreateSparseEx", [] { return MXNDArrayCreateSparseEx(1, nullptr, 1, 1, 1, 1, 1, 1, nullptr, nullptr, nullptr, nullptr); }},
      {"MXNDArrayCreateSparseEx64", [] { return MXNDArrayCreateSparseEx64(1, nullptr, 1, 1, 1, 1, 1, 1, nullptr, nullptr, nullptr, nullptr); }},
      {"MXNDArrayDetach", [] { return MXNDArrayDetach(nullptr, nullptr); }},
      {"MXNDArrayFromDLPack", [] { return MXNDArrayFromDLPack(nullptr, nullptr); }},
      {"MXNDArrayFromDLPackEx", [] { return MXNDArrayFromDLPackEx(nullptr, false, nullptr); }},
      {"MXNDArrayGetAuxNDArray", [] { return MXNDArrayGetAuxNDArray(nullptr, 1, nullptr); }},
      {"MXNDArrayGetAuxNDArray64", [] { return MXNDArrayGetAuxNDArray64(nullptr, 1, nullptr); }},
      {"MXNDArrayGetAuxType", [] { return MXNDArrayGetAuxType(nullptr, 1, nullptr); }},
      {"MXNDArrayGetAuxType64", [] { return MXNDArrayGetAuxType64(nullptr, 1, nullptr); }},
      {"MXNDArrayGetContext", [] { return MXNDArrayGetContext(nullptr, nullptr, nullptr); }},
      {"MXNDArrayGetDType", [] { return MXNDArrayGetDType(nullptr, nullptr); }},
      {"MXNDArrayGetData", [] { return MXNDArrayGetData(nullptr, nullptr); }},
      {"MXNDArrayGetDataNDArray", [] { return MXNDArrayGetDataNDArray(nullptr, nullptr); }},
      {"MXNDArrayGetGrad", [] { return MXNDArrayGetGrad(nullptr, nullptr); }},
      {"MXNDArrayGetGradState", [] { return MXNDArrayGetGradState(nullptr, nullptr); }},
      {"MXNDArrayGetShape", [] { return MXNDArrayGetShape(nullptr, nullptr, nullptr); }},
      {"MXNDArrayGetShapeEx", [] { return MXNDArrayGetShapeEx(nullptr, nullptr, nullptr); }},
      {"MXNDArrayGetShapeEx64", [] { return MXNDArrayGetShapeEx64(nullptr, nullptr, nullptr); }},
      {"MXNDArrayGetSharedMemHandle", [] { return MXNDArrayGetSharedMemHandle(nullptr, nullptr, nullptr); }},
      {"MXNDArrayGetStorageType", [] { return MXNDArrayGetStorageType(nullptr, nullptr); }},
      {"MXNDArrayLoad", [] { return MXNDArrayLoad(nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXNDArrayLoadFromBuffer", [] { return MXNDArrayLoadFromBuffer(nullptr, 1, nullptr, nullptr, nullptr, nullptr); }},
      {"MXNDArrayLoadFromRawBytes", [] { return MXNDArrayLoadFromRawBytes(nullptr, 1, nullptr); }},
      {"MXNDArrayReshape", [] { return MXNDArrayReshape(nullptr, 1, nullptr, nullptr); }},
      {"MXNDArrayReshape64", [] { return MXNDArrayReshape64(nullptr, 1, nullptr, false, nullptr); }},
      {"MXNDArraySave", [] { return MXNDArraySave(nullptr, 1, nullptr, nullptr); }},
      {"MXNDArraySaveRawBytes", [] { return MXNDArraySaveRawBytes(nullptr, nullptr, nullptr); }},
      {"MXNDArraySetGradState", [] { return MXNDArraySetGradState(nullptr, 1); }},
      {"MXNDArraySlice", [] { return MXNDArraySlice(nullptr, 1, 1, nullptr); }},
      {"MXNDArraySlice64", [] { return MXNDArraySlice64(nullptr, 1, 1, nullptr); }},
      {"MXNDArraySyncCheckFormat", [] { return MXNDArraySyncCheckFormat(nullptr, false); }},
      {"MXNDArraySyncCopyFromCPU", [] { return MXNDArraySyncCopyFromCPU(nullptr, nullptr, 1); }},
      {"MXNDArraySyncCopyFromNDArray", [] { return MXNDArraySyncCopyFromNDArray(nullptr, nullptr, 1); }},
      {"MXNDArraySyncCopyToCPU", [] { return MXNDArraySyncCopyToCPU(nullptr, nullptr, 1); }},
      {"MXNDArrayToDLPack", [] { return MXNDArrayToDLPack(nullptr, nullptr); }},
      {"MXNDArrayWaitToRead", [] { return MXNDArrayWaitToRead(nullptr); }},
      {"MXNDArrayWaitToWrite", [] { return MXNDArrayWaitToWrite(nullptr); }},
      {"MXSetIsNumpyShape", [] { return MXSetIsNumpyShape(1, nullptr); }},
      {"MXShallowCopyNDArray", [] { return MXShallowCopyNDArray(nullptr, nullptr); }},
      // clang-format on
  };
}

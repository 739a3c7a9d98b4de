// SPDX-License-Identifier: Apache-2.0
// The functions of executors and cached ops with every pointer and handle null.
#include "mxnet/c_api.h"
#include "null_calls.h"

std::multimap<std::string, NullCall> executor_null_calls() {
  return {
      // clang-format off
      {"MXCachedOpRegisterOpHook", [] { return MXCachedOpRegisterOpHook(nullptr, nullptr, false); }},
      {"MXCreateCachedOp", [] { return MXCreateCachedOp(nullptr, nullptr); }},
      {"MXCreateCachedOpEX", [] { return MXCreateCachedOpEX(nullptr, 0, nullptr, nullptr, nullptr, false); }},
      {"MXCreateCachedOpEx", [] { return MXCreateCachedOpEx(nullptr, 0, nullptr, nullptr, nullptr); }},
      {"MXExecutorBackward", [] { return MXExecutorBackward(nullptr, 0, nullptr); }},
      {"MXExecutorBackwardEx", [] { return MXExecutorBackwardEx(nullptr, 0, nullptr, 0); }},
      {"MXExecutorBind", [] { return MXExecutorBind(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr); }},
      {"MXExecutorBindEX", [] { return MXExecutorBindEX(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr); }},
      {"MXExecutorBindX", [] { return MXExecutorBindX(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr); }},
      {"MXExecutorForward", [] { return MXExecutorForward(nullptr, 0); }},
      {"MXExecutorFree", [] { return MXExecutorFree(nullptr); }},
      {"MXExecutorGetOptimizedSymbol", [] { return MXExecutorGetOptimizedSymbol(nullptr, nullptr); }},
      {"MXExecutorOutputs", [] { return MXExecutorOutputs(nullptr, nullptr, nullptr); }},
      {"MXExecutorPrint", [] { return MXExecutorPrint(nullptr, nullptr); }},
      {"MXExecutorReshape", [] { return MXExecutorReshape(0, 0, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXExecutorReshapeEx", [] { return MXExecutorReshapeEx(0, 0, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXExecutorSetMonitorCallback", [] { return MXExecutorSetMonitorCallback(nullptr, nullptr, nullptr); }},
      {"MXExecutorSetMonitorCallbackEX", [] { return MXExecutorSetMonitorCallbackEX(nullptr, nullptr, nullptr, false); }},
      {"MXExecutorSimpleBind", [] { return MXExecutorSimpleBind(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXExecutorSimpleBindEx", [] { return MXExecutorSimpleBindEx(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXExecutorSimpleBindEx64", [] { return MXExecutorSimpleBindEx64(nullptr, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }},
      {"MXFreeCachedOp", [] { return MXFreeCachedOp(nullptr); }},
      {"MXInvokeCachedOp", [] { return MXInvokeCachedOp(nullptr, 0, nullptr, nullptr, nullptr); }},
      {"MXInvokeCachedOpEx", [] { return MXInvokeCachedOpEx(nullptr, 0, nullptr, nullptr, nullptr, nullptr); }},
      // clang-format on
  };
}

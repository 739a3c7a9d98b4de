/* SPDX-License-Identifier: Apache-2.0
 * All headers as strict C99, and a C program's use of the engine, called from engine_test.cc. */
#include "headers_c99.h"

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "mxnet/c_predict_api.h"
#include "mxnet/ext/abi.h"
#include "mxnet/runtime/c_runtime_api.h"

static void add_one(void* run_context, void* param) {
  (void)run_context;
  *(int*)param += 1;
}

static void double_it(void* run_context, void* on_complete, void* param) {
  const MXEngineOnComplete done = *(MXEngineOnComplete*)on_complete;
  (void)run_context;
  *(int*)param *= 2;
  MXEngineComplete(&done, NULL);
}

int run_from_c(int start) {
  const MXContext cpu = {1, 0};
  EngineVarHandle var = NULL;
  int value = start;
  int failures = 0;
  failures += MXEngineNewVariable(&var) != 0;
  failures +=
      MXEnginePushSync(add_one, &value, NULL, &cpu, NULL, 0, &var, 1, NULL, 0, "add_one") != 0;
  failures += MXEnginePushAsync(double_it, &value, NULL, &cpu, NULL, 0, &var, 1, NULL, 0,
                                "double_it", false) != 0;
  failures += MXEngineWaitForVariable(var) != 0;
  failures += MXEngineDeleteVariable(var) != 0;
  return failures == 0 ? value : -1;
}

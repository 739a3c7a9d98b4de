/* SPDX-License-Identifier: Apache-2.0
 * Scheduling your own C functions: each says which variables it reads and writes, the engine finds
 * out what may run side by side. Here two fills run in any order, then their sum, which waits for
 * both. */
#include <mxnet/c_api_ext.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", MXGetLastError());
    exit(1);
  }
}

typedef struct {
  const double *left, *right;
  double* out;
} Task;

static void fill(void* run_context, void* param) {
  (void)run_context;
  *((Task*)param)->out = 21;
}

static void add(void* run_context, void* param) {
  Task* task = param;
  (void)run_context;
  *task->out = *task->left + *task->right;
}

int main(void) {
  double a = 0, b = 0, sum = 0;
  EngineVarHandle vars[3]; /* of a, b and sum */
  for (int i = 0; i < 3; ++i) check(MXEngineNewVariable(&vars[i]));

  MXContext cpu = {1, 0};
  Task fill_a = {NULL, NULL, &a}, fill_b = {NULL, NULL, &b}, add_both = {&a, &b, &sum};
  check(MXEnginePushSync(fill, &fill_a, NULL, &cpu, NULL, 0, &vars[0], 1, NULL, 0, "fill"));
  check(MXEnginePushSync(fill, &fill_b, NULL, &cpu, NULL, 0, &vars[1], 1, NULL, 0, "fill"));
  check(MXEnginePushSync(add, &add_both, NULL, &cpu, &vars[0], 2, &vars[2], 1, NULL, 0, "add"));
  check(MXEngineWaitForVariable(vars[2]));

  printf("%g + %g = %g\n", a, b, sum);
  for (int i = 0; i < 3; ++i) check(MXEngineDeleteVariable(vars[i]));
  check(MXNDArrayWaitAll());
  return sum == 42 ? 0 : 1;
}

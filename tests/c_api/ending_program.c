/* SPDX-License-Identifier: Apache-2.0
 * A plain C program with work in flight that ends in the way its argument names;
 * program_ends_test.cc looks at how that went. What it calls when the library has shut down may be
 * an error: it neither crashes nor hangs. */
#define _GNU_SOURCE
#include <mxnet/c_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call) ((call) == 0 ? (void)0 : fail(#call))
enum { kSide = 60, kArrays = 4, kCalls = 60, kForks = 4 };

static OpHandle g_dot, g_square;
static NDArrayHandle g_kept[kArrays];
static pthread_key_t g_key;
static int g_calls_when_unloaded;

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, MXGetLastError());
  _exit(3);
}

static NDArrayHandle made(void) {
  const uint32_t shape[2] = {kSide, kSide};
  static const float zeros[kSide * kSide];
  NDArrayHandle array = NULL;
  CHECK(MXNDArrayCreate(shape, 2, 1, 0, 0, &array));
  CHECK(MXNDArraySyncCopyFromCPU(array, zeros, kSide * kSide));
  return array;
}

static int multiplied(NDArrayHandle left, NDArrayHandle right, NDArrayHandle* result) {
  NDArrayHandle inputs[2] = {left, right}, *outputs = NULL;
  int count = 0;
  const int status = MXImperativeInvoke(g_dot, 2, inputs, &count, &outputs, 0, NULL, NULL);
  if (status == 0) *result = outputs[0];
  return status;
}

static void work(void) {
  CHECK(NNGetOpHandle("dot", &g_dot));
  CHECK(NNGetOpHandle("square", &g_square));
  for (int i = 0; i < kArrays; ++i) g_kept[i] = made();
  for (int i = 0; i < kCalls; ++i) {
    NDArrayHandle* place = &g_kept[i % kArrays];
    NDArrayHandle result = NULL;
    CHECK(multiplied(*place, g_kept[(i + 1) % kArrays], &result));
    CHECK(MXNDArrayFree(*place));
    *place = result;
  }
}

static void call_late(void) {
  NDArrayHandle array = NULL;
  const uint32_t shape[1] = {100};
  float values[100] = {0};
  if (g_dot != NULL && multiplied(g_kept[0], g_kept[1], &array) == 0) {
    MXNDArrayWaitToRead(array);
    MXNDArrayFree(array);
  }
  if (MXNDArrayCreate(shape, 1, 1, 0, 0, &array) == 0) {
    MXNDArraySyncCopyFromCPU(array, values, 100);
    MXNDArraySyncCopyToCPU(array, values, 100);
    MXNDArrayFree(array);
  }
  MXNDArrayWaitAll();
  MXRandomSeed(3);
}

static void free_late(void) {
  call_late();
  for (int i = 0; i < kArrays; ++i) MXNDArrayFree(g_kept[i]);
}

__attribute__((destructor)) static void when_unloaded(void) {
  if (g_calls_when_unloaded) free_late();
}

/* --- Threads that go on */

/* Squares, not products: OpenBLAS takes its tables away when the program ends, whoever is
 * multiplying then. */
static int squared(NDArrayHandle array, NDArrayHandle* result) {
  NDArrayHandle* outputs = NULL;
  int count = 0;
  const int status = MXImperativeInvoke(g_square, 1, &array, &count, &outputs, 0, NULL, NULL);
  if (status == 0) *result = outputs[0];
  return status;
}

static void* push_for_ever(void* unused) {
  NDArrayHandle array = made(), result = NULL;
  while (squared(array, &result) == 0) MXNDArrayFree(result);
  return unused;
}

static void* wait_for_ever(void* unused) {
  NDArrayHandle array = made(), result = NULL;
  while (squared(array, &result) == 0 && MXNDArrayWaitToRead(result) == 0) MXNDArrayFree(result);
  return unused;
}

static void start(void* (*body)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) != 0 || pthread_detach(thread) != 0) fail("thread");
}

static void start_threads(void) {
  start(push_for_ever);
  start(push_for_ever);
  start(wait_for_ever);
  usleep(3000);
}

static void call_when_thread_ends(void* unused) {
  (void)unused;
  call_late();
}

static void* end_with_a_key(void* unused) {
  NDArrayHandle result = NULL;
  pthread_setspecific(g_key, &g_key);
  if (multiplied(g_kept[0], g_kept[1], &result) == 0) MXNDArrayFree(result);
  return unused;
}

/* --- Operations and signals that end the program */

static void leave_quietly(void* context, void* unused) {
  (void)context, (void)unused;
  _exit(0);
}
static void leave(void* context, void* unused) {
  (void)context, (void)unused;
  exit(0);
}
static void leave_quickly(void* context, void* unused) {
  (void)context, (void)unused;
  quick_exit(0);
}

static void end_in_an_operation(EngineSyncFunc function) {
  int cpu[2] = {1, 0};
  CHECK(MXEnginePushSync(function, NULL, NULL, cpu, NULL, 0, NULL, 0, NULL, 0, NULL));
  for (;;) call_late();
}

static void end_in_a_handler(int signal) {
  (void)signal;
  _exit(0);
}

/* --- Children */

static void child_is_well(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail("child");
}

static void fork_and(void (*then)(void)) {
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      then();
      exit(0);
    }
    child_is_well(child);
  }
}
static void nothing(void) {}
static void execute(void) {
  execl("/bin/true", "true", (char*)NULL);
  _exit(9);
}
static void* fork_in_a_thread(void* unused) {
  fork_and(call_late);
  return unused;
}

static void profiled(void) {
  const char *names[] = {"profile_all", "filename"}, *values[] = {"1", "/dev/null"};
  CHECK(MXSetProcessProfilerConfig(2, names, values, NULL));
  CHECK(MXSetProcessProfilerState(1, 0, NULL));
}

static int ends_by(const char* way) {
  pthread_t thread;
  if (strcmp(way, "handlers") == 0) {
    atexit(call_late);
    work();
    atexit(free_late);
  } else if (strcmp(way, "destructor") == 0) {
    g_calls_when_unloaded = 1;
    work();
  } else if (strcmp(way, "shutdown") == 0) {
    work();
    CHECK(MXNotifyShutdown());
    call_late();
    CHECK(MXNotifyShutdown());
    free_late();
  } else if (strcmp(way, "shutdown_first") == 0) {
    CHECK(MXNotifyShutdown());
    work();
  } else if (strcmp(way, "quick_exit") == 0) {
    at_quick_exit(call_late);
    work();
    start_threads();
    quick_exit(0);
  } else if (strcmp(way, "operation_leaves_quietly") == 0) {
    work();
    end_in_an_operation(leave_quietly);
  } else if (strcmp(way, "operation_leaves") == 0) {
    work();
    atexit(call_late);
    end_in_an_operation(leave);
  } else if (strcmp(way, "operation_leaves_quickly") == 0) {
    work();
    end_in_an_operation(leave_quickly);
  } else if (strcmp(way, "threads") == 0) {
    work();
    start_threads();
  } else if (strcmp(way, "threads_and_handlers") == 0) {
    atexit(call_late);
    g_calls_when_unloaded = 1;
    work();
    start_threads();
  } else if (strcmp(way, "end_of_a_thread") == 0) {
    pthread_key_create(&g_key, call_when_thread_ends);
    work();
    if (pthread_create(&thread, NULL, end_with_a_key, NULL) != 0 || pthread_join(thread, NULL) != 0)
      fail("thread");
  } else if (strcmp(way, "signal") == 0) {
    work();
    signal(SIGALRM, end_in_a_handler);
    ualarm(2000, 0);
    for (;;) call_late();
  } else if (strcmp(way, "children") == 0) {
    fork_and(work);
    work();
    fork_and(nothing);
    fork_and(call_late);
    fork_and(execute);
  } else if (strcmp(way, "children_of_threads") == 0) {
    work();
    start(push_for_ever);
    if (pthread_create(&thread, NULL, fork_in_a_thread, NULL) != 0 ||
        pthread_join(thread, NULL) != 0)
      fail("thread");
  } else if (strcmp(way, "another_program") == 0) {
    work();
    start_threads();
    execute();
  } else if (strcmp(way, "profiled") == 0) {
    profiled();
    atexit(call_late);
    work();
    start_threads();
  } else {
    fail("given a way that is not known");
  }
  return 0;
}

int main(int count, char** arguments) {
  alarm(200);
  return count == 2 ? ends_by(arguments[1]) : 2;
}

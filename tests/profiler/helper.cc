// SPDX-License-Identifier: Apache-2.0
// A program that uses the library through its C ABI and ends in some way; process_test looks at
// the trace it leaves. Arguments: how it ends (exit, or the name of the signal that ends it in the
// middle of its work), then "run" if it starts the profiler itself, or "graph" if it runs one too.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "hang.h"
#include "mxnet/c_api.h"

namespace {

void check(int result) {
  if (result == 0) return;
  std::fprintf(stderr, "%s\n", MXGetLastError());
  std::exit(3);
}

void work(int times) {
  const uint32_t shape[] = {8};
  for (int i = 0; i < times; ++i) {
    NDArrayHandle array = nullptr;
    check(MXNDArrayCreateEx(shape, 1, 1, 0, 0, 0, &array));
    AtomicSymbolCreator add = nullptr;
    check(NNGetOpHandle("_plus_scalar", &add));
    const char *key = "scalar", *value = "1";
    int count = 0;
    NDArrayHandle* outputs = nullptr;
    check(MXImperativeInvoke(add, 1, &array, &count, &outputs, 1, &key, &value));
    NDArrayHandle result = outputs[0];
    check(MXNDArrayWaitToRead(result));
    check(MXNDArrayFree(result));
    check(MXNDArrayFree(array));
  }
}

// A graph that runs once.
void run_graph() {
  SymbolHandle data = nullptr, net = nullptr;
  check(MXSymbolCreateVariable("data", &data));
  AtomicSymbolCreator op = nullptr;
  check(NNGetOpHandle("softmax", &op));
  check(MXSymbolCreateAtomicSymbol(op, 0, nullptr, nullptr, &net));
  check(MXSymbolCompose(net, "net", 1, nullptr, &data));
  const uint32_t shape[] = {8};
  NDArrayHandle array = nullptr;
  check(MXNDArrayCreateEx(shape, 1, 1, 0, 0, 0, &array));
  uint32_t no_gradient = 0;
  ExecutorHandle executor = nullptr;
  check(MXExecutorBind(net, 1, 0, 1, &array, nullptr, &no_gradient, 0, nullptr, &executor));
  check(MXExecutorForward(executor, 0));
  check(MXNDArrayWaitAll());
  check(MXExecutorFree(executor));
  check(MXNDArrayFree(array));
  check(MXSymbolFree(net));
  check(MXSymbolFree(data));
}

// Of the signal that the ending is named after; 0 for an exit.
int signal_of(const std::string& ending) {
  if (ending == "kill") return SIGKILL;
  if (ending == "segv") return SIGSEGV;
  return ending == "abort" ? SIGABRT : 0;
}

// Until the file in the working directory shows some of our work.
void await_trace() {
  for (;;) {
    std::ifstream file("profile.json");
    std::stringstream text;
    text << file.rdbuf();
    if (text.str().find("MXNDArrayCreateEx") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  mxnet::end_if_it_hangs();
  const std::string ending = argv[1];
  const std::string more = argc > 2 ? argv[2] : "";
  if (more == "run") check(MXSetProfilerState(1));
  if (more == "graph") run_graph();
  work(100);
  if (const int signal = signal_of(ending); signal != 0) {
    await_trace();
    std::thread([] {
      for (;;) work(10);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the killed are hit at any moment
    ::raise(signal);
  }
  check(MXNotifyShutdown());
  return 0;
}

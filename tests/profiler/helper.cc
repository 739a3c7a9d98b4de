// SPDX-License-Identifier: Apache-2.0
// A program that uses the library through its C ABI and ends in some way; process_test looks at
// the trace it leaves. Arguments: how it ends (exit, kill), then "run" if it starts the profiler
// itself.
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
  ::alarm(100);
  const std::string ending = argv[1];
  if (argc > 2) check(MXSetProfilerState(1));
  work(100);
  if (ending == "kill") {
    await_trace();
    std::thread([] {
      for (;;) work(10);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the killed are hit at any moment
    ::raise(SIGKILL);
  }
  check(MXNotifyShutdown());
  return 0;
}

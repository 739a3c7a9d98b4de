// SPDX-License-Identifier: Apache-2.0
// Run by openmp_environment_test.cc with variables set: links the library as any program does,
// starts it, and prints the width of an OpenMP region on the main thread and in an engine
// operation, and the CPUs that the region's threads may use.
#include <mxnet/c_api.h>
#include <mxnet/c_api_ext.h>
#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <string>

namespace {

std::string allowed_cpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  std::string cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus += (cpus.empty() ? "" : "+") + std::to_string(cpu);
  }
  return cpus;
}

void print_region(const char* where) {
  std::string places[64];
  int width = 0;
#pragma omp parallel
  {
    places[omp_get_thread_num()] = allowed_cpus();
#pragma omp single
    width = omp_get_num_threads();
  }
  std::printf("%s %d", where, width);
  for (int i = 0; i < width; ++i) std::printf(" %s", places[i].c_str());
  std::printf("\n");
}

}  // namespace

int main() {
  int version = 0;
  if (MXGetVersion(&version) != 0) {
    std::fprintf(stderr, "%s\n", MXGetLastError());
    return 1;
  }
  print_region("main");
  EngineVarHandle variable = nullptr;
  MXEngineNewVariable(&variable);
  const MXContext cpu = {1, 0};
  MXEnginePushSync([](void*, void*) { print_region("operation"); }, nullptr, nullptr, &cpu, nullptr,
                   0, &variable, 1, nullptr, 0, "region");
  const int failed = MXEngineWaitForVariable(variable);
  MXEngineDeleteVariable(variable);
  MXNotifyShutdown();
  return failed;
}

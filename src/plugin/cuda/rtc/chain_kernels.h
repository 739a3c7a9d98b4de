// SPDX-License-Identifier: Apache-2.0
// Kernels of chains, compiled in the background: until one is there, and wherever one cannot be,
// the caller runs the operators one by one.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/config_sections.h"
#include "base/lock.h"
#include "plugin/cuda/rtc/chain_source.h"
#include "plugin/cuda/rtc/compile_queue.h"
#include "plugin/cuda/rtc/compiler.h"

namespace mxnet::cuda {

// The code of one chain for one architecture. `code` may be read once state is kReady.
struct ChainKernel {
  enum class State : uint8_t { kCompiling, kReady, kFailed };

  int gpu = 0;  // compute capability
  ChainSource source;
  CompiledCode code;
  // Release by the compiling thread, acquire by readers: publishes `code`.
  mutable std::atomic<State> state{State::kCompiling};

  // What the launching side has made of `code`; null before the first launch.
  mutable Mutex loading;
  mutable void* function MX_GUARDED_BY(loading) = nullptr;
};

// How to compile for a GPU of compute capability `gpu` with a toolkit that knows `known`
// (ascending): machine code where it knows that very one, else PTX for the newest that it knows
// below, which the driver compiles. Throws Error(kNotImplemented) for a GPU older than all.
struct CompileTarget {
  int architecture;
  bool ptx;
};
CompileTarget compile_target(int gpu, const std::vector<int>& known);

// Thread-safe. Kernels live as long as this.
class ChainKernels {
 public:
  using Compile = std::function<CompiledCode(const CompileRequest&)>;

  ChainKernels(const CudaConfig& config, Compile compile)
      : config_(config), compile_(std::move(compile)) {}
  // The process's own; compiles through the disk cache. Watches the calling thread.
  static ChainKernels& get();
  // NVRTC is loaded while the process runs, so that what it takes down at exit goes before anything
  // of ours does, and a compilation under way would crash. The end of a thread comes before both:
  // that of an engine's worker, which a shutdown of the engine waits for, and at exit that of the
  // main thread. Neither leaves a compilation under way.
  static void watch_this_thread();

  // The kernel for a chain on GPUs of compute capability `gpu`, to be compiled if it is new. Null
  // for chains that cannot be one kernel. Asking again for the same chain costs the making of its
  // source: callers keep what they got.
  const ChainKernel* find(const PointwiseChain& chain, const std::vector<ChainInput>& inputs,
                          int gpu);
  // For whoever finds a kernel that is still being compiled: goes on after the end of a thread.
  void go_on() { queue_.go_on(); }
  // For whoever finds that the driver does not take the code of a kernel: it is none from now on.
  void give_up(const ChainKernel& kernel, const std::exception& why);
  void pause(bool for_good) { queue_.pause(for_good); }
  // Waits until nothing is being compiled.
  void drain() { queue_.drain(); }

 private:
  void compile(ChainKernel* kernel, int gpu);
  void refuse(const PointwiseChain& chain, const ChainRefusal& refusal);

  const CudaConfig& config_;
  const Compile compile_;
  Mutex mutex_;
  std::map<std::pair<int, std::string>, std::unique_ptr<ChainKernel>> kernels_
      MX_GUARDED_BY(mutex_);
  std::atomic<bool> said_failure_{false}, said_size_{false};
  CompileQueue queue_;  // last: it is stopped before the rest goes
};

}  // namespace mxnet::cuda

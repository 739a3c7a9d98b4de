// SPDX-License-Identifier: Apache-2.0
// Looking up, compiling, and what is said about it.
#include "plugin/cuda/rtc/chain_kernels.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/cuda/rtc/nvrtc.h"

namespace mxnet::cuda {
namespace {

std::atomic<ChainKernels*> g_kernels{nullptr};  // the process's own

class EndOfThread {
 public:
  ~EndOfThread() {
    const bool is_main = ::gettid() == ::getpid();
    if (ChainKernels* const kernels = g_kernels.load()) kernels->pause(is_main);
  }
};

struct EndOfProcess {
  ~EndOfProcess() { g_kernels.load()->pause(true); }
};

}  // namespace

CompileTarget compile_target(int gpu, const std::vector<int>& known) {
  const auto above = std::upper_bound(known.begin(), known.end(), gpu);
  if (above == known.begin()) {
    throw Error(ErrorCode::kNotImplemented, "rtc",
                fmt::format("given a GPU of compute capability {}.{}, expected at least {}.{}, the "
                            "oldest that this NVRTC compiles for",
                            gpu / 10, gpu % 10, known.empty() ? 0 : known[0] / 10,
                            known.empty() ? 0 : known[0] % 10));
  }
  return {*(above - 1), *(above - 1) != gpu};
}

ChainKernels& ChainKernels::get() {
  static ChainKernels& kernels = []() -> ChainKernels& {
    auto* const made = new ChainKernels(config().cuda, compile_cached);  // never destroyed
    g_kernels = made;
    static const EndOfProcess end;
    return *made;
  }();
  watch_this_thread();
  return kernels;
}

void ChainKernels::watch_this_thread() {
  thread_local const EndOfThread end;
  static_cast<void>(end);
}

const ChainKernel* ChainKernels::find(const PointwiseChain& chain,
                                      const std::vector<ChainInput>& inputs, int gpu) {
  ChainRefusal refusal;
  std::optional<ChainSource> source = chain_source(chain, inputs, &refusal);
  if (!source) {
    refuse(chain, refusal);
    return nullptr;
  }
  ChainKernel* kernel;
  {
    MutexLock lock(mutex_);
    std::unique_ptr<ChainKernel>& slot = kernels_[{gpu, source->text}];
    if (slot != nullptr) return slot.get();
    slot = std::make_unique<ChainKernel>();
    slot->gpu = gpu;
    slot->source = std::move(*source);
    kernel = slot.get();
  }
  if (config_.rtc_verbose) {
    const std::string_view text = kernel->source.text;
    log(LogLevel::kInfo,
        fmt::format("rtc: {} for compute capability {}.{}:\n{}", chain.title, gpu / 10, gpu % 10,
                    text.substr(std::string_view(chain_prelude()).size())));
  }
  queue_.push([this, kernel, gpu] { compile(kernel, gpu); });
  return kernel;
}

void ChainKernels::compile(ChainKernel* kernel, int gpu) {
  try {
    const CompileTarget target = compile_target(gpu, Nvrtc::get().architectures());
    // Fused and unfused results are the same bits: a product and a sum of two operators are two
    // operations.
    kernel->code = compile_({.source = kernel->source.text,
                             .name = "chain.cu",
                             .architecture = target.architecture,
                             .options = {"--fmad=false"},
                             .exports = {},
                             .ptx = target.ptx});
    kernel->state.store(ChainKernel::State::kReady, std::memory_order_release);
  } catch (const std::exception& error) {
    give_up(*kernel, error);
  }
}

void ChainKernels::give_up(const ChainKernel& kernel, const std::exception& why) {
  kernel.state.store(ChainKernel::State::kFailed, std::memory_order_release);
  if (!said_failure_.exchange(true))
    log(LogLevel::kWarning,
        fmt::format("rtc: chains of operators run one by one where they cannot be compiled: {}",
                    why.what()));
}

void ChainKernels::refuse(const PointwiseChain& chain, const ChainRefusal& refusal) {
  if (!refusal.too_many_arrays || !config_.rtc_size_warning || said_size_.exchange(true)) return;
  log(LogLevel::kWarning,
      fmt::format("rtc: {} runs one operator after the other: {} (MXNET_RTC_SIZE_WARNING=0 hides "
                  "this)",
                  chain.title, refusal.reason));
}

}  // namespace mxnet::cuda

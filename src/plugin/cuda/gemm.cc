// SPDX-License-Identifier: Apache-2.0
// The product primitive, by cuBLASLt. What a product of some sizes runs by is found once a device
// and kept: asking takes longer than a small product.
#include <map>
#include <utility>

#include "base/config.h"
#include "base/lock.h"
#include "plugin/cuda/blas/cublaslt.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what Hopper's kernels ask for
constexpr std::size_t kMostPlans = 1024;                   // sequences of any length make new ones

// The products of one device. Thread-safe: a plan holds the address of the bias while it is
// launched, so that launches take turns; each is a few microseconds.
class Products {
 public:
  Products() {
    const CublasLt& blas = CublasLt::get();
    blas.check(blas.create(&handle_), "cublasLtCreate");
  }
  // Of the current device; lives as long as the process.
  static Products& current() {
    int device = 0;
    MX_CUDA_CALL(cudaGetDevice(&device));
    static Mutex mutex;
    static auto* const all = new std::map<int, Products>;
    MutexLock lock(mutex);
    return (*all)[device];
  }

  void run(const GemmShape& shape, const GemmRequest& request, const GemmCall& call,
           KernelContext& context, cudaStream_t stream) {
    MutexLock lock(mutex_);
    GemmPlan& plan = plan_of({shape, request});
    const std::size_t bytes = plan.workspace_bytes();
    plan.run(handle_, call.alpha, call.a, call.b, 0.0, call.c, call.bias,
             bytes == 0 ? nullptr : context.workspace(bytes), stream);
  }

 private:
  using Key = std::pair<GemmShape, GemmRequest>;

  GemmPlan& plan_of(const Key& key) MX_REQUIRES(mutex_) {
    if (const auto it = plans_.find(key); it != plans_.end()) return it->second;
    if (plans_.size() == kMostPlans) plans_.clear();
    return plans_
        .try_emplace(key, handle_, key.first, gemm_choice(config().cuda, key.second), kWorkspace)
        .first->second;
  }

  Mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, GemmPlan> plans_ MX_GUARDED_BY(mutex_);
};

// The largest power of two, up to what cuBLASLt cares for, that divides all addresses.
uint32_t alignment(const GemmCall& call) {
  const auto bits = reinterpret_cast<uintptr_t>(call.a) | reinterpret_cast<uintptr_t>(call.b) |
                    reinterpret_cast<uintptr_t>(call.c) | 256;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

}  // namespace

void gemm(NativeStream* stream, const GemmCall& call, KernelContext& context) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  const LaunchScope scope(stream);
  const GemmShape shape{.m = call.m,
                        .n = call.n,
                        .k = call.k,
                        .transpose_a = call.transpose_a,
                        .transpose_b = call.transpose_b,
                        .lda = call.lda,
                        .ldb = call.ldb,
                        .ldc = call.ldc,
                        .batch = call.batch,
                        .stride_a = call.step_a,
                        .stride_b = call.step_b,
                        .stride_c = call.step_c,
                        .alignment = alignment(call)};
  const GemmRequest request{
      .dtype = call.dtype, .bias = call.bias != nullptr, .fully_connected = call.fully_connected};
  Products::current().run(shape, request, call, context, scope.stream());
}

}  // namespace mxnet::cuda

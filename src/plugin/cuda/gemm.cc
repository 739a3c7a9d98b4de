// SPDX-License-Identifier: Apache-2.0
// The product primitive, by cuBLASLt. What a product of some sizes runs by is found once a device
// and kept: asking takes longer than a small product.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/lock.h"
#include "plugin/cuda/blas/cublaslt.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/device_guard.h"
#include "plugin/cuda/dnn/trial_memory.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/of_device.h"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/product_steps.h"
#include "plugin/cuda/tensor_cores.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what Hopper's kernels ask for
constexpr std::size_t kMostPlans = 1024;                   // sequences of any length make new ones
// Of int8: what cuBLASLt asks of sizes and addresses where arrays lie in the ordinary order
// (cublasLtMatmul, "To use IMMA kernels"), and the longest row whose sum cannot leave int32.
constexpr int64_t kByteUnit = 4, kMostBytes = (int64_t{1} << 31) / (128 * 128) - 1;
// Of a batch, in one call: kernels count it by a grid's third coordinate, which ends at 65535, and
// cuBLASLt does not say which of them split what is larger. A power of two, so that each piece
// begins as aligned as the first.
constexpr int64_t kMostInBatch = 32768;

struct Launch {
  KernelContext& context;
  cudaStream_t stream;
  TrialMemory& memory;  // of the pieces of a large batch, in turn
};

// The products of one device. Thread-safe: a plan holds the address of the bias while it is
// launched, so that launches take turns; each is a few microseconds.
class Products {
 public:
  Products() {
    const CublasLt& blas = CublasLt::get();
    blas.check(blas.create(&handle_), "cublasLtCreate");
  }
  // False where what comes behind the product is still to be done: not all types have it as an
  // epilogue.
  bool run(const GemmShape& shape, const GemmRequest& request, const GemmCall& call,
           const ProductSteps& steps, const Launch& on) {
    const Key key{shape, gemm_choice(config().cuda, request)};
    const void* const vector = steps.sums_a != nullptr ? steps.sums_a : call.bias;
    const Plan found = plan_for(key, vector);
    try {
      launch(found, call, vector, on);
      return found.whole;
    } catch (const Error& error) {
      if (!found.whole || error.code() != ErrorCode::kNotImplemented) throw;
    }
    launch(plan_without_epilogue(key), call, nullptr, on);  // it was offered, and is refused
    return false;
  }
  // The product alone. Throws Error(kNotImplemented) where there is none of these sizes.
  void run_alone(const GemmShape& shape, const GemmChoice& choice, const GemmCall& call,
                 const Launch& on) {
    launch(plan_for({shape, choice}, nullptr), call, nullptr, on);
  }

 private:
  // Variables may change while a program runs: what they choose is part of the key.
  using Key = std::pair<GemmShape, GemmChoice>;
  struct Plan {
    std::shared_ptr<GemmPlan> plan;  // the table may forget it meanwhile
    bool whole;                      // with its epilogue
    bool lasts;                      // nothing better was missed for a reason that may pass
  };

  void launch(const Plan& found, const GemmCall& call, const void* vector, const Launch& on) {
    // Asked for while nothing is locked: a full device makes whoever asks wait for others.
    on.memory.rewind();
    void* const workspace = on.memory.take(found.plan->workspace_bytes(), [&](std::size_t bytes) {
      return on.context.workspace(bytes);
    });
    MutexLock lock(mutex_);
    found.plan->run(handle_, call.alpha, call.a, call.b, 0.0, call.c,
                    found.whole ? vector : nullptr, workspace, on.stream);
  }
  Plan plan_without_epilogue(const Key& key) {
    Key bare = key;
    bare.second.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    MutexLock lock(mutex_);
    return plans_.insert_or_assign(key, make_plan(bare, nullptr)).first->second;
  }
  Plan plan_for(const Key& key, const void* vector) {
    MutexLock lock(mutex_);
    if (const auto it = plans_.find(key); it != plans_.end()) return it->second;
    Plan made = make_plan(key, vector);
    if (!made.lasts) return made;
    if (plans_.size() == kMostPlans) plans_.clear();
    return plans_.emplace(key, std::move(made)).first->second;
  }
  Plan make_plan(Key key, const void* vector) const {
    bool lasts = true;
    const auto make = [&](const void* with) {
      return std::make_shared<GemmPlan>(handle_, key.first, key.second, kWorkspace, with);
    };
    if (!key.second.bare()) {
      try {
        return {make(vector), true, true};
      } catch (const Error& error) {  // the product alone may exist
        lasts = error.code() == ErrorCode::kNotImplemented;
        key.second.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
      }
    }
    try {
      return {make(nullptr), false, lasts};
    } catch (const Error& error) {
      const std::optional<GemmChoice> wider = with_tensor_cores(key.second);
      if (!wider || error.code() != ErrorCode::kNotImplemented) throw;
      say_tensor_cores_all_the_same(error);
      key.second = *wider;
    }
    return {make(nullptr), false, lasts};
  }

  Mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, Plan> plans_ MX_GUARDED_BY(mutex_);
};

// The largest power of two, up to what cuBLASLt cares for, that divides all addresses.
uint32_t alignment(const GemmCall& call, const ProductSteps& steps) {
  uintptr_t bits = 256;
  for (const void* array : {call.a, call.b, static_cast<const void*>(call.c), call.bias,
                            static_cast<const void*>(steps.sums_a)})
    bits |= reinterpret_cast<uintptr_t>(array);
  return static_cast<uint32_t>(bits & (~bits + 1));
}

GemmShape shape_of(const GemmCall& call, const ProductSteps& steps) {
  return {.m = call.m,
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
          .alignment = alignment(call, steps)};
}

// Sums of nothing.
void clear_results(const GemmCall& call, cudaStream_t stream) {
  const std::size_t element = dtype_size(call.dtype),
                    row = static_cast<std::size_t>(call.n) * element;
  for (int64_t i = 0; i < call.batch; ++i) {
    void* const first =
        static_cast<char*>(call.c) + static_cast<std::size_t>(i * call.step_c) * element;
    MX_CUDA_CALL(cudaMemset2DAsync(first, static_cast<std::size_t>(call.ldc) * element, 0, row,
                                   static_cast<std::size_t>(call.m), stream));
  }
}

void multiply(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
              KernelContext& context, TrialMemory& memory) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  const LaunchScope scope(stream);
  if (call.k == 0 || call.alpha == 0) {  // of NaN, too, as BLAS has it
    clear_results(call, scope.stream());
    finish_product(stream, call, steps, context);
    return;
  }
  const Launch on{context, scope.stream(), memory};
  const GemmShape shape = shape_of(call, steps);
  const GemmRequest request{.dtype = call.dtype,
                            .bias = call.bias != nullptr,
                            .relu = steps.relu,
                            .sums_a = steps.sums_a != nullptr,
                            .fully_connected = call.fully_connected};
  if (!of_current_device<Products>().run(shape, request, call, steps, on))
    finish_product(stream, call, steps, context);
}

}  // namespace

bool are_bytes_for_tensor_cores(int64_t n, int64_t k) {
  return config().cuda.allow_tensor_core && n > 0 && n % kByteUnit == 0 && k > 0 &&
         k % kByteUnit == 0 && k <= kMostBytes;
}

bool multiply_bytes(NativeStream* stream, const GemmCall& call, KernelContext& context) {
  if (call.m == 0 || call.n == 0) return true;
  const GemmShape shape = shape_of(call, {});
  if (shape.alignment < kByteUnit) return false;
  const LaunchScope scope(stream);
  TrialMemory memory;
  try {
    of_current_device<Products>().run_alone(shape, kBytesChoice, call,
                                            {context, scope.stream(), memory});
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotImplemented) throw;
    return false;
  }
}

void gemm_with(NativeStream* stream, const GemmCall& call, const ProductSteps& steps,
               KernelContext& context) {
  const auto element = static_cast<int64_t>(dtype_size(call.dtype));
  TrialMemory memory;
  GemmCall piece = call;
  for (int64_t first = 0; first < call.batch; first += kMostInBatch) {
    const int64_t bytes = first * element;
    piece.batch = std::min(call.batch - first, kMostInBatch);
    piece.a = static_cast<const char*>(call.a) + bytes * call.step_a;
    piece.b = static_cast<const char*>(call.b) + bytes * call.step_b;
    piece.c = static_cast<char*>(call.c) + bytes * call.step_c;
    multiply(stream, piece, steps, context, memory);
  }
}

}  // namespace mxnet::cuda

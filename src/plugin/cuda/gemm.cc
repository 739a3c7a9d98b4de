// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt. It counts columns first: a row-major product c = a b is its c' = b'
// a', so that both matrices change places and nothing is transposed.
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/half.h"
#include "base/lock.h"
#include "plugin/cuda/cublas_lt.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what Hopper's kernels ask for

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::kGeneric, "cublasLt",
              fmt::format("{} failed with status {}", call, static_cast<int>(status)));
}

// One a device, made when first used and never destroyed.
cublasLtHandle_t handle_of_current_device() {
  int device = 0;
  cudaGetDevice(&device);
  static Mutex mutex;
  static std::map<int, cublasLtHandle_t>* const handles = new std::map<int, cublasLtHandle_t>;
  MutexLock lock(mutex);
  cublasLtHandle_t& handle = (*handles)[device];
  if (handle == nullptr) check(CublasLt::get().create(&handle), "cublasLtCreate");
  return handle;
}

// Owners of descriptions.
class Operation {
 public:
  Operation(const CublasLt& lt, const GemmTypes& types) : lt_(lt) {
    check(lt.desc_create(&desc_, types.compute, types.scale), "cublasLtMatmulDescCreate");
  }
  ~Operation() { lt_.desc_destroy(desc_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value) {
    check(lt_.desc_set(desc_, name, &value, sizeof(T)), "cublasLtMatmulDescSetAttribute");
  }
  cublasLtMatmulDesc_t get() const { return desc_; }

 private:
  const CublasLt& lt_;
  cublasLtMatmulDesc_t desc_ = nullptr;
};

class Layout {
 public:
  Layout(const CublasLt& lt, cudaDataType_t type, int64_t rows, int64_t columns, int64_t leading,
         int64_t batch, int64_t step)
      : lt_(lt) {
    check(lt.layout_create(&layout_, type, static_cast<uint64_t>(rows),
                           static_cast<uint64_t>(columns), leading),
          "cublasLtMatrixLayoutCreate");
    if (batch == 1) return;
    const auto count = static_cast<int32_t>(batch);
    check(lt.layout_set(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
          "batch count");
    check(lt.layout_set(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof(step)),
          "batch offset");
  }
  ~Layout() {
    if (layout_ != nullptr) lt_.layout_destroy(layout_);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  const CublasLt& lt_;
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Preference {
 public:
  explicit Preference(const CublasLt& lt) : lt_(lt) {
    check(lt.preference_create(&preference_), "cublasLtMatmulPreferenceCreate");
    check(lt.preference_set(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                            sizeof(kWorkspace)),
          "workspace limit");
  }
  ~Preference() { lt_.preference_destroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  const CublasLt& lt_;
  cublasLtMatmulPreference_t preference_ = nullptr;
};

// A number of the type that scales have.
class Scale {
 public:
  Scale(cudaDataType_t type, double value) {
    if (type == CUDA_R_64F)
      number_.real64 = value;
    else if (type == CUDA_R_16F)
      number_.real16 = float16(static_cast<float>(value));
    else
      number_.real32 = static_cast<float>(value);
  }
  const void* get() const { return &number_; }

 private:
  union {
    double real64;
    float real32;
    float16 real16;
  } number_;
};

}  // namespace

void gemm(NativeStream* stream, const GemmCall& call, KernelContext& context) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  const CublasLt& lt = CublasLt::get();
  const GemmTypes types = gemm_types(call.dtype, config().cuda);
  const LaunchScope scope(stream);
  Operation operation(lt, types);
  const cublasOperation_t op_a = call.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = call.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  operation.set(CUBLASLT_MATMUL_DESC_TRANSA, op_b);  // the places change
  operation.set(CUBLASLT_MATMUL_DESC_TRANSB, op_a);
  if (call.bias != nullptr) {
    operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
  }
  const auto layout = [&](int64_t rows, int64_t columns, int64_t leading, int64_t step) {
    return Layout(lt, types.data, columns, rows, leading, call.batch, step);
  };
  const Layout a = call.transpose_a ? layout(call.k, call.m, call.lda, call.step_a)
                                    : layout(call.m, call.k, call.lda, call.step_a);
  const Layout b = call.transpose_b ? layout(call.n, call.k, call.ldb, call.step_b)
                                    : layout(call.k, call.n, call.ldb, call.step_b);
  const Layout c = layout(call.m, call.n, call.ldc, call.step_c);
  const cublasLtHandle_t handle = handle_of_current_device();
  const Preference preference(lt);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  check(lt.heuristic(handle, operation.get(), b.get(), a.get(), c.get(), c.get(), preference.get(),
                     1, &found, &count),
        "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0) {
    throw Error(ErrorCode::kNotImplemented, "gemm",
                fmt::format("given a product of {} x {} x {} in {}, for which cuBLASLt has no "
                            "algorithm",
                            call.m, call.n, call.k, dtype_name(call.dtype)));
  }
  const Scale alpha(types.scale, call.alpha), beta(types.scale, 0.0);
  void* workspace = found.workspaceSize == 0 ? nullptr : context.workspace(found.workspaceSize);
  check(lt.matmul(handle, operation.get(), alpha.get(), call.b, b.get(), call.a, a.get(),
                  beta.get(), call.c, c.get(), call.c, c.get(), &found.algo, workspace,
                  found.workspaceSize, scope.stream()),
        "cublasLtMatmul");
}

}  // namespace mxnet::cuda

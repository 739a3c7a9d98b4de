// SPDX-License-Identifier: Apache-2.0
// cuBLASLt as its documentation has it, in host memory: by its name it is the library that the
// plug-in opens, so that descriptors, column-major layouts, epilogues, plans and their keys are
// tested without a GPU. It is strict about what the real one leaves to its caller: alignments that
// were promised, types that go together, workspace.
#include "fake_cublaslt.h"

#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "plugin/cuda/elements.cuh"

namespace {

struct Operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* vector = nullptr;
};
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, leading;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D
};
struct Algorithm {
  uint64_t magic;
  uint32_t alignment;
  uint32_t workspace;
};
constexpr uint64_t kMagic = 0x6d617463686564;  // an algorithm that a search has found
constexpr uint32_t kWorkspace = 512;
constexpr int32_t kMostInBatch = 65535;  // of a grid's third coordinate
constexpr int64_t kByteUnit = 4;         // of sizes and addresses of products of int8

struct State {
  std::mutex mutex;
  fake_cublaslt::Counts counts;
  cublasStatus_t failure = CUBLAS_STATUS_SUCCESS;
  int failures = 0;
  bool with_epilogue_alone = false, halves_on_tensor_cores_alone = false, no_epilogues = false;
  bool no_bytes = false;
};
State& state() {
  static auto* const kept = new State;
  return *kept;
}

template <class Real>
const Operation& operation(Real* handle) {
  return *reinterpret_cast<const Operation*>(handle);
}
template <class Real>
const Layout& layout(Real* handle) {
  return *reinterpret_cast<const Layout*>(handle);
}
template <class T>
cublasStatus_t read(const void* from, std::size_t bytes, T* to) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool is_half(cudaDataType_t type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }
bool is_pedantic(cublasComputeType_t compute) {
  return compute == CUBLAS_COMPUTE_32F_PEDANTIC || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
}
// The types of which there are products.
bool go_together(const Operation& op, cudaDataType_t elements) {
  switch (op.compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return op.scale == CUDA_R_64F && elements == CUDA_R_64F;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return op.scale == CUDA_R_16F && elements == CUDA_R_16F;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return op.scale == CUDA_R_32F && elements == CUDA_R_32F;
    case CUBLAS_COMPUTE_32I:
      return op.scale == CUDA_R_32I && elements == CUDA_R_8I;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return op.scale == CUDA_R_32F && (elements == CUDA_R_32F || is_half(elements));
    default:
      return false;
  }
}

struct Sizes {
  int64_t m, n, k;
};
// False where the layouts are of no product.
bool sizes_of(const Operation& op, const Layout& a, const Layout& b, const Layout& d, Sizes* out) {
  const bool ta = op.transpose_a == CUBLAS_OP_T, tb = op.transpose_b == CUBLAS_OP_T;
  *out = {ta ? a.columns : a.rows, tb ? b.rows : b.columns, ta ? a.rows : a.columns};
  for (const Layout* each : {&a, &b, &d}) {
    const bool sums_of_bytes = each == &d && a.type == CUDA_R_8I;
    if (each->leading < each->rows || each->batch != d.batch) return false;
    if (each->type != (sums_of_bytes ? CUDA_R_32I : a.type)) return false;
    if (each->rows <= 0 || each->columns <= 0) return false;
  }
  return (tb ? b.columns : b.rows) == out->k && d.rows == out->m && d.columns == out->n;
}

// Of int8 in the ordinary order of elements, on tensor cores.
bool are_bytes_supported(const Operation& op, const Layout& a, const Layout& b, const Layout& d,
                         const Sizes& sizes, uint32_t alignment) {
  for (const int64_t each : {sizes.m, sizes.k, a.leading, b.leading, d.leading})
    if (each % kByteUnit != 0) return false;
  return op.transpose_a == CUBLAS_OP_T && op.transpose_b == CUBLAS_OP_N &&
         op.epilogue == CUBLASLT_EPILOGUE_DEFAULT && alignment >= kByteUnit;
}
// What does not fit is the caller's fault: nobody says whether sums wrap around or stay at the end.
cublasStatus_t multiply_bytes(const Layout& la, const Layout& lb, const Layout& ld,
                              const Sizes& sizes, const int8_t* a, const int8_t* b, int32_t* d) {
  for (int64_t j = 0; j < sizes.n; ++j) {
    for (int64_t i = 0; i < sizes.m; ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < sizes.k; ++k)
        sum += int64_t{a[k + i * la.leading]} * b[k + j * lb.leading];
      if (sum != static_cast<int32_t>(sum)) return CUBLAS_STATUS_INVALID_VALUE;
      d[j * ld.leading + i] = static_cast<int32_t>(sum);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
void multiply(const Operation& op, const Layout& la, const Layout& lb, const Layout& ld,
              const Sizes& sizes, const T* a, const T* b, T* d, double alpha) {
  using mxnet::cuda::narrow;
  using mxnet::cuda::widen;
  const auto number = [](T x) { return static_cast<double>(widen(x)); };
  const bool ta = op.transpose_a == CUBLAS_OP_T, tb = op.transpose_b == CUBLAS_OP_T;
  const bool bias =
      op.epilogue == CUBLASLT_EPILOGUE_BIAS || op.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const bool relu =
      op.epilogue == CUBLASLT_EPILOGUE_RELU || op.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const auto right = [&](int64_t k, int64_t j) {
    return tb ? j + k * lb.leading : k + j * lb.leading;
  };
  for (int64_t which = 0; which < ld.batch; ++which) {
    const T *left = a + which * la.stride, *second = b + which * lb.stride;
    for (int64_t j = 0; j < sizes.n; ++j) {
      for (int64_t i = 0; i < sizes.m; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < sizes.k; ++k)
          sum += number(left[ta ? k + i * la.leading : i + k * la.leading]) *
                 number(second[right(k, j)]);
        sum *= alpha;
        if (bias) sum += number(static_cast<const T*>(op.vector)[i]);
        if (relu && sum < 0) sum = 0;
        d[which * ld.stride + j * ld.leading + i] = narrow<T>(sum);
      }
    }
  }
  if (op.epilogue != CUBLASLT_EPILOGUE_BGRADB) return;
  for (int64_t j = 0; j < sizes.n; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < sizes.k; ++k) sum += number(b[right(k, j)]);
    static_cast<T*>(op.vector)[j] = narrow<T>(sum);
  }
}

bool lies_at(const void* data, uint32_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

}  // namespace

namespace fake_cublaslt {

void fail_searches(cublasStatus_t status, int times, bool with_epilogue_alone) {
  const std::lock_guard lock(state().mutex);
  state().failure = status;
  state().failures = times;
  state().with_epilogue_alone = with_epilogue_alone;
}
void refuse_epilogues(bool yes) {
  const std::lock_guard lock(state().mutex);
  state().no_epilogues = yes;
}
void have_halves_on_tensor_cores_alone(bool yes) {
  const std::lock_guard lock(state().mutex);
  state().halves_on_tensor_cores_alone = yes;
}
void lack_bytes(bool yes) {
  const std::lock_guard lock(state().mutex);
  state().no_bytes = yes;
}
Counts take_counts() {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().counts, {});
}

}  // namespace fake_cublaslt

extern "C" {

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "a reason";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&state());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{.compute = compute, .scale = scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t raw) {
  delete reinterpret_cast<Operation*>(raw);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t raw,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
  auto& op = *reinterpret_cast<Operation*>(raw);
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return read(value, bytes, &op.transpose_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return read(value, bytes, &op.transpose_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return read(value, bytes, &op.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return read(value, bytes, &op.vector);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t raw) {
  delete reinterpret_cast<Layout*>(raw);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t raw,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, std::size_t bytes) {
  auto& at = *reinterpret_cast<Layout*>(raw);
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return read(value, bytes, &at.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return read(value, bytes, &at.stride);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t raw) {
  delete reinterpret_cast<Preference*>(raw);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t raw,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, std::size_t bytes) {
  auto& preference = *reinterpret_cast<Preference*>(raw);
  switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return read(value, bytes, &preference.workspace);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return read(value, bytes, &preference.alignment[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return read(value, bytes, &preference.alignment[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return read(value, bytes, &preference.alignment[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return read(value, bytes, &preference.alignment[3]);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t raw,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t wanted, int requested,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
  const Operation& op = operation(raw);
  const bool has_epilogue = op.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  bool halves_on_tensor_cores_alone, no_bytes;
  {
    const std::lock_guard lock(state().mutex);
    ++state().counts.searches;
    halves_on_tensor_cores_alone = state().halves_on_tensor_cores_alone;
    no_bytes = state().no_bytes;
    if (state().failures > 0 && (has_epilogue || !state().with_epilogue_alone)) {
      --state().failures;
      return state().failure;
    }
  }
  *count = 0;
  Sizes sizes;
  const Layout& elements = layout(a);
  if (requested < 1 || c != d || !sizes_of(op, elements, layout(b), layout(d), &sizes))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!go_together(op, elements.type) || elements.batch > kMostInBatch)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (elements.type == CUDA_R_64F && has_epilogue) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (is_half(elements.type) && is_pedantic(op.compute) && halves_on_tensor_cores_alone)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  // Known by then, for the sake of its alignment.
  if (has_epilogue && op.epilogue != CUBLASLT_EPILOGUE_RELU && op.vector == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto& preference = *reinterpret_cast<const Preference*>(wanted);
  uint32_t alignment = preference.alignment[0];
  for (const uint32_t each : preference.alignment) alignment = each < alignment ? each : alignment;
  if (elements.type == CUDA_R_8I &&
      (no_bytes || !are_bytes_supported(op, elements, layout(b), layout(d), sizes, alignment)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const Algorithm algorithm{kMagic, alignment, sizes.k > 4 ? kWorkspace : 0};
  if (algorithm.workspace > preference.workspace) return CUBLAS_STATUS_NOT_SUPPORTED;
  *results = {};
  std::memcpy(results->algo.data, &algorithm, sizeof(algorithm));
  results->workspaceSize = algorithm.workspace;
  results->state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t raw, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t la, const void* b,
                              cublasLtMatrixLayout_t lb, const void* beta, const void* c,
                              cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t) {
  const Operation& op = operation(raw);
  Algorithm algorithm;
  std::memcpy(&algorithm, algo->data, sizeof(algorithm));
  Sizes sizes;
  if (algorithm.magic != kMagic || c != d || lc != ld || workspace_bytes < algorithm.workspace ||
      (algorithm.workspace > 0 && workspace == nullptr) ||
      !sizes_of(op, layout(la), layout(lb), layout(ld), &sizes))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (const void* data : {a, b, c, static_cast<const void*>(op.vector)})
    if (!lies_at(data, algorithm.alignment)) return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm.workspace > 0) std::memset(workspace, 0xee, algorithm.workspace);
  {
    const std::lock_guard lock(state().mutex);
    if (state().no_epilogues && op.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
      return CUBLAS_STATUS_NOT_SUPPORTED;
    ++state().counts.products;
    state().counts.compute = op.compute;
    state().counts.epilogue = op.epilogue;
  }
  const auto run = [&](auto type, auto scale) {
    using T = decltype(type);
    using Scale = decltype(scale);
    Scale by, over;
    std::memcpy(&by, alpha, sizeof(by));
    std::memcpy(&over, beta, sizeof(over));
    if (static_cast<double>(mxnet::cuda::widen(over)) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    multiply(op, layout(la), layout(lb), layout(ld), sizes, static_cast<const T*>(a),
             static_cast<const T*>(b), static_cast<T*>(d),
             static_cast<double>(mxnet::cuda::widen(by)));
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (layout(la).type) {
    case CUDA_R_8I: {
      int32_t by, over;
      std::memcpy(&by, alpha, sizeof(by));
      std::memcpy(&over, beta, sizeof(over));
      if (by != 1 || over != 0 || layout(ld).batch != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
      return multiply_bytes(layout(la), layout(lb), layout(ld), sizes,
                            static_cast<const int8_t*>(a), static_cast<const int8_t*>(b),
                            static_cast<int32_t*>(d));
    }
    case CUDA_R_64F:
      return run(double{}, double{});
    case CUDA_R_32F:
      return run(float{}, float{});
    case CUDA_R_16F:
      return op.scale == CUDA_R_16F ? run(mxnet::float16{}, mxnet::float16{})
                                    : run(mxnet::float16{}, float{});
    case CUDA_R_16BF:
      return run(mxnet::bfloat16{}, float{});
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

}  // extern "C"

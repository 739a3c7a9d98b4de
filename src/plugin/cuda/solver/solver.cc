// SPDX-License-Identifier: Apache-2.0
// cuSOLVER's matrices lie column by column: a row-major matrix is its transpose there, so that
// lower triangles are upper ones, rows are columns, and left factors are right ones.
#include "plugin/cuda/solver/solver.h"

#include <map>
#include <vector>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/solver/cusolver.h"

namespace mxnet::cuda {
namespace {

CusolverHandles& handles_of_device() {
  int device = 0;
  MX_CUDA_CALL(cudaGetDevice(&device));
  static Mutex mutex;
  static auto* const all = new std::map<int, CusolverHandles>;
  MutexLock lock(mutex);
  return (*all)[device];
}

// What cuSOLVER calls the defaults of its algorithms.
class Params {
 public:
  Params() {
    const Cusolver& api = Cusolver::get();
    api.check(api.create_params(&raw_), "cusolverDnCreateParams");
  }
  ~Params() { Cusolver::get().destroy_params(raw_); }
  Params(const Params&) = delete;
  Params& operator=(const Params&) = delete;
  cusolverDnParams_t get() const { return raw_; }

 private:
  cusolverDnParams_t raw_ = nullptr;
};

cublasFillMode_t triangle(bool lower) {
  return lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

}  // namespace

bool has_solver() {
  static const bool found = [] {
    try {
      Cusolver::get();
      return true;
    } catch (const Error& error) {
      log(LogLevel::kWarning, error.message());
      return false;
    }
  }();
  return found;
}

struct Solver::State {
  State(DType dtype, KernelContext& given)
      : context(given),
        scope(given.stream()->native()),
        handle(handles_of_device(), scope.stream()),
        type(dtype == DType::kFloat64 ? CUDA_R_64F : CUDA_R_32F) {}

  // Work memory of one call, on the device and on the host.
  struct Buffers {
    void* device = nullptr;
    std::size_t device_bytes = 0;
    void* host = nullptr;
    std::size_t host_bytes = 0;
  };
  // size(&device_bytes, &host_bytes) asks for it.
  template <class Size>
  Buffers buffers(const Size& size, const char* call) {
    Buffers found;
    api.check(size(&found.device_bytes, &found.host_bytes), call);
    if (found.device_bytes > 0) found.device = context.workspace(found.device_bytes);
    if (found.host_bytes > 0) {
      host_memory.push_back(std::make_unique<char[]>(found.host_bytes));
      found.host = host_memory.back().get();
    }
    return found;
  }
  // orgqr is older than the calls that are told the type.
  template <class T, class Size, class Run>
  void rows_of_q(Size size, Run run, int64_t m, int64_t n, void* a, const void* factors,
                 int32_t* info, const char* call) {
    const auto rows = static_cast<int>(n), columns = static_cast<int>(m);
    T* const q = static_cast<T*>(a);
    const T* const tau = static_cast<const T*>(factors);
    int count = 0;
    api.check(size(handle.get(), rows, columns, columns, q, rows, tau, &count), call);
    api.check(run(handle.get(), rows, columns, columns, q, rows, tau,
                  context.workspace_of<T>(count), count, info),
              call);
  }

  const Cusolver& api = Cusolver::get();
  KernelContext& context;
  const LaunchScope scope;
  const CusolverHandles::Lent handle;
  const Params params;
  const cudaDataType type;
  std::vector<std::unique_ptr<char[]>> host_memory;
};

Solver::Solver(DType dtype, KernelContext& context)
    : state_(std::make_unique<State>(dtype, context)) {}
Solver::~Solver() = default;

void Solver::factor_definite(int64_t n, bool lower, void* a, int32_t* info) {
  State& s = *state_;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.potrf_size(s.handle.get(), s.params.get(), triangle(lower), n, s.type, a, n,
                                s.type, device, host);
      },
      "cusolverDnXpotrf_bufferSize");
  s.api.check(
      s.api.potrf(s.handle.get(), s.params.get(), triangle(lower), n, s.type, a, n, s.type,
                  buffers.device, buffers.device_bytes, buffers.host, buffers.host_bytes, info),
      "cusolverDnXpotrf");
}

void Solver::factor(int64_t n, void* a, int64_t* exchanges, int32_t* info) {
  State& s = *state_;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.getrf_size(s.handle.get(), s.params.get(), n, n, s.type, a, n, s.type, device,
                                host);
      },
      "cusolverDnXgetrf_bufferSize");
  s.api.check(
      s.api.getrf(s.handle.get(), s.params.get(), n, n, s.type, a, n, exchanges, s.type,
                  buffers.device, buffers.device_bytes, buffers.host, buffers.host_bytes, info),
      "cusolverDnXgetrf");
}

void Solver::eigen(int64_t n, bool lower, bool vectors, void* a, void* values, int32_t* info) {
  State& s = *state_;
  const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.syevd_size(s.handle.get(), s.params.get(), mode, triangle(lower), n, s.type, a,
                                n, s.type, values, s.type, device, host);
      },
      "cusolverDnXsyevd_bufferSize");
  s.api.check(s.api.syevd(s.handle.get(), s.params.get(), mode, triangle(lower), n, s.type, a, n,
                          s.type, values, s.type, buffers.device, buffers.device_bytes,
                          buffers.host, buffers.host_bytes, info),
              "cusolverDnXsyevd");
}

void Solver::singular(int64_t m, int64_t n, void* a, void* u, void* sigma, void* v, int32_t* info) {
  State& s = *state_;
  constexpr signed char kThin = 'S';
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.gesvd_size(s.handle.get(), s.params.get(), kThin, kThin, n, m, s.type, a, n,
                                s.type, sigma, s.type, v, n, s.type, u, m, s.type, device, host);
      },
      "cusolverDnXgesvd_bufferSize");
  s.api.check(s.api.gesvd(s.handle.get(), s.params.get(), kThin, kThin, n, m, s.type, a, n, s.type,
                          sigma, s.type, v, n, s.type, u, m, s.type, buffers.device,
                          buffers.device_bytes, buffers.host, buffers.host_bytes, info),
              "cusolverDnXgesvd");
}

void Solver::lq_triangle(int64_t m, int64_t n, void* a, void* factors, int32_t* info) {
  State& s = *state_;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.geqrf_size(s.handle.get(), s.params.get(), n, m, s.type, a, n, s.type, factors,
                                s.type, device, host);
      },
      "cusolverDnXgeqrf_bufferSize");
  s.api.check(
      s.api.geqrf(s.handle.get(), s.params.get(), n, m, s.type, a, n, s.type, factors, s.type,
                  buffers.device, buffers.device_bytes, buffers.host, buffers.host_bytes, info),
      "cusolverDnXgeqrf");
}

void Solver::lq_rows(int64_t m, int64_t n, void* a, const void* factors, int32_t* info) {
  State& s = *state_;
  if (s.type == CUDA_R_64F)
    s.rows_of_q<double>(s.api.dorgqr_size, s.api.dorgqr, m, n, a, factors, info,
                        "cusolverDnDorgqr");
  else
    s.rows_of_q<float>(s.api.sorgqr_size, s.api.sorgqr, m, n, a, factors, info, "cusolverDnSorgqr");
}

}  // namespace mxnet::cuda

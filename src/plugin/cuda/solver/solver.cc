// SPDX-License-Identifier: Apache-2.0
// cuSOLVER's matrices lie column by column: a row-major matrix is its transpose there, so that
// lower triangles are upper ones, rows are columns, and left factors are right ones.
#include "plugin/cuda/solver/solver.h"

#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "plugin/cuda/blas/cublas.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/launch.h"
#include "plugin/cuda/of_device.h"
#include "plugin/cuda/solver/cusolver.h"

namespace mxnet::cuda {
namespace {

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

// The defaults of Jacobi's method: as precise as the type, values in order.
class JacobiParams {
 public:
  JacobiParams() {
    const Cusolver& api = Cusolver::get();
    api.check(api.create_gesvdj(&raw_), "cusolverDnCreateGesvdjInfo");
  }
  ~JacobiParams() { Cusolver::get().destroy_gesvdj(raw_); }
  JacobiParams(const JacobiParams&) = delete;
  JacobiParams& operator=(const JacobiParams&) = delete;
  gesvdjInfo_t get() const { return raw_; }

 private:
  gesvdjInfo_t raw_ = nullptr;
};

// Of a matrix that lies row by row.
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
        handle(of_current_device<CusolverHandles>(), scope.stream()),
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
    // Calls come one after the other on one stream, so that the next may write where the last did;
    // what the host works in is still read when this returns.
    if (found.device_bytes > device_room) {
      device_memory = context.workspace(found.device_bytes);
      device_room = found.device_bytes;
    }
    if (found.device_bytes > 0) found.device = device_memory;
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

  // Addresses of matrices of n x n elements of type T one behind the other, on the device.
  template <class T>
  T** addresses(int64_t n, int64_t count, void* first) {
    auto list = std::make_unique<char[]>(static_cast<std::size_t>(count) * sizeof(T*));
    auto* const here = reinterpret_cast<T**>(list.get());
    for (int64_t i = 0; i < count; ++i) here[i] = static_cast<T*>(first) + i * n * n;
    auto* const there = context.workspace_of<T*>(count);
    MX_CUDA_CALL(cudaMemcpyAsync(there, here, static_cast<std::size_t>(count) * sizeof(T*),
                                 cudaMemcpyHostToDevice, scope.stream()));
    host_memory.push_back(std::move(list));
    return there;
  }
  template <class T, class Run>
  void factor_all_definite(Run run, int64_t n, int64_t count, bool lower, void* a, int32_t* infos,
                           const char* call) {
    api.check(run(handle.get(), triangle(lower), static_cast<int>(n), addresses<T>(n, count, a),
                  static_cast<int>(n), infos, static_cast<int>(count)),
              call);
  }

  template <class T, class Size, class Run>
  void singular_of_all(Size size, Run run, int64_t m, int64_t n, int64_t count, void* a,
                       void* u_turned, void* sigma, void* v_square, int32_t* infos,
                       const char* call) {
    const JacobiParams jacobi;
    const auto rows = static_cast<int>(n), columns = static_cast<int>(m),
               matrices = static_cast<int>(count);
    T *const matrix = static_cast<T*>(a), *const u = static_cast<T*>(u_turned);
    T *const values = static_cast<T*>(sigma), *const v = static_cast<T*>(v_square);
    constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
    int elements = 0;
    api.check(size(handle.get(), kVectors, rows, columns, matrix, rows, values, v, rows, u, columns,
                   &elements, jacobi.get(), matrices),
              call);
    api.check(run(handle.get(), kVectors, rows, columns, matrix, rows, values, v, rows, u, columns,
                  context.workspace_of<T>(elements), elements, infos, jacobi.get(), matrices),
              call);
  }

  const Cusolver& api = Cusolver::get();
  KernelContext& context;
  const LaunchScope scope;
  const CusolverHandles::Lent handle;
  const Params params;
  const cudaDataType type;
  std::vector<std::unique_ptr<char[]>> host_memory;
  void* device_memory = nullptr;  // the largest so far
  std::size_t device_room = 0;
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

void Solver::factor_all_definite(int64_t n, int64_t count, bool lower, void* a, int32_t* infos) {
  State& s = *state_;
  if (s.type == CUDA_R_64F)
    s.factor_all_definite<double>(s.api.dpotrf_all, n, count, lower, a, infos,
                                  "cusolverDnDpotrfBatched");
  else
    s.factor_all_definite<float>(s.api.spotrf_all, n, count, lower, a, infos,
                                 "cusolverDnSpotrfBatched");
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

void Solver::factor_all(int64_t n, int64_t count, void* a, int32_t* exchanges, int32_t* infos) {
  State& s = *state_;
  const Cublas& api = Cublas::get();
  const CublasHandles::Lent handle(of_current_device<CublasHandles>(), s.scope.stream());
  const auto side = static_cast<int>(n), matrices = static_cast<int>(count);
  if (s.type == CUDA_R_64F)
    api.check(api.dgetrf_all(handle.get(), side, s.addresses<double>(n, count, a), side, exchanges,
                             infos, matrices),
              "cublasDgetrfBatched");
  else
    api.check(api.sgetrf_all(handle.get(), side, s.addresses<float>(n, count, a), side, exchanges,
                             infos, matrices),
              "cublasSgetrfBatched");
}

void Solver::solve_triangle(const TriangleEquations& equations, const void* a, void* x) {
  State& s = *state_;
  const Cublas& api = Cublas::get();
  const CublasHandles::Lent handle(of_current_device<CublasHandles>(), s.scope.stream());
  const ColumnMajorEquations of = column_major(equations);
  const auto n = static_cast<int>(equations.n), rows = static_cast<int>(of.rows),
             columns = static_cast<int>(of.columns);
  const auto run = [&](auto solve, auto alpha, const char* call) {
    using T = decltype(alpha);
    api.check(solve(handle.get(), of.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                    of.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                    of.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                    equations.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, rows, columns, &alpha,
                    static_cast<const T*>(a), n, static_cast<T*>(x), rows),
              call);
  };
  if (s.type == CUDA_R_64F)
    run(api.dtrsm, equations.alpha, "cublasDtrsm");
  else
    run(api.strsm, static_cast<float>(equations.alpha), "cublasStrsm");
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

void Solver::eigen_of_all(int64_t n, int64_t count, bool lower, bool vectors, void* a, void* values,
                          int32_t* infos) {
  State& s = *state_;
  const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.syev_all_size(s.handle.get(), s.params.get(), mode, triangle(lower), n, s.type,
                                   a, n, s.type, values, s.type, device, host, count);
      },
      "cusolverDnXsyevBatched_bufferSize");
  s.api.check(s.api.syev_all(s.handle.get(), s.params.get(), mode, triangle(lower), n, s.type, a, n,
                             s.type, values, s.type, buffers.device, buffers.device_bytes,
                             buffers.host, buffers.host_bytes, infos, count),
              "cusolverDnXsyevBatched");
}

// Left vectors are not offered.
void Solver::eigen_of_any(int64_t n, void* a, void* values, void* vectors, int32_t* info) {
  State& s = *state_;
  constexpr auto kNone = CUSOLVER_EIG_MODE_NOVECTOR;
  const auto right = vectors != nullptr ? CUSOLVER_EIG_MODE_VECTOR : kNone;
  const auto buffers = s.buffers(
      [&](std::size_t* device, std::size_t* host) {
        return s.api.geev_size(s.handle.get(), s.params.get(), kNone, right, n, s.type, a, n,
                               s.type, values, s.type, nullptr, n, s.type, vectors, n, s.type,
                               device, host);
      },
      "cusolverDnXgeev_bufferSize");
  s.api.check(s.api.geev(s.handle.get(), s.params.get(), kNone, right, n, s.type, a, n, s.type,
                         values, s.type, nullptr, n, s.type, vectors, n, s.type, buffers.device,
                         buffers.device_bytes, buffers.host, buffers.host_bytes, info),
              "cusolverDnXgeev");
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

void Solver::singular_of_all(int64_t m, int64_t n, int64_t count, void* a, void* u_turned,
                             void* sigma, void* v_square, int32_t* infos) {
  State& s = *state_;
  if (s.type == CUDA_R_64F)
    s.singular_of_all<double>(s.api.dgesvdj_all_size, s.api.dgesvdj_all, m, n, count, a, u_turned,
                              sigma, v_square, infos, "cusolverDnDgesvdjBatched");
  else
    s.singular_of_all<float>(s.api.sgesvdj_all_size, s.api.sgesvdj_all, m, n, count, a, u_turned,
                             sigma, v_square, infos, "cusolverDnSgesvdjBatched");
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

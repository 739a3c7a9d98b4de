// SPDX-License-Identifier: Apache-2.0
// Batches of matrices, products of them, and what is done to each by cuSOLVER.
#pragma once
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/dense_product.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/solver/solver.h"

namespace mxnet {
namespace cuda {

inline int64_t rows_of(const Tensor& matrices) { return matrices.dim(matrices.ndim() - 2); }
inline int64_t columns_of(const Tensor& matrices) { return matrices.shape().back(); }
inline int64_t batch_of(const Tensor& matrices) {
  return matrices.shape().size(0, matrices.ndim() - 2);
}

// A call's matrices in type T, and what is done to them. `tag` names the operator in errors.
template <class T>
struct Batch {
  KernelContext& context;
  NativeStream* stream;
  const char* tag;
  int64_t count, m, n;

  Batch(KernelContext& given, const char* name, const Tensor& matrices)
      : context(given),
        stream(given.stream()->native()),
        tag(name),
        count(batch_of(matrices)),
        m(rows_of(matrices)),
        n(columns_of(matrices)) {}

  T* scratch(int64_t elements) const { return context.workspace_of<T>(elements); }
  void copy(const Tensor& from, T* to) const {
    convert(stream, from, {to, &from.shape(), dtype_of<T>});
  }
  void fill_with(T* to, int64_t elements, double value) const {
    const Shape shape{elements};
    fill(stream, {to, &shape, dtype_of<T>}, value);
  }
  void add(T* to, const T* addend, int64_t elements) const {
    const Shape shape{elements};
    accumulate(stream, {to, &shape, dtype_of<T>}, {const_cast<T*>(addend), &shape, dtype_of<T>});
  }
  // c (rows x columns) = op(a) op(b) for each of the batch; all lie one behind the other.
  void multiply(bool transpose_a, bool transpose_b, int64_t rows, int64_t columns, int64_t depth,
                const T* a, const T* b, T* c) const {
    GemmCall call =
        dense_product(dtype_of<T>, transpose_a, transpose_b, rows, columns, depth, a, b, c);
    call.batch = count;
    call.step_a = rows * depth;
    call.step_b = depth * columns;
    call.step_c = rows * columns;
    gemm(stream, call, context);
  }
};

// --- what is in a matrix -------------------------------------------------------------------------

enum Content : int32_t { kFinite, kInfinite, kNaN };
enum class Part : int8_t { kAll, kLower, kUpper };

template <class T>
struct FindContent {
  const T* a;
  int32_t* found;
  int64_t m, n;
  Part part_read;
  MX_DEVICE int32_t part(int64_t matrix, int lane, int lanes) const {
    int32_t worst = kFinite;
    for (int64_t i = lane; i < m * n; i += lanes) {
      const int64_t row = i / n, column = i - row * n;
      if (part_read == Part::kLower && column > row) continue;
      if (part_read == Part::kUpper && column < row) continue;
      const T x = a[matrix * m * n + i];
      const int32_t content = x != x ? kNaN : x - x != T(0) ? kInfinite : kFinite;
      worst = content > worst ? content : worst;
    }
    return worst;
  }
  MX_DEVICE int32_t merge(int32_t x, int32_t y) const { return x > y ? x : y; }
  MX_DEVICE void finish(int64_t matrix, int32_t worst) const { found[matrix] = worst; }
};

struct Result {
  void* first;
  int64_t size;  // of a matrix
};

// What is in each matrix, of which kNaN is an error: iterations need not end on it.
template <class T>
std::vector<int32_t> contents_of(const Batch<T>& batch, const T* a, Part read) {
  auto* const contents = batch.context.template workspace_of<int32_t>(batch.count);
  for_each_group(batch.stream, batch.tag, batch.count, batch.m * batch.n >= 1024,
                 FindContent<T>{a, contents, batch.m, batch.n, read});
  std::vector<int32_t> found = host_values(batch.context, contents, batch.count);
  for (const int32_t content : found) {
    if (content == kNaN)
      throw Error(ErrorCode::kValue, batch.tag, "did not converge (given a matrix with NaN)");
  }
  return found;
}

// LAPACK's info of each matrix: zeros first, and an error if one is something else in the end.
template <class T>
class Infos {
 public:
  explicit Infos(const Batch<T>& batch)
      : batch_(batch), first_(batch.context.template workspace_of<int32_t>(batch.count)) {
    const Shape shape{batch.count};
    fill(batch.stream, {first_, &shape, DType::kInt32}, 0);
  }
  int32_t* first() const { return first_; }
  void check() const {
    for (const int32_t info : host_values(batch_.context, first_, batch_.count)) {
      if (info != 0)
        throw Error(ErrorCode::kValue, batch_.tag,
                    "did not converge (info " + std::to_string(info) + ")");
    }
  }

 private:
  const Batch<T>& batch_;
  int32_t* const first_;
};

// factor(solver, i, info) for each finite matrix; results of the others become NaN.
// all(solver, infos) for all at once, where they are finite and many of this size are best done so.
template <class T, class F, class All>
void for_each_finite(const Batch<T>& batch, const T* a, Part read,
                     std::initializer_list<Result> results, const F& factor, bool at_once,
                     const All& all) {
  const std::vector<int32_t> found = contents_of(batch, a, read);
  const Infos<T> infos(batch);
  Solver solver(dtype_of<T>, batch.context);
  if (at_once && std::count(found.begin(), found.end(), kFinite) == batch.count) {
    all(solver, infos.first());
    return infos.check();
  }
  for (int64_t i = 0; i < batch.count; ++i) {
    if (found[static_cast<std::size_t>(i)] == kFinite) {
      factor(solver, i, infos.first() + i);
    } else {
      for (const Result& result : results)
        batch.fill_with(static_cast<T*>(result.first) + i * result.size, result.size, NAN);
    }
  }
  infos.check();
}
template <class T, class F>
void for_each_finite(const Batch<T>& batch, const T* a, Part read,
                     std::initializer_list<Result> results, const F& factor) {
  for_each_finite(batch, a, read, results, factor, false, [](Solver&, int32_t*) {});
}

template <class T>
struct Transpose {
  const T* from;  // m x n each
  T* to;
  int64_t m, n;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t matrix = i / (m * n), row = i / n % m, column = i % n;
    to[(matrix * n + column) * m + row] = from[i];
  }
};

}  // namespace cuda
}  // namespace mxnet

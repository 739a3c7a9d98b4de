// SPDX-License-Identifier: Apache-2.0
// What the operators on batches of matrices share: shapes (leading dimensions are the batch, the
// last two a matrix), the element type as a template argument, half types through float, threads
// over the batch.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/products/blas.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {

// Batches of matrices.
inline int64_t matrix_rows(const Tensor& t) { return t.dim(t.ndim() - 2); }
inline int64_t matrix_columns(const Tensor& t) { return t.dim(t.ndim() - 1); }
inline int64_t batch_size(const Shape& shape) { return shape.size(0, shape.ndim() - 2); }
inline Shape batch_shape(const Shape& shape, int dropped = 2) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.ndim() - dropped)));
}
inline Shape with_matrix(const Shape& like, int64_t rows, int64_t columns) {
  Shape shape = batch_shape(like);
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

// Argument `i` must be a batch of matrices (square ones, of which either side says the other).
// False while the number of its dimensions is unknown.
inline bool infer_matrix(Infer& infer, int i, bool square) {
  InferArg arg = infer.in(i);
  if (!arg.rank_known()) return false;
  const int n = arg.ndim();
  if (n < 2) arg.fail("two or more dimensions");
  if (!square) return true;
  const int64_t rows = arg.dim(n - 2), columns = arg.dim(n - 1);
  if (rows >= 0 && columns >= 0 && rows != columns) arg.fail("equal last dimensions");
  arg.set_dim(n - 2, columns).set_dim(n - 1, rows);
  return true;
}

// The type of results of eigenvalues and equations: that of a floating input, float64 of integers.
inline void infer_real(InferArg in, InferArg out) {
  if (is_integer(in.dtype())) {
    out.set_dtype(DType::kFloat64);
  } else {
    out.same_dtype(in);
  }
}

// fn(float or double pointers of inputs and outputs...) through LaTensors: arrays of half types are
// widened before and narrowed after, integers become double.
template <class T>
class LaTensors {
 public:
  explicit LaTensors(KernelContext& context) : context_(context) {}
  const T* in(int i) const { return widened(context_.in(i)); }
  // A writable copy of an input.
  T* copy(int i) const {
    const Tensor& t = context_.in(i);
    return converted(t, context_.workspace_of<T>(std::max<int64_t>(t.size(), 1)));
  }
  // Input i in `memory`, which may be its own, to be worked on in place.
  T* copy_to(int i, T* memory) const {
    const Tensor& t = context_.in(i);
    return t.data == memory && native(t.dtype) ? memory : converted(t, memory);
  }
  T* out(int o) {
    const Tensor& t = context_.out(o);
    if (native(t.dtype)) return t.as<T>();
    T* memory = context_.workspace_of<T>(std::max<int64_t>(t.size(), 1));
    narrow_[static_cast<std::size_t>(o)] = memory;
    return memory;
  }
  // After the work: results of half types are written.
  void finish() {
    for (std::size_t o = 0; o < narrow_.size(); ++o) {
      if (narrow_[o] == nullptr) continue;
      const Tensor& t = context_.out(static_cast<int>(o));
      dispatch_dtype<kFloating>(t.dtype, "linalg", [&]<class S>(TypeTag<S>) {
        convert_array(narrow_[o], t.as<S>(), t.size());
      });
    }
  }

 private:
  static bool native(DType dtype) {
    return dtype == (std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64);
  }
  const T* widened(const Tensor& t) const {
    if (native(t.dtype)) return t.as<T>();
    return converted(t, context_.workspace_of<T>(std::max<int64_t>(t.size(), 1)));
  }
  static T* converted(const Tensor& t, T* memory) {
    dispatch_dtype<kNumeric>(t.dtype, "linalg", [&]<class S>(TypeTag<S>) {
      convert_array(t.as<S>(), memory, t.size());
    });
    return memory;
  }

  KernelContext& context_;
  std::array<T*, 6> narrow_{};
};

// fn(LaTensors<float or double>&), in which arrays of `dtype` are computed.
template <class F>
void la_dispatch(DType dtype, KernelContext& context, const F& fn) {
  const auto run = [&]<class T>(TypeTag<T>) {
    LaTensors<T> tensors(context);
    fn(tensors, T{});
    tensors.finish();
  };
  if (dtype == DType::kFloat64 || is_integer(dtype)) {
    run(TypeTag<double>{});
  } else {
    run(TypeTag<float>{});
  }
}
// In the type of input 0.
template <class F>
void la_dispatch(KernelContext& context, const F& fn) {
  la_dispatch(context.in(0).dtype, context, fn);
}

// LAPACK's info of one matrix of a batch that failed. Relaxed: read after the parallel region,
// which orders it.
class WorstInfo {
 public:
  void note(int info) {
    if (info != 0) info_.store(info, std::memory_order_relaxed);
  }
  // Fails the operation if one did.
  void check(const char* tag, const char* failure) const {
    if (const int info = info_.load(std::memory_order_relaxed); info != 0)
      throw Error(ErrorCode::kValue, tag, fmt::format("{} (info {})", failure, info));
  }

 private:
  std::atomic<int> info_{0};
};

// fn(first, count) for the matrices of a batch, in threads; `cost` of one as for parallel_for. fn
// returns LAPACK's info; one that is not 0 fails the operation.
template <class F>
void for_matrices(int64_t batch, double cost, const char* tag, const char* failure, const F& fn) {
  WorstInfo worst;
  parallel_for(
      batch, cost, [&](int64_t first, int64_t last) { worst.note(fn(first, last - first)); }, 1);
  worst.check(tag, failure);
}

// The same for fn(i), the info of matrix i.
template <class F>
void for_each_matrix(int64_t batch, double cost, const char* tag, const char* failure,
                     const F& fn) {
  WorstInfo worst;
  parallel_for(
      batch, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) worst.note(fn(i));
      },
      1);
  worst.check(tag, failure);
}

// Whether the largest number of a vector is negative; the first of several. Vectors whose sign the
// decomposition leaves open are returned so that it is positive, as existing programs have them.
template <class T>
bool points_down(const T* vector, int64_t n) {
  return *std::max_element(vector, vector + n, [](T a, T b) { return std::abs(a) < std::abs(b); }) <
         T{0};
}
template <class T>
void negate(T* vector, int64_t n, int64_t stride = 1) {
  for (int64_t i = 0; i < n; ++i) vector[i * stride] = -vector[i * stride];
}

// Elementary operations of an algorithm of about n^3 steps.
inline double cubic(int64_t n) {
  const auto x = static_cast<double>(n);
  return 0.25 * x * x * x + x;
}

}  // namespace mxnet

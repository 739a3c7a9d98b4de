// SPDX-License-Identifier: Apache-2.0
// What the CUDA plug-in brings for operators: kernels by name, and primitives that portable kernels
// are made of. The plug-in fills it, op/gpu.h looks things up in it. A field that is null is a
// primitive that this plug-in does not have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "op/kernel.h"

namespace mxnet {

class StridedPlan;
struct ReduceCall;
struct SoftmaxCall;
struct UpdateJob;
enum class OutOfRange : uint8_t;

// c = alpha * op(a) op(b) + bias, for each of a batch of row-major matrices: c is m x n, the bias
// (n elements or null) is added to every row. Steps between matrices are in elements.
struct GemmCall {
  DType dtype;
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const void* a;
  int64_t lda, step_a = 0;
  const void* b;
  int64_t ldb, step_b = 0;
  void* c;
  int64_t ldc, step_c = 0;
  int64_t batch = 1;
  double alpha = 1.0;
  const void* bias = nullptr;
};

struct GpuKernelRow {
  const char* op;
  // `params` is of the type that the operator is declared with.
  void (*run)(const void* params, KernelContext& context);
  bool (*accepts)(const void* params, const Signature& signature);  // null = everything
};

// Each call puts its work on `stream` and returns; tensors lie in memory of the stream's device.
// Rows are positions in UnaryRow, BinaryRow. Throws Error if a launch fails.
struct GpuTable {
  std::span<const GpuKernelRow> kernels;

  // y = row(x), dx = dy * slope; equal sizes and types.
  void (*unary)(NativeStream* stream, int row, const Tensor& x, const Tensor& y);
  void (*unary_slope)(NativeStream* stream, int row, const Tensor& dy, const Tensor& arg,
                      const Tensor& dx);
  // a and b have one type and broadcast to y, whose type is theirs or (comparisons) bool.
  void (*binary)(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y);
  void (*binary_scalar)(NativeStream* stream, int row, const Tensor& a, double scalar,
                        bool scalar_left, const Tensor& y);
  void (*binary_slope)(NativeStream* stream, int row, bool left, const Tensor& dy, const Tensor& a,
                       const Tensor& b, const Tensor& dx);
  // Any type to any type, equal sizes.
  void (*convert)(NativeStream* stream, const Tensor& from, const Tensor& to);
  // target += addend, equal types and sizes.
  void (*accumulate)(NativeStream* stream, const Tensor& target, const Tensor& addend);
  // Every element becomes `value`.
  void (*fill)(NativeStream* stream, const Tensor& to, double value);
  void (*copy_strided)(NativeStream* stream, const StridedPlan& plan, const void* in, void* out,
                       std::size_t element_bytes);
  // See shape/sum_strided.h.
  void (*sum_strided)(NativeStream* stream, const StridedPlan& plan, const Tensor& spread,
                      const Tensor& sums);
  // Axes as bits. What is finished in another type than the result's lies in the call's workspace.
  void (*reduce)(NativeStream* stream, const ReduceCall& call, const Tensor& in, uint32_t axes,
                 const Tensor& out, KernelContext& context);
  // See reduce/spread.h; y and x may be null where the row does not look at them.
  void (*spread)(NativeStream* stream, int row, const Tensor& dy, const Tensor* y, const Tensor* x,
                 uint32_t axes, const Tensor& dx, int64_t ddof);
  // See norm/activation.h and norm/softmax_kernel.h.
  void (*activation)(NativeStream* stream, int row, double slope, const Tensor& x, const Tensor& y);
  void (*activation_slope)(NativeStream* stream, int row, double slope, const Tensor& dy,
                           const Tensor& arg, const Tensor& dx);
  void (*softmax)(NativeStream* stream, const SoftmaxCall& call, const Tensor& x, const Tensor& y,
                  KernelContext& context);
  void (*softmax_slope)(NativeStream* stream, const SoftmaxCall& call, const Tensor& dy,
                        const Tensor& y, const Tensor& dx, KernelContext& context);
  // See optim/run_updates.h.
  void (*update)(NativeStream* stream, int rule, const UpdateJob& job);
  // See index/rows.h; the rule clips or wraps.
  void (*gather_rows)(NativeStream* stream, const void* in, int64_t outer, int64_t extent,
                      int64_t width, const Tensor& positions, OutOfRange rule, void* out);
  void (*sum_rows)(NativeStream* stream, const Tensor& in, int64_t outer, int64_t extent,
                   int64_t width, const Tensor& positions, OutOfRange rule, const Tensor& out,
                   KernelContext& context);
  void (*gemm)(NativeStream* stream, const GemmCall& call, KernelContext& context);
};

}  // namespace mxnet

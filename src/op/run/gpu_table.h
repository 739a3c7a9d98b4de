// SPDX-License-Identifier: Apache-2.0
// What the CUDA plug-in brings for operators: kernels by name, and primitives that portable kernels
// are made of. The plug-in fills it, op/run/gpu.h looks things up in it. A field that is null is a
// primitive that this plug-in does not have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "op/kernel.h"

namespace mxnet {

class StridedPlan;
struct BatchNormCall;
struct ConvGeometry;
struct PoolGeometry;
struct ReduceCall;
struct RowNorm;
struct SequenceView;
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
  bool fully_connected = false;  // MXNET_FC_TRUE_FP16 is about these
};

// One of the three passes of a convolution (windows/conv_geometry.h): the tensor that it computes
// is written.
enum class GpuConvPass : uint8_t { kMap, kImage, kWeight };
struct GpuConvCall {
  GpuConvPass pass;
  const ConvGeometry& geometry;
  const Tensor &image, &weight, &map;
  const Tensor* bias;         // a number for each channel of the result, or null
  int tune = 0;               // the parameter cudnn_tune: 0 = as the environment says
  int64_t workspace_mib = 0;  // limit
};

// Forward and backward pass of a batch normalisation (norm/batch_norm_kernel.h). Tensors of
// channels are float32, or float64 where the data is.
struct GpuBatchNorm {
  const BatchNormCall& call;
  bool of_batch;            // statistics are the batch's; else the moving ones
  bool spread_is_variance;  // else the inverse of the standard deviation
  const Tensor &data, &gamma, &moving_mean, &moving_var, &mean, &spread;
  const Tensor *beta = nullptr, *out = nullptr;                                    // forward
  const Tensor *dy = nullptr, *dx = nullptr, *dgamma = nullptr, *dbeta = nullptr;  // backward
  const Tensor* mask = nullptr;  // both; null = no relu
  double momentum = 0;           // backward
};

// What a run of random numbers is drawn from.
enum class GpuDistribution : uint8_t { kUniform, kNormal, kExponential };

// Random numbers of a distribution of random/samplers.h (kSampler) or of random/numpy_samplers.h.
struct GpuDraw {
  enum class Family : uint8_t { kSampler, kNumpy } family;
  int row;  // in its family
  uint64_t key;
  // Parameters: arrays of any numbers that broadcast to the result, or, where they are null,
  // numbers.
  const Tensor* arrays[2];
  double numbers[2];
  const Tensor& out;
  const Tensor* slope = nullptr;  // by the last parameter, or null
};

// The gradient of cross entropy that follows a softmax (norm/softmax_output.cc).
struct GpuClassGradient {
  const Tensor &label, &out, &dx;
  // Classes are `length` elements `inner` apart; 0: labels have a probability for each element.
  int64_t length, inner;
  double scale;
  bool divide_by_valid;  // by the number of labels that are not `ignore_label`, at least 1
  bool use_ignore;
  float ignore_label, smooth_alpha;
  bool times_out;  // multiplies by the result
};

// The first k elements in order of each line of n elements, `inner` apart (order/order.cc).
struct GpuOrder {
  int64_t outer, n, inner, k;
  bool ascending;
  const Tensor& in;                   // decides about the order
  const Tensor* positions = nullptr;  // k of a line, wherever they are not null:
  const Tensor* from = nullptr;       // elements at these positions of `from` ...
  const Tensor* taken = nullptr;      // ... become these,
  const Tensor* mask = nullptr;       // 1 where an element was taken; the rest stays
  const Tensor* given = nullptr;      // elements of this ...
  const Tensor* scattered = nullptr;  // ... come to these positions; the rest stays
};

// Images of rows of pixels of `channels` numbers in another size: a new pixel is a weighted sum of
// old ones, first of those of a row, then of these sums. New row (column) i has old rows (columns)
// old[i * taps + k], of weight[i * taps + k].
struct GpuResample {
  struct Axis {
    int64_t from, to, taps;
    const int64_t *old, *weight;  // on the device
  };
  // What weights are, and how sums become pixels.
  enum class How : uint8_t {
    kPick,     // one old pixel each, as it is
    kReal,     // bits of float64
    kWhole,    // of bytes: integers in units of 2^-11
    kAverage,  // of bytes: 1; sums are multiplied by `share` and rounded to even
    kHalvesUp  // the same of four, where halves go up
  } how;
  Axis rows, columns;
  int64_t channels;
  float share;
  const Tensor &in, &out;
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
  int multiply, divide;  // the rows that do, for families that do not know the rows
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
  // See moving/rows.h; the rule clips or wraps.
  void (*gather_rows)(NativeStream* stream, const void* in, int64_t outer, int64_t extent,
                      int64_t width, const Tensor& positions, OutOfRange rule, void* out);
  void (*sum_rows)(NativeStream* stream, const Tensor& in, int64_t outer, int64_t extent,
                   int64_t width, const Tensor& positions, OutOfRange rule, const Tensor& out,
                   KernelContext& context);
  // Row targets[i] of `out` becomes row sources[i] of `in`, or zeros where `in` is null. Rows have
  // `width` bytes, both lists are int64 on the device, no target comes twice.
  void (*put_rows)(NativeStream* stream, const void* in, int64_t width, const int64_t* sources,
                   const int64_t* targets, int64_t count, void* out);
  // See index/sequence_view.h; lengths (on the device) are within the steps, or null.
  void (*mask_steps)(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                     double value, const Tensor& in, const Tensor& out);
  void (*reverse_steps)(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                        const Tensor& in, const Tensor& out);
  void (*gemm)(NativeStream* stream, const GemmCall& call, KernelContext& context);
  void (*convolve)(NativeStream* stream, const GpuConvCall& call, KernelContext& context);
  // sums[c] = sum of channel c, which is dimension 1 or the last.
  void (*sum_channels)(NativeStream* stream, const Tensor& array, bool channels_last,
                       const Tensor& sums, KernelContext& context);
  // See windows/pooling_geometry.h. `lowest` is the maximum of windows that see nothing.
  void (*pool)(NativeStream* stream, const PoolGeometry& geometry, double lowest,
               const Tensor& image, const Tensor& map);
  // Gradients of every kind; maxima and norms look at the image, norms at the map.
  void (*pool_slope)(NativeStream* stream, const PoolGeometry& geometry, const Tensor& dmap,
                     const Tensor* image, const Tensor* map, const Tensor& dimage,
                     KernelContext& context);
  // map = picked at the places of the image's first maxima.
  void (*pool_pick)(NativeStream* stream, const PoolGeometry& geometry, const Tensor& image,
                    const Tensor& picked, const Tensor& map);
  void (*batch_norm)(NativeStream* stream, const GpuBatchNorm& call, KernelContext& context);
  void (*batch_norm_slope)(NativeStream* stream, const GpuBatchNorm& call, KernelContext& context);
  // One element of each line of `extent` elements, `inner` apart: from it, or into it.
  void (*pick)(NativeStream* stream, const Tensor& data, int64_t extent, int64_t inner,
               const Tensor& positions, OutOfRange rule, const Tensor& out);
  void (*put)(NativeStream* stream, const Tensor& values, int64_t extent, int64_t inner,
              const Tensor& positions, OutOfRange rule, const Tensor& out);
  // Philox, by `key` alone: the same numbers on any number of threads. Uniform: [a, b); normal:
  // mean a, deviation b; exponential: rate a.
  void (*random)(NativeStream* stream, GpuDistribution distribution, uint64_t key, double a,
                 double b, const Tensor& out);
  void (*draw)(NativeStream* stream, const GpuDraw& call);
  // Integers in [low, low + count).
  void (*draw_integers)(NativeStream* stream, uint64_t key, int64_t low, uint64_t count,
                        const Tensor& out);
  // Categories by rows of float32 running sums of their probabilities, as many of each row; `logs`
  // (null for none) are the logarithms of the probabilities of what was drawn.
  void (*draw_categories)(NativeStream* stream, uint64_t key, const Tensor& sums,
                          const Tensor& probabilities, const Tensor& out, const Tensor* logs);
  // How often each category comes in n draws, for each row of the int64 `out`; `sums` are the
  // running sums of the probabilities of all rows.
  void (*count_categories)(NativeStream* stream, uint64_t key, const double* sums, int64_t n,
                           const Tensor& out);
  // mask = 1 / keep with probability keep, else 0; out = in * mask, where these are not null.
  void (*keep_mask)(NativeStream* stream, uint64_t key, float keep, const Tensor& mask,
                    const Tensor* in, const Tensor* out);
  // out = condition ? x : y, which broadcast to it; x, y and out have one type.
  void (*choose)(NativeStream* stream, const Tensor& condition, const Tensor& x, const Tensor& y,
                 const Tensor& out);
  // A line of `off` for each position, with `on` at it; positions out of range mark nothing.
  void (*one_hot)(NativeStream* stream, const Tensor& positions, double on, double off,
                  const Tensor& out);
  // y = x within [low, high]; dx = dy where x is. NaN passes.
  void (*clip)(NativeStream* stream, double low, double high, const Tensor& x, const Tensor& y);
  void (*clip_slope)(NativeStream* stream, double low, double high, const Tensor& dy,
                     const Tensor& x, const Tensor& dx);
  // See norm/row_norm.h.
  void (*row_norm)(NativeStream* stream, const RowNorm& norm, const Tensor& x, const Tensor& gamma,
                   const Tensor& beta, const Tensor& y, const Tensor& mean, const Tensor& std,
                   KernelContext& context);
  void (*row_norm_slope)(NativeStream* stream, const RowNorm& norm, const Tensor& dy,
                         const Tensor& x, const Tensor& gamma, const Tensor& dx,
                         const Tensor& dgamma, const Tensor& dbeta, KernelContext& context);
  void (*class_slope)(NativeStream* stream, const GpuClassGradient& call, KernelContext& context);
  // out = place of the first largest (or smallest) of each line of `length` elements, `inner`
  // apart.
  void (*arg)(NativeStream* stream, bool largest, const Tensor& in, int64_t length, int64_t inner,
              const Tensor& out);
  void (*order)(NativeStream* stream, const GpuOrder& call, KernelContext& context);
  // Running sums of lines of `length` elements, `inner` apart, from the beginning or the end. One
  // type; float32 is summed as float64 where `wide`.
  void (*running_sum)(NativeStream* stream, const Tensor& in, int64_t length, int64_t inner,
                      bool reverse, bool wide, const Tensor& out, KernelContext& context);
  // See image/resample.h.
  void (*resample)(NativeStream* stream, const GpuResample& call);
  // out[i] = start + (i / repeat) * step, with start and step in the type of the result first.
  void (*count_up)(NativeStream* stream, double start, double step, int64_t repeat,
                   const Tensor& out);
};

}  // namespace mxnet

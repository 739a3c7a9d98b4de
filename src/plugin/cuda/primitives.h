// SPDX-License-Identifier: Apache-2.0
// The primitives of op/run/gpu_table.h, declared for the table that gathers them. Each is defined
// in the .cu of its family.
#pragma once
#include "op/run/gpu_table.h"

namespace mxnet {
namespace cuda {

void unary(NativeStream* stream, int row, const Tensor& x, const Tensor& y);
void unary_slope(NativeStream* stream, int row, const Tensor& dy, const Tensor& arg,
                 const Tensor& dx);
void binary(NativeStream* stream, int row, const Tensor& a, const Tensor& b, const Tensor& y);
void binary_scalar(NativeStream* stream, int row, const Tensor& a, double scalar, bool scalar_left,
                   const Tensor& y);
void binary_slope(NativeStream* stream, int row, bool left, const Tensor& dy, const Tensor& a,
                  const Tensor& b, const Tensor& dx);
void convert(NativeStream* stream, const Tensor& from, const Tensor& to);
void accumulate(NativeStream* stream, const Tensor& target, const Tensor& addend);
void fill(NativeStream* stream, const Tensor& to, double value);
void copy_strided(NativeStream* stream, const StridedPlan& plan, const void* in, void* out,
                  std::size_t element_bytes);
void reduce(NativeStream* stream, const ReduceCall& call, const Tensor& in, uint32_t axes,
            const Tensor& out, KernelContext& context);
// Norms anew where they have overflown or are too small to be exact: of float64, to float64.
void scale_roots(NativeStream* stream, const char* name, const Tensor& in, uint32_t axes,
                 const Tensor& out, KernelContext& context);
void sum_strided(NativeStream* stream, const StridedPlan& plan, const Tensor& spread,
                 const Tensor& sums);
void spread(NativeStream* stream, int row, const Tensor& dy, const Tensor* y, const Tensor* x,
            uint32_t axes, const Tensor& dx, int64_t ddof);
void activation(NativeStream* stream, int row, double slope, const Tensor& x, const Tensor& y);
void activation_slope(NativeStream* stream, int row, double slope, const Tensor& dy,
                      const Tensor& arg, const Tensor& dx);
void softmax(NativeStream* stream, const SoftmaxCall& call, const Tensor& x, const Tensor& y,
             KernelContext& context);
void softmax_slope(NativeStream* stream, const SoftmaxCall& call, const Tensor& dy, const Tensor& y,
                   const Tensor& dx, KernelContext& context);
void update(NativeStream* stream, int rule, const UpdateJob& job);
void gather_rows(NativeStream* stream, const void* in, int64_t outer, int64_t extent, int64_t width,
                 const Tensor& positions, OutOfRange rule, void* out);
// Whether sums that meet in one place must come in one order (MXNET_ENFORCE_DETERMINISM).
bool sums_in_order();
void sum_rows(NativeStream* stream, const Tensor& in, int64_t outer, int64_t extent, int64_t width,
              const Tensor& positions, OutOfRange rule, const Tensor& out, KernelContext& context);
void put_rows(NativeStream* stream, const void* in, int64_t width, const int64_t* sources,
              const int64_t* targets, int64_t count, void* out);
void mask_steps(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                double value, const Tensor& in, const Tensor& out);
void reverse_steps(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                   const Tensor& in, const Tensor& out);
void gemm(NativeStream* stream, const GemmCall& call, KernelContext& context);
void convolve(NativeStream* stream, const GpuConvCall& call, KernelContext& context);
void sum_channels(NativeStream* stream, const Tensor& array, bool channels_last, const Tensor& sums,
                  KernelContext& context);
void pool(NativeStream* stream, const PoolGeometry& geometry, double lowest, const Tensor& image,
          const Tensor& map);
void pool_slope(NativeStream* stream, const PoolGeometry& geometry, const Tensor& dmap,
                const Tensor* image, const Tensor* map, const Tensor& dimage,
                KernelContext& context);
void pool_pick(NativeStream* stream, const PoolGeometry& geometry, const Tensor& image,
               const Tensor& picked, const Tensor& map);
void batch_norm(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context);
void batch_norm_slope(NativeStream* stream, const GpuBatchNorm& work, KernelContext& context);
void pick(NativeStream* stream, const Tensor& data, int64_t extent, int64_t inner,
          const Tensor& positions, OutOfRange rule, const Tensor& out);
void put(NativeStream* stream, const Tensor& values, int64_t extent, int64_t inner,
         const Tensor& positions, OutOfRange rule, const Tensor& out);
void random(NativeStream* stream, GpuDistribution distribution, uint64_t key, double a, double b,
            const Tensor& out);
void draw(NativeStream* stream, const GpuDraw& call);
void draw_integers(NativeStream* stream, uint64_t key, int64_t low, uint64_t count,
                   const Tensor& out);
void draw_categories(NativeStream* stream, uint64_t key, const Tensor& sums,
                     const Tensor& probabilities, const Tensor& out, const Tensor* logs);
void count_categories(NativeStream* stream, uint64_t key, const double* sums, int64_t n,
                      const Tensor& out);
void keep_mask(NativeStream* stream, uint64_t key, float keep, const Tensor& mask, const Tensor* in,
               const Tensor* out);
void choose(NativeStream* stream, const Tensor& condition, const Tensor& x, const Tensor& y,
            const Tensor& out);
void one_hot(NativeStream* stream, const Tensor& positions, double on, double off,
             const Tensor& out);
void clip(NativeStream* stream, double low, double high, const Tensor& x, const Tensor& y);
void clip_slope(NativeStream* stream, double low, double high, const Tensor& dy, const Tensor& x,
                const Tensor& dx);
void row_norm(NativeStream* stream, const RowNorm& norm, const Tensor& x, const Tensor& gamma,
              const Tensor& beta, const Tensor& y, const Tensor& mean, const Tensor& std,
              KernelContext& context);
void row_norm_slope(NativeStream* stream, const RowNorm& norm, const Tensor& dy, const Tensor& x,
                    const Tensor& gamma, const Tensor& dx, const Tensor& dgamma,
                    const Tensor& dbeta, KernelContext& context);
void class_slope(NativeStream* stream, const GpuClassGradient& call, KernelContext& context);
void arg(NativeStream* stream, bool largest, const Tensor& in, int64_t length, int64_t inner,
         const Tensor& out);
void order(NativeStream* stream, const GpuOrder& call, KernelContext& context);
void running_sum(NativeStream* stream, const Tensor& in, int64_t length, int64_t inner,
                 bool reverse, bool wide, const Tensor& out, KernelContext& context);
void resample(NativeStream* stream, const GpuResample& call);
void count_up(NativeStream* stream, double start, double step, int64_t repeat, const Tensor& out);

}  // namespace cuda
}  // namespace mxnet

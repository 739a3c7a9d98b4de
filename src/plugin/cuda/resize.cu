// SPDX-License-Identifier: Apache-2.0
// BilinearResize2D (op/spatial/bilinear_resize.h).
#include "op/spatial/bilinear_resize.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A number of the result: plane, line, column.
template <class T>
struct Resize {
  const T* data;
  T* out;
  int64_t height, width;
  bool align_corners;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const ResizeTap<T> y(at[1], height, axes.size(1), align_corners);
    const ResizeTap<T> x(at[2], width, axes.size(2), align_corners);
    const T* plane = data + at[0] * height * width;
    out[i] = blend(y, x, plane + y.low * width, plane + y.high * width);
  }
};
template <class T>
struct ResizeSlope {
  const T* dout;
  T* dx;
  int64_t height, width;
  bool align_corners;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const ResizeTap<T> y(at[1], height, axes.size(1), align_corners);
    const ResizeTap<T> x(at[2], width, axes.size(2), align_corners);
    T* plane = dx + at[0] * height * width;
    T *top = plane + y.low * width, *bottom = plane + y.high * width;
    const T d = dout[i];
    atomic_add(top + x.low, d * (1 - y.weight) * (1 - x.weight));
    atomic_add(top + x.high, d * (1 - y.weight) * x.weight);
    atomic_add(bottom + x.low, d * y.weight * (1 - x.weight));
    atomic_add(bottom + x.high, d * y.weight * x.weight);
  }
};

void bilinear_resize(const ResizeParams& params, KernelContext& context) {
  const Shape &in = context.in(0).shape(), &out = context.out(0).shape();
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "BilinearResize2D", out.size(),
             Resize<T>{arrays.in(0), arrays.out(0), in[2], in[3], params.align_corners,
                       Axes<3>(out[0] * out[1], out[2], out[3])});
  });
}

void bilinear_resize_slope(const ResizeParams& params, KernelContext& context) {
  const Shape &in = context.out(0).shape(), &out = context.in(0).shape();
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    if (params.mode == ResizeMode::kLike) arrays.zeroed_out(1);
    T* const dx = arrays.zeroed_out(0);
    scatter(arrays.stream(), "BilinearResize2D", out[0] * out[1], out[2] * out[3],
            ResizeSlope<T>{arrays.in(0), dx, in[2], in[3], params.align_corners,
                           Axes<3>(out[0] * out[1], out[2], out[3])});
  });
}

}  // namespace

void add_resize(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<ResizeParams, bilinear_resize>("_contrib_BilinearResize2D"));
  rows->push_back(
      kernel_row<ResizeParams, bilinear_resize_slope>("_backward_contrib_BilinearResize2D"));
}

}  // namespace cuda
}  // namespace mxnet

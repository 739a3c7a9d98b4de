// SPDX-License-Identifier: Apache-2.0
// UpSampling, by repeating pixels or by a transposed convolution (op/spatial/up_sampling.h). Sums
// are gathered, in the order of the CPU's.
#include "op/spatial/up_sampling.h"

#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"

namespace mxnet {
namespace cuda {
namespace {

// --- nearest -------------------------------------------------------------------------------------

// Of the part of the result that one input fills: plane of the input, line, column.
template <class T>
struct Repeat {
  UpPlaced placed;
  const T* data;
  T* out;
  bool add;
  Axes<5> axes;  // plane, line, copy of the line, column, copy of the column
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<5> at = axes(i);
    const int64_t scale = placed.scale, width = placed.width;
    const int64_t to = placed.line(at[0], at[1]) + at[2] * width * scale + at[3] * scale + at[4];
    const Compute<T> x = widen(data[(at[0] * placed.height + at[1]) * width + at[3]]);
    out[to] = narrow<T>(add ? widen(out[to]) + x : x);
  }
};
template <class T>
struct SumRepeats {
  UpPlaced placed;
  const T* dout;
  T* dx;
  Axes<3> axes;  // plane, line, column
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const int64_t scale = placed.scale, line = placed.width * scale;
    const int64_t from = placed.line(at[0], at[1]) + at[2] * scale;
    Compute<T> sum = 0;
    for (int64_t y = 0; y < scale; ++y)
      for (int64_t x = 0; x < scale; ++x) sum += widen(dout[from + y * line + x]);
    dx[i] = narrow<T>(sum);
  }
};

// --- bilinear ------------------------------------------------------------------------------------

// One axis of a transposed convolution: place h of the image has a part in places
// [h * scale - pad, h * scale - pad + kernel) of the result.
struct UpAxis {
  int64_t scale, pad, kernel, size;  // size: of the image
  explicit UpAxis(const UpParams& params, int64_t size)
      : scale(params.scale), pad(params.pad()), kernel(params.kernel()), size(size) {}
  // The places of the image that have a part in place o: [first(o), last(o)).
  MX_DEVICE int64_t first(int64_t o) const {
    const int64_t beyond = o + pad - kernel;
    return beyond < 0 ? 0 : beyond / scale + 1;
  }
  MX_DEVICE int64_t last(int64_t o) const {
    const int64_t end = (o + pad) / scale + 1;
    return end < size ? end : size;
  }
  MX_DEVICE int64_t of_kernel(int64_t h, int64_t o) const { return o + pad - h * scale; }
  // The place that element i of the kernel makes of place h; may be outside.
  MX_DEVICE int64_t place(int64_t h, int64_t i) const { return h * scale - pad + i; }
  MX_DEVICE bool inside(int64_t o) const { return o >= 0 && o < size * scale; }
};
template <class T>
struct UpConvolve {
  UpAxis rows, columns;
  const T *data, *weight;
  T* out;
  Axes<4> axes;  // image, channel, line, column of the result
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<4> at = axes(i);
    const T* plane = data + (at[0] * axes.size(1) + at[1]) * rows.size * columns.size;
    const T* kernel = weight + at[1] * rows.kernel * columns.kernel;
    T sum = 0;
    for (int64_t h = rows.first(at[2]); h < rows.last(at[2]); ++h) {
      const T* line = kernel + rows.of_kernel(h, at[2]) * columns.kernel;
      for (int64_t w = columns.first(at[3]); w < columns.last(at[3]); ++w)
        sum += plane[h * columns.size + w] * line[columns.of_kernel(w, at[3])];
    }
    out[i] = sum;
  }
};
template <class T>
struct UpDataSlope {
  UpAxis rows, columns;
  const T *dout, *weight;
  T* ddata;
  Axes<4> axes;  // image, channel, line, column of the image
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<4> at = axes(i);
    const int64_t width = columns.size * columns.scale;
    const T* plane = dout + (at[0] * axes.size(1) + at[1]) * rows.size * rows.scale * width;
    const T* kernel = weight + at[1] * rows.kernel * columns.kernel;
    T sum = 0;
    for (int64_t k = 0; k < rows.kernel; ++k) {
      const int64_t y = rows.place(at[2], k);
      if (!rows.inside(y)) continue;
      for (int64_t j = 0; j < columns.kernel; ++j) {
        const int64_t x = columns.place(at[3], j);
        if (columns.inside(x)) sum += plane[y * width + x] * kernel[k * columns.kernel + j];
      }
    }
    ddata[i] = sum;
  }
};
// A group for each number of a kernel.
template <class T>
struct UpWeightSlope {
  UpAxis rows, columns;
  const T *dout, *data;
  T* dweight;
  int64_t images, channels;
  MX_DEVICE T part(int64_t i, int lane, int lanes) const {
    const int64_t j = i % columns.kernel, k = i / columns.kernel % rows.kernel;
    const int64_t channel = i / columns.kernel / rows.kernel;
    const int64_t area = rows.size * columns.size, width = columns.size * columns.scale;
    T sum = 0;
    for (int64_t at = lane; at < images * area; at += lanes) {
      const int64_t plane = at / area * channels + channel, pixel = at % area;
      const int64_t y = rows.place(pixel / columns.size, k);
      const int64_t x = columns.place(pixel % columns.size, j);
      if (rows.inside(y) && columns.inside(x))
        sum += dout[(plane * rows.size * rows.scale + y) * width + x] * data[plane * area + pixel];
    }
    return sum;
  }
  MX_DEVICE T merge(T a, T b) const { return a + b; }
  MX_DEVICE void finish(int64_t i, T sum) const { dweight[i] = sum; }
};

void up_sampling(const UpParams& params, KernelContext& context) {
  const Shape &in = context.in(0).shape(), &out = context.out(0).shape();
  if (!params.bilinear()) {
    const auto all = up_places(params, context, 0, out);
    for_dtype<kFloating.bits_>(context.out(0).dtype, "UpSampling", [&](auto element) {
      using T = decltype(element);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const UpPlaced& at = all[i];
        for_each(
            context.stream()->native(), "UpSampling", at.size() * at.scale * at.scale,
            Repeat<T>{at, context.in(static_cast<int>(i)).as<T>(), context.out(0).as<T>(),
                      i > 0 && params.sums(),
                      Axes<5>(at.batch * at.channels, at.height, at.scale, at.width, at.scale)});
      }
    });
    return;
  }
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "UpSampling", out.size(),
             UpConvolve<T>{UpAxis(params, in[2]), UpAxis(params, in[3]), arrays.in(0), arrays.in(1),
                           arrays.out(0), Axes<4>(out[0], out[1], out[2], out[3])});
  });
}

// Inputs: gradient of the output, then those of the forward operator.
void up_sampling_slope(const UpParams& params, KernelContext& context) {
  const Shape& in = context.in(1).shape();
  if (!params.bilinear()) {
    const auto all = up_places(params, context, 1, context.in(0).shape());
    for_dtype<kFloating.bits_>(context.in(0).dtype, "UpSampling", [&](auto element) {
      using T = decltype(element);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const UpPlaced& at = all[i];
        for_each(context.stream()->native(), "UpSampling", at.size(),
                 SumRepeats<T>{at, context.in(0).as<T>(), context.out(static_cast<int>(i)).as<T>(),
                               Axes<3>(at.batch * at.channels, at.height, at.width)});
      }
    });
    return;
  }
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const UpAxis rows(params, in[2]), columns(params, in[3]);
    const T *dout = arrays.in(0), *data = arrays.in(1), *weight = arrays.in(2);
    for_each(arrays.stream(), "UpSampling", in.size(),
             UpDataSlope<T>{rows, columns, dout, weight, arrays.out(0),
                            Axes<4>(in[0], in[1], in[2], in[3])});
    for_each_group(arrays.stream(), "UpSampling", context.out(1).size(), true,
                   UpWeightSlope<T>{rows, columns, dout, data, arrays.out(1), in[0], in[1]});
  });
}

}  // namespace

void add_up_sampling(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<UpParams, up_sampling>("UpSampling"));
  rows->push_back(kernel_row<UpParams, up_sampling_slope>("_backward_UpSampling"));
}

}  // namespace cuda
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that make images larger or smaller: UpSampling, BilinearResize2D and
// AdaptiveAvgPooling2D. Sums are gathered, in the order of the CPU's, wherever that takes no more
// than a few looks.
#include "op/nn/adaptive_pooling.h"
#include "op/spatial/bilinear_resize.h"
#include "op/spatial/up_sampling.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// --- UpSampling, nearest -------------------------------------------------------------------------

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

// --- UpSampling, bilinear ------------------------------------------------------------------------

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

// --- BilinearResize2D ----------------------------------------------------------------------------

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

// --- AdaptiveAvgPooling2D ------------------------------------------------------------------------

// A number of the map: plane, line, column. Columns are summed first, as on the CPU.
template <class T>
struct AdaptiveAverage {
  AdaptiveWindows rows, columns;
  const T* images;
  T* maps;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T* plane = images + at[0] * rows.size * columns.size;
    const int64_t top = rows.begin(at[1]), bottom = rows.end(at[1]);
    const int64_t left = columns.begin(at[2]), right = columns.end(at[2]);
    double sum = 0;
    for (int64_t x = left; x < right; ++x) {
      double column = 0;
      for (int64_t y = top; y < bottom; ++y)
        column += static_cast<double>(widen(plane[y * columns.size + x]));
      sum += column;
    }
    maps[i] = narrow<T>(
        static_cast<Compute<T>>(sum / static_cast<double>((bottom - top) * (right - left))));
  }
};
// A pixel: plane, line, column. It has a share of every window over it.
template <class T>
struct AdaptiveShare {
  AdaptiveWindows rows, columns;
  AdaptiveWindows over_line, over_column;
  const T* dmaps;
  T* dimages;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T* plane = dmaps + at[0] * rows.count * columns.count;
    Compute<T> sum = 0;
    for (int64_t r = over_line.begin(at[1]); r < over_line.end(at[1]); ++r) {
      double line = 0;
      for (int64_t c = over_column.begin(at[2]); c < over_column.end(at[2]); ++c) {
        const int64_t area = (rows.end(r) - rows.begin(r)) * (columns.end(c) - columns.begin(c));
        line +=
            static_cast<double>(widen(plane[r * columns.count + c])) / static_cast<double>(area);
      }
      sum += static_cast<Compute<T>>(line);
    }
    dimages[i] = narrow<T>(sum);
  }
};

void adaptive_pooling(const AdaptiveParams&, KernelContext& context) {
  const Shape &in = context.in(0).shape(), &out = context.out(0).shape();
  for_dtype<kFloating.bits_>(context.in(0).dtype, "AdaptiveAvgPooling2D", [&](auto element) {
    using T = decltype(element);
    for_each(context.stream()->native(), "AdaptiveAvgPooling2D", out.size(),
             AdaptiveAverage<T>{{in[2], out[2]},
                                {in[3], out[3]},
                                context.in(0).as<T>(),
                                context.out(0).as<T>(),
                                Axes<3>(out[0] * out[1], out[2], out[3])});
  });
}

void adaptive_pooling_slope(const AdaptiveParams&, KernelContext& context) {
  const Shape &in = context.out(0).shape(), &out = context.in(0).shape();
  const AdaptiveWindows rows{in[2], out[2]}, columns{in[3], out[3]};
  for_dtype<kFloating.bits_>(context.in(0).dtype, "AdaptiveAvgPooling2D", [&](auto element) {
    using T = decltype(element);
    for_each(context.stream()->native(), "AdaptiveAvgPooling2D", in.size(),
             AdaptiveShare<T>{rows, columns, rows.over_pixels(), columns.over_pixels(),
                              context.in(0).as<T>(), context.out(0).as<T>(),
                              Axes<3>(in[0] * in[1], in[2], in[3])});
  });
}

}  // namespace

void add_resize(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<UpParams, up_sampling>("UpSampling"));
  rows->push_back(kernel_row<UpParams, up_sampling_slope>("_backward_UpSampling"));
  rows->push_back(kernel_row<ResizeParams, bilinear_resize>("_contrib_BilinearResize2D"));
  rows->push_back(
      kernel_row<ResizeParams, bilinear_resize_slope>("_backward_contrib_BilinearResize2D"));
  rows->push_back(kernel_row<AdaptiveParams, adaptive_pooling>("_contrib_AdaptiveAvgPooling2D"));
  rows->push_back(
      kernel_row<AdaptiveParams, adaptive_pooling_slope>("_backward_contrib_AdaptiveAvgPooling2D"));
}

}  // namespace cuda
}  // namespace mxnet

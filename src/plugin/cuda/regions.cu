// SPDX-License-Identifier: Apache-2.0
// Kernels of ROIPooling and ROIAlign (op/spatial/roi_pooling.h, op/detect/roi_align.h). A region of
// an image that does not exist has no numbers: NaN, since kernels cannot throw.
#include "op/detect/roi_align.h"
#include "op/spatial/roi_pooling.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A number of the result: region, channel, line and column of the bin.
template <class T>
struct RoiMaxima {
  const T *data, *rois;
  T* out;
  int64_t* where;
  int64_t images, height, width;
  float scale;
  Axes<4> axes;

  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<4> at = axes(o);
    const T* roi = rois + at[0] * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<T>(images))) {
      out[o] = static_cast<T>(NAN);
      where[o] = -1;
      return;
    }
    const BinSpan rows = bin_span<T>(at[2], axes.size(2), roi_place(roi[2], scale),
                                     roi_place(roi[4], scale), height);
    const BinSpan columns =
        bin_span<T>(at[3], axes.size(3), roi_place(roi[1], scale), roi_place(roi[3], scale), width);
    const int64_t first = (static_cast<int64_t>(roi[0]) * axes.size(1) + at[1]) * height * width;
    int64_t best = -1;
    for (int64_t y = rows.first; y < rows.last; ++y) {
      for (int64_t x = columns.first; x < columns.last; ++x) {
        const int64_t pixel = first + y * width + x;
        if (best < 0 || data[pixel] > data[best]) best = pixel;
      }
    }
    out[o] = best < 0 ? T(0) : data[best];
    where[o] = best;
  }
};

void roi_pooling(const RoiPoolingParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape &data = context.in(0).shape(), &out = context.out(0).shape();
    for_each(arrays.stream(), "ROIPooling", out.size(),
             RoiMaxima<T>{arrays.in(0), arrays.in(1), arrays.out(0), context.out(1).as<int64_t>(),
                          data[0], data[2], data[3], params.spatial_scale,
                          Axes<4>(out[0], out[1], out[2], out[3])});
  });
}

// Numbered by channel, region, bin: what a channel's numbers add to belongs to it alone.
template <class T>
struct RoiMaximaSlope {
  const T* dout;
  const int64_t* where;
  T* dx;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const int64_t o = (at[1] * axes.size(0) + at[0]) * axes.size(2) + at[2];
    if (where[o] >= 0) atomic_add(dx + where[o], dout[o]);
  }
};

void roi_pooling_slope(const void*, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.in(0).shape();
    T* const dx = arrays.zeroed_out(0);
    scatter(arrays.stream(), "ROIPooling", out[1], out[0] * out[2] * out[3],
            RoiMaximaSlope<T>{arrays.in(0), context.in(1).as<int64_t>(), dx,
                              Axes<3>(out[1], out[0], out[2] * out[3])});
  });
}

// What both passes of ROIAlign know.
template <class T>
struct Align {
  const T* rois;
  detect::PoolShape shape;
  int64_t images, rows, columns;
  int32_t sample_ratio;
  float scale;
  bool aligned;

  Align(const detect::RoiAlignParams& params, const T* rois, const Shape& data)
      : rois(rois),
        shape(params.pool_shape(data)),
        images(data[0]),
        rows(params.pooled_size[0]),
        columns(params.pooled_size[1]),
        sample_ratio(params.sample_ratio),
        scale(params.spatial_scale),
        aligned(params.aligned) {}

  // fn(first pixel of the plane, sample, factor of the sum) for the samples of a bin; false where
  // its region's image does not exist, or the region takes more samples than the CPU allows.
  template <class Frame, class F>
  MX_DEVICE bool each_sample(int64_t region, int64_t channel, int64_t bin, const F& fn) const {
    const T* roi = rois + region * Frame::kNumbers;
    if (!(roi[0] < static_cast<T>(images))) return false;
    if (roi[0] < 0) return true;
    const Frame frame(roi, static_cast<T>(scale), aligned);
    const detect::BinGrid<T> grid(frame.h, frame.w, rows, columns, sample_ratio);
    if (grid.samples(rows * columns) > detect::kMostSamples) return false;
    const int64_t plane =
        (static_cast<int64_t>(roi[0]) * shape.channels + shape.channel(channel, bin)) *
        shape.area();
    for (int64_t i = 0; i < grid.tall; ++i) {
      for (int64_t j = 0; j < grid.wide; ++j) {
        const detect::PlanePlace<T> at = grid.place(frame, bin / columns, bin % columns, i, j);
        detect::Sample<T> sample;
        if (detect::make_sample(at.y, at.x, shape.height, shape.width, &sample))
          fn(plane, sample, grid.scale());
      }
    }
    return true;
  }
};

// A number of the result: region, channel, bin.
template <class T, class Frame>
struct AlignForward {
  Align<T> align;
  const T* data;
  T* out;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<3> at = axes(o);
    T sum = 0, factor = 1;
    const T* from = data;
    const bool exists = align.template each_sample<Frame>(
        at[0], at[1], at[2], [&](int64_t plane, const detect::Sample<T>& sample, T scale) {
          for (int k = 0; k < 4; ++k) sum += sample.weight[k] * from[plane + sample.at[k]];
          factor = scale;
        });
    out[o] = exists ? sum * factor : static_cast<T>(NAN);
  }
};

template <template <class> class Frame>
void roi_align(const detect::RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.out(0).shape();
    const Align<T> align(params, arrays.in(1), context.in(0).shape());
    for_each(arrays.stream(), "ROIAlign", out.size(),
             AlignForward<T, Frame<T>>{align, arrays.in(0), arrays.out(0),
                                       Axes<3>(out[0], out[1], params.bins())});
  });
}

// Numbered by channel, region, bin.
template <class T>
struct AlignSlope {
  Align<T> align;
  const T* dout;
  T* dx;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T d = dout[(at[1] * axes.size(0) + at[0]) * axes.size(2) + at[2]];
    T* const to = dx;
    align.template each_sample<detect::UprightFrame<T>>(
        at[1], at[0], at[2], [&](int64_t plane, const detect::Sample<T>& sample, T scale) {
          for (int k = 0; k < 4; ++k)
            atomic_add(to + plane + sample.at[k], d * scale * sample.weight[k]);
        });
  }
};

void roi_align_slope(const detect::RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.in(0).shape();
    const Align<T> align(params, arrays.in(1), context.out(0).shape());
    T* const dx = arrays.zeroed_out(0);
    scatter(arrays.stream(), "ROIAlign", out[1], out[0] * params.bins(),
            AlignSlope<T>{align, arrays.in(0), dx, Axes<3>(out[1], out[0], params.bins())});
  });
}

}  // namespace

void add_regions(std::vector<GpuKernelRow>* rows) {
  using detect::RoiAlignParams;
  rows->push_back(kernel_row<RoiPoolingParams, roi_pooling>("ROIPooling"));
  rows->push_back({"_backward_ROIPooling", roi_pooling_slope, nullptr});
  rows->push_back(kernel_row<RoiAlignParams, roi_align<detect::UprightFrame>>("_contrib_ROIAlign"));
  rows->push_back(kernel_row<RoiAlignParams, roi_align<detect::TurnedFrame>>("_contrib_RROIAlign"));
  rows->push_back(kernel_row<RoiAlignParams, roi_align_slope>("_backward_ROIAlign"));
}

}  // namespace cuda
}  // namespace mxnet

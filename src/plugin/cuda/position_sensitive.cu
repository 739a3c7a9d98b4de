// SPDX-License-Identifier: Apache-2.0
// Position-sensitive pooling of regions (op/detect/ps_roi_pooling.h). A region of an image that
// does not exist has no numbers: NaN, since kernels cannot throw.
#include "op/detect/ps_roi_pooling.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

Planes planes_of(const Shape& data) { return {data[0], data[1], data[2], data[3]}; }

// A number of the result: region, channel, line and column of the bin.
template <class T>
struct BinAverage {
  PsRoiParams params;
  Planes planes;
  const T *data, *rois;
  T* out;
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<4> at = axes(o);
    const T* roi = rois + at[0] * 5;
    if (!planes.has(roi[0])) {
      out[o] = static_cast<T>(NAN);
      return;
    }
    const BinPixels bin = bin_pixels(params, planes, roi, at[1], at[2], at[3]);
    T sum(0);
    for (int64_t h = bin.top; h < bin.bottom; ++h)
      for (int64_t w = bin.left; w < bin.right; ++w) sum += data[bin.plane + h * planes.width + w];
    out[o] = bin.count() == 0 ? T(0) : sum / static_cast<T>(bin.count());
  }
};
// Numbered by channel, region, bin: what a channel's bins add to belongs to it alone.
template <class T>
struct BinAverageSlope {
  PsRoiParams params;
  Planes planes;
  const T *dout, *rois;
  T* dx;
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<4> at = axes(i);
    const T* roi = rois + at[1] * 5;
    if (!planes.has(roi[0])) return;
    const BinPixels bin = bin_pixels(params, planes, roi, at[0], at[2], at[3]);
    const int64_t o = ((at[1] * axes.size(0) + at[0]) * axes.size(2) + at[2]) * axes.size(3);
    const T d = dout[o + at[3]] / static_cast<T>(bin.count());
    for (int64_t h = bin.top; h < bin.bottom; ++h)
      for (int64_t w = bin.left; w < bin.right; ++w)
        atomic_add(dx + bin.plane + h * planes.width + w, d);
  }
};

void ps_roi(const PsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.out(0).shape();
    for_each(arrays.stream(), "PSROIPooling", out.size(),
             BinAverage<T>{params, planes_of(context.in(0).shape()), arrays.in(0), arrays.in(1),
                           arrays.out(0), Axes<4>(out[0], out[1], out[2], out[3])});
  });
}
void ps_roi_slope(const PsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.in(0).shape();
    T* const dx = arrays.zeroed_out(0);
    scatter(arrays.stream(), "PSROIPooling", out[1], out[0] * out[2] * out[3],
            BinAverageSlope<T>{params, planes_of(context.out(0).shape()), arrays.in(0),
                               arrays.in(1), dx, Axes<4>(out[1], out[0], out[2], out[3])});
  });
}

// --- with learnt offsets -------------------------------------------------------------------------

template <class T>
struct SampleAverage {
  DeformedBins<T> bins;
  const T* data;
  T *out, *counts;
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<4> at = axes(o);
    if (!bins.planes.has(bins.rois[at[0] * 5])) {
      out[o] = static_cast<T>(NAN);
      counts[o] = T(0);
      return;
    }
    const auto bin = bins.bin(at[0], at[1], at[2], at[3]);
    const T* plane = data + bin.plane;
    T sum(0);
    const auto count = static_cast<T>(bins.each_sample(
        bin, [&](const Neighbours<T>& s) { sum += s.sum(plane, s.at, s.weight); }));
    out[o] = count == T(0) ? T(0) : sum / count;
    counts[o] = count;
  }
};
// A number of the gradient. Bins of all channels of a class have a part in its offsets.
template <class T>
struct SampleAverageSlope {
  DeformedBins<T> bins;
  const T *dout, *data;
  T *ddata, *dtrans;  // dtrans may be null
  Axes<4> axes;
  MX_DEVICE void operator()(int64_t o) const {
    const Coordinates<4> at = axes(o);
    if (!bins.planes.has(bins.rois[at[0] * 5])) return;
    const auto bin = bins.bin(at[0], at[1], at[2], at[3]);
    const int64_t area = bins.params.parts() * bins.params.parts();
    const T d = dout[o] / static_cast<T>(bins.count_samples(bin));
    const T along = d * static_cast<T>(bins.params.trans_std);
    const T* plane = data + bin.plane;
    T *to = ddata + bin.plane, *shift = dtrans;
    bins.each_sample(bin, [&](const Neighbours<T>& s) {
      for (int k = 0; k < 4; ++k) atomic_add(to + s.at[k], d * s.weight[k]);
      if (shift == nullptr) return;
      atomic_add(shift + bin.shift_x, along * bin.roi_width * s.sum(plane, s.at, s.slope_x));
      atomic_add(shift + bin.shift_x + area,
                 along * bin.roi_height * s.sum(plane, s.at, s.slope_y));
    });
  }
};

// `first`: where data is among the inputs; regions and offsets follow.
template <class T, class Arrays>
DeformedBins<T> bins_of(const DeformablePsRoiParams& params, const Arrays& arrays,
                        const KernelContext& context, int first) {
  const bool moved = !params.no_trans;
  return {params, planes_of(context.in(first).shape()), arrays.in(first + 1),
          moved ? arrays.in(first + 2) : nullptr, moved ? context.in(first + 2).dim(1) / 2 : 1};
}

void deformable_ps_roi(const DeformablePsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.out(0).shape();
    const T* data = arrays.in(0);
    T *const averages = arrays.out(0), *const counts = arrays.out(1);
    for_each(arrays.stream(), "DeformablePSROIPooling", out.size(),
             SampleAverage<T>{bins_of<T>(params, arrays, context, 0), data, averages, counts,
                              Axes<4>(out[0], out[1], out[2], out[3])});
  });
}
// Inputs: gradient of the output, data, regions, [trans].
void deformable_ps_roi_slope(const DeformablePsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& out = context.in(0).shape();
    T* const ddata = arrays.zeroed_out(0);
    T* const dtrans = params.no_trans ? nullptr : arrays.zeroed_out(1);
    // Regions and channels share places: one part.
    scatter(
        arrays.stream(), "DeformablePSROIPooling", 1, out.size(),
        SampleAverageSlope<T>{bins_of<T>(params, arrays, context, 1), arrays.in(0), arrays.in(1),
                              ddata, dtrans, Axes<4>(out[0], out[1], out[2], out[3])});
  });
}

}  // namespace

void add_position_sensitive(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<PsRoiParams, ps_roi>("_contrib_PSROIPooling"));
  rows->push_back(kernel_row<PsRoiParams, ps_roi_slope>("_backward__contrib_PSROIPooling"));
  rows->push_back(
      kernel_row<DeformablePsRoiParams, deformable_ps_roi>("_contrib_DeformablePSROIPooling"));
  rows->push_back(kernel_row<DeformablePsRoiParams, deformable_ps_roi_slope>(
      "_backward__contrib_DeformablePSROIPooling"));
}

}  // namespace cuda
}  // namespace mxnet

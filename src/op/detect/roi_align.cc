// SPDX-License-Identifier: Apache-2.0
// Regions of feature maps as arrays of one size, without rounding: upright and rotated ones.
#include <fmt/format.h>

#include "base/error.h"
#include "op/computed.h"
#include "op/detect/roi_samples.h"
#include "op/op_builder.h"

namespace mxnet::detect {
namespace {

struct RoiAlignParams {
  Shape pooled_size;
  float spatial_scale;
  int32_t sample_ratio;
  bool position_sensitive, aligned;
};

int64_t bins_of(const RoiAlignParams& params) { return params.pooled_size.size(); }

PoolShape pool_shape(const RoiAlignParams& params, const Shape& data) {
  return {data[1], data[2], data[3], bins_of(params), params.position_sensitive};
}

// Which image a region lies in; negative for none.
template <class T>
int64_t image_of(T number, int64_t images, const char* op) {
  if (!(number < static_cast<T>(images))) {
    throw Error(ErrorCode::kValue, op,
                fmt::format("rois: given image {}, expected less than {}",
                            static_cast<double>(number), images));
  }
  return number < 0 ? -1 : static_cast<int64_t>(number);
}

// Samples of a bin along one axis.
template <class T>
int64_t samples_along(int32_t wanted, T bin) {
  return wanted > 0 ? wanted : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(bin)));
}

// Samples evenly spread over the bins of a box of `h` by `w`; place(y, x) turns offsets from the
// corner of the box into places of the plane.
template <class T, class Place>
void spread_samples(const RoiAlignParams& params, const PoolShape& shape, T h, T w,
                    const Place& place, Region<T>* region) {
  const int64_t rows = params.pooled_size[0], columns = params.pooled_size[1];
  const T bin_h = h / static_cast<T>(rows), bin_w = w / static_cast<T>(columns);
  const int64_t grid_h = samples_along(params.sample_ratio, bin_h);
  const int64_t grid_w = samples_along(params.sample_ratio, bin_w);
  region->scale = T{1} / static_cast<T>(std::max<int64_t>(grid_h * grid_w, 1));
  const auto offset = [](int64_t bin, T size, int64_t i, int64_t count) {
    return (static_cast<T>(bin) + (static_cast<T>(i) + T(0.5)) / static_cast<T>(count)) * size;
  };
  region->first.push_back(0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < grid_h; ++i) {
        for (int64_t j = 0; j < grid_w; ++j) {
          const auto [y, x] = place(offset(r, bin_h, i, grid_h), offset(c, bin_w, j, grid_w));
          Sample<T> sample;
          if (make_sample(y, x, shape.height, shape.width, &sample))
            region->samples.push_back(sample);
        }
      }
      region->first.push_back(static_cast<int64_t>(region->samples.size()));
    }
  }
}

template <class T>
std::vector<Region<T>> upright_regions(const RoiAlignParams& params, const PoolShape& shape,
                                       const T* rois, int64_t count, int64_t images) {
  std::vector<Region<T>> regions(static_cast<std::size_t>(count));
  const T scale = static_cast<T>(params.spatial_scale), shift = params.aligned ? T(0.5) : T(0);
  for (int64_t i = 0; i < count; ++i, rois += 5) {
    Region<T>& region = regions[static_cast<std::size_t>(i)];
    region.image = image_of(rois[0], images, "_contrib_ROIAlign");
    if (region.image < 0) continue;
    const T left = rois[1] * scale - shift, top = rois[2] * scale - shift;
    T w = rois[3] * scale - shift - left, h = rois[4] * scale - shift - top;
    if (!params.aligned) {
      w = std::max(w, T{1});
      h = std::max(h, T{1});
    }
    spread_samples(params, shape, h, w, [=](T y, T x) { return std::pair(top + y, left + x); },
                   &region);
  }
  return regions;
}

// Regions of centre, width, height and angle in degrees.
template <class T>
std::vector<Region<T>> rotated_regions(const RoiAlignParams& params, const PoolShape& shape,
                                       const T* rois, int64_t count, int64_t images) {
  constexpr double kRadians = 3.14159265358979323846 / 180;
  std::vector<Region<T>> regions(static_cast<std::size_t>(count));
  const T scale = static_cast<T>(params.spatial_scale);
  for (int64_t i = 0; i < count; ++i, rois += 6) {
    Region<T>& region = regions[static_cast<std::size_t>(i)];
    region.image = image_of(rois[0], images, "_contrib_RROIAlign");
    if (region.image < 0) continue;
    const T x0 = rois[1] * scale, y0 = rois[2] * scale;
    const T w = std::max(rois[3] * scale, T{1}), h = std::max(rois[4] * scale, T{1});
    const T angle = rois[5] * T(kRadians), cos = std::cos(angle), sin = std::sin(angle);
    spread_samples(params, shape, h, w,
                   [=](T y, T x) {
                     const T v = y - h / 2, u = x - w / 2;
                     return std::pair(v * cos - u * sin + y0, u * cos + v * sin + x0);
                   },
                   &region);
  }
  return regions;
}

void infer_regions(const RoiAlignParams& params, Infer& infer, InferArg data, InferArg rois,
                   InferArg pooled, int64_t numbers) {
  infer.one_dtype();
  data.set_shape(Shape{-1, -1, -1, -1});
  rois.set_shape(Shape{-1, numbers});
  if (params.pooled_size.ndim() != 2 || params.pooled_size[0] <= 0 || params.pooled_size[1] <= 0)
    infer.fail("given pooled_size " + to_string(params.pooled_size) +
               ", expected two positive numbers");
  int64_t channels = data.dim(1);
  if (channels >= 0 && params.position_sensitive) {
    if (channels % bins_of(params) != 0)
      data.fail(fmt::format("a multiple of {} channels", bins_of(params)));
    channels /= bins_of(params);
  }
  pooled.set_shape(Shape{rois.dim(0), channels, params.pooled_size[0], params.pooled_size[1]});
}

template <bool rotated>
void align_cpu(const RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const PoolShape shape = pool_shape(params, context.in(0).shape());
    const T* data = arrays.in(0);
    const auto find = rotated ? rotated_regions<T> : upright_regions<T>;
    const auto regions =
        find(params, shape, arrays.in(1), context.in(1).dim(0), context.in(0).dim(0));
    pool(shape, regions, data, arrays.out(0));
  });
}

// Inputs: gradient of the output, regions.
void align_backward_cpu(const RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const PoolShape shape = pool_shape(params, context.out(0).shape());
    const T* dout = arrays.in(0);
    const auto regions = upright_regions(params, shape, arrays.in(1), context.in(1).dim(0),
                                         context.out(0).dim(0));
    T* dx = arrays.out(0);
    std::fill_n(dx, context.out(0).size(), T{0});
    unpool(shape, regions, dout, dx);
  });
}

OpBuilder<RoiAlignParams> with_params(const char* name) {
  OpBuilder<RoiAlignParams> op(name);
  op.param("pooled_size", &RoiAlignParams::pooled_size, "Height and width of the result.")
      .param("spatial_scale", &RoiAlignParams::spatial_scale,
             "Places of the feature map by pixels of the image.")
      .param("sample_ratio", &RoiAlignParams::sample_ratio, -1,
             "Samples of a bin along each axis; as many as it has places if not positive.")
      .param("position_sensitive", &RoiAlignParams::position_sensitive, false,
             "Whether each bin has channels of its own.")
      .param("aligned", &RoiAlignParams::aligned, false,
             "Whether pixels have their value in the middle, and small regions stay small.");
  return op;
}

[[maybe_unused]] const OpBuilder<RoiAlignParams> forward_op =
    with_params("_contrib_ROIAlign")
        .doc("Averages of bilinear samples in the bins of each region.")
        .input("data", "Feature maps, (images, channels, height, width).")
        .input("rois", "Regions (image, corners in pixels), (regions, 5).")
        .dtypes(kFloating)
        .infer([](const RoiAlignParams& params, Infer& infer) {
          infer_regions(params, infer, infer.in(0), infer.in(1), infer.out(0), 5);
        })
        .cpu(align_cpu<false>)
        .grad([](const RoiAlignParams&, Grad& grad) {
          return Gradients{
              apply("_backward_ROIAlign", {grad.dout(0), grad.in(1), grad.in(0)}, grad.attrs()), {}};
        });

[[maybe_unused]] const OpBuilder<RoiAlignParams> backward_op =
    with_params("_backward_ROIAlign")
        .doc("Gradient of _contrib_ROIAlign.")
        .input("dout", "Gradient of the result.")
        .input("rois", "Regions.")
        .input("data", "Feature maps, of which only the shape matters.")
        .type_only(2)
        .dtypes(kFloating)
        .infer([](const RoiAlignParams& params, Infer& infer) {
          infer_regions(params, infer, infer.in(2), infer.in(1), infer.in(0), 5);
          infer.out(0).same_shape(infer.in(2));
        })
        .cpu(align_backward_cpu);

MX_OP(_contrib_RROIAlign, RoiAlignParams)
    .doc("Averages of bilinear samples in the bins of each rotated region.")
    .input("data", "Feature maps, (images, channels, height, width).")
    .input("rois", "Regions (image, centre, width, height, degrees), (regions, 6).")
    .param("pooled_size", &RoiAlignParams::pooled_size, "Height and width of the result.")
    .param("spatial_scale", &RoiAlignParams::spatial_scale,
           "Places of the feature map by pixels of the image.")
    .param("sampling_ratio", &RoiAlignParams::sample_ratio, -1,
           "Samples of a bin along each axis; as many as it has places if not positive.")
    .dtypes(kFloating)
    .infer([](const RoiAlignParams& params, Infer& infer) {
      infer_regions(params, infer, infer.in(0), infer.in(1), infer.out(0), 6);
    })
    .cpu(align_cpu<true>);

}  // namespace
}  // namespace mxnet::detect

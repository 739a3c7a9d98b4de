// SPDX-License-Identifier: Apache-2.0
// Regions of feature maps as arrays of one size, without rounding: upright and rotated ones.
#include <fmt/format.h>

#include "base/error.h"
#include "op/detect/roi_align.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"

namespace mxnet::detect {
namespace {

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

template <class T, class Frame>
void spread_samples(const RoiAlignParams& params, const PoolShape& shape, const Frame& frame,
                    Region<T>* region) {
  const int64_t rows = params.pooled_size[0], columns = params.pooled_size[1];
  const BinGrid<T> grid(frame.h, frame.w, rows, columns, params.sample_ratio);
  const double samples = grid.samples(rows * columns);
  if (samples > kMostSamples) {
    throw Error(
        ErrorCode::kValue, Frame::kOp,
        fmt::format("given a region of {} by {} pixels that takes {} samples, expected at most {}",
                    static_cast<double>(frame.h), static_cast<double>(frame.w), samples,
                    kMostSamples));
  }
  region->scale = grid.scale();
  region->first.push_back(0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < grid.tall; ++i) {
        for (int64_t j = 0; j < grid.wide; ++j) {
          const PlanePlace<T> at = grid.place(frame, r, c, i, j);
          Sample<T> sample;
          if (make_sample(at.y, at.x, shape.height, shape.width, &sample))
            region->samples.push_back(sample);
        }
      }
      region->first.push_back(static_cast<int64_t>(region->samples.size()));
    }
  }
}

template <template <class> class Frame, class T>
std::vector<Region<T>> find_regions(const RoiAlignParams& params, const PoolShape& shape,
                                    const T* rois, int64_t count, int64_t images) {
  std::vector<Region<T>> regions(static_cast<std::size_t>(count));
  const T scale = static_cast<T>(params.spatial_scale);
  for (Region<T>& region : regions) {
    region.image = image_of(rois[0], images, Frame<T>::kOp);
    if (region.image >= 0)
      spread_samples(params, shape, Frame<T>(rois, scale, params.aligned), &region);
    rois += Frame<T>::kNumbers;
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
  // Upright regions of nothing are zeros; a rotated one's samples are moved onto the image.
  if (numbers == 6 && (data.dim(2) == 0 || data.dim(3) == 0))
    data.fail("images of one pixel or more");
  int64_t channels = data.dim(1);
  if (channels >= 0 && params.position_sensitive) {
    if (channels % params.bins() != 0)
      data.fail(fmt::format("a multiple of {} channels", params.bins()));
    channels /= params.bins();
  }
  pooled.set_shape(Shape{rois.dim(0), channels, params.pooled_size[0], params.pooled_size[1]});
}

template <template <class> class Frame>
void align_cpu(const RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const PoolShape shape = params.pool_shape(context.in(0).shape());
    const T* data = arrays.in(0);
    const auto regions = find_regions<Frame>(params, shape, arrays.in(1), context.in(1).dim(0),
                                             context.in(0).dim(0));
    pool(shape, regions, data, arrays.out(0));
  });
}

// Inputs: gradient of the output, regions.
void align_backward_cpu(const RoiAlignParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const PoolShape shape = params.pool_shape(context.out(0).shape());
    const T* dout = arrays.in(0);
    const auto regions = find_regions<UprightFrame>(params, shape, arrays.in(1),
                                                    context.in(1).dim(0), context.out(0).dim(0));
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
      .range<float>(0, 1)
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
        .cpu(align_cpu<UprightFrame>)
        .grad([](const RoiAlignParams&, Grad& grad) {
          return Gradients{
              apply("_backward_ROIAlign", {grad.dout(0), grad.in(1), grad.in(0)}, grad.attrs()),
              {}};
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
    .range<float>(0, 1)
    .param("sampling_ratio", &RoiAlignParams::sample_ratio, -1,
           "Samples of a bin along each axis; as many as it has places if not positive.")
    .dtypes(kFloating)
    .infer([](const RoiAlignParams& params, Infer& infer) {
      infer_regions(params, infer, infer.in(0), infer.in(1), infer.out(0), 6);
    })
    .cpu(align_cpu<TurnedFrame>);

}  // namespace
}  // namespace mxnet::detect

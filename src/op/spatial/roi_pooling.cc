// SPDX-License-Identifier: Apache-2.0
// The largest number in each bin of a region, and where it is.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"
#include "op/spatial/roi_pooling.h"

namespace mxnet {
namespace {

void infer_roi_pooling(const RoiPoolingParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.in(1)).same_dtype(infer.out(0));
  infer.in(0).set_shape(Shape{-1, -1, -1, -1});
  infer.in(1).set_shape(Shape{-1, 5});
  const Shape& size = params.pooled_size;
  if (size.ndim() != 2 || size[0] <= 0 || size[1] <= 0)
    infer.fail("given pooled_size " + to_string(size) + ", expected two positive numbers");
  infer.out(0).set_shape(Shape{infer.in(1).dim(0), infer.in(0).dim(1), size[0], size[1]});
  infer.out(1).set_dtype(DType::kInt64).same_shape(infer.out(0));
}

// The place of the largest number of a plane within a bin, -1 for an empty bin.
template <class T>
int64_t place_of_largest(const T* plane, int64_t width, const BinSpan& y, const BinSpan& x) {
  int64_t best = -1;
  for (int64_t h = y.first; h < y.last; ++h) {
    for (int64_t w = x.first; w < x.last; ++w) {
      const int64_t at = h * width + w;
      if (best < 0 || plane[at] > plane[best]) best = at;
    }
  }
  return best;
}

template <class T>
struct RoiPooling {
  const RoiPoolingParams& params;
  const Shape& shape;  // of the feature maps
  const T* data;
  const T* rois;
  T* out;
  int64_t* places;

  void operator()(int64_t n) const {
    const int64_t rows = params.pooled_size[0], columns = params.pooled_size[1];
    const T* roi = rois + n * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<T>(shape[0]))) {
      throw Error(ErrorCode::kValue, fmt::format("rois: given image {}, expected 0 to {}",
                                                 static_cast<double>(roi[0]), shape[0] - 1));
    }
    const auto pixel = [&](T x) { return roi_place(x, params.spatial_scale); };
    for (int64_t i = 0; i < rows; ++i) {
      const BinSpan y = bin_span<T>(i, rows, pixel(roi[2]), pixel(roi[4]), shape[2]);
      for (int64_t j = 0; j < columns; ++j) {
        const BinSpan x = bin_span<T>(j, columns, pixel(roi[1]), pixel(roi[3]), shape[3]);
        pool_bin(n, static_cast<int64_t>(roi[0]), i * columns + j, rows * columns, y, x);
      }
    }
  }

  // Bin `bin` of `bins` of region n in all channels.
  void pool_bin(int64_t n, int64_t image, int64_t bin, int64_t bins, const BinSpan& y,
                const BinSpan& x) const {
    const int64_t channels = shape[1], area = shape[2] * shape[3];
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = (image * channels + c) * area;
      const int64_t best = place_of_largest(data + first, shape[3], y, x);
      const int64_t to = (n * channels + c) * bins + bin;
      out[to] = best < 0 ? T{0} : data[first + best];
      places[to] = best < 0 ? -1 : first + best;
    }
  }
};

void roi_pooling_cpu(const RoiPoolingParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const Shape& shape = context.in(0).shape();
    const RoiPooling<T> pool{params,       shape,         arrays.in(0),
                             arrays.in(1), arrays.out(0), context.out(1).as<int64_t>()};
    const int64_t numbers = shape[1] * params.pooled_size[0] * params.pooled_size[1];
    parallel_for(
        context.in(1).dim(0), 16.0 * static_cast<double>(numbers),
        [&](int64_t begin, int64_t end) {
          for (int64_t n = begin; n < end; ++n) pool(n);
        },
        1);
  });
}

MX_OP(ROIPooling, RoiPoolingParams)
.alias("_npx_roi_pooling")
    .doc("Maxima over the bins of regions of feature maps.")
    .input("data", "Feature maps, (images, channels, height, width).")
    .input("rois", "Regions (image, corners in pixels), (regions, 5).")
    .param("pooled_size", &RoiPoolingParams::pooled_size, "Height and width of the result.")
    .param("spatial_scale", &RoiPoolingParams::spatial_scale,
           "Places of the feature map by pixels of the image.")
    .range<float>(0, 1)
    .output("output")
    .outputs([](const RoiPoolingParams&) { return 2; })
    .visible_outputs([](const RoiPoolingParams&) { return 1; })
    .dtypes(kFloating)
    .infer(infer_roi_pooling)
    .cpu(roi_pooling_cpu)
    .grad([](const RoiPoolingParams&, Grad& grad) {
      return Gradients{apply("_backward_ROIPooling", {grad.dout(0), grad.out(1), grad.in(0)}), {}};
    });

MX_OP(_backward_ROIPooling, NoParams)
.doc("Gradient of ROIPooling.")
    .input("dout", "Gradient of the maxima.")
    .input("places", "Where they are in data; negative for empty bins.")
    .input("data", "Feature maps, of which only shape and type matter.")
    .type_only(2)
    .dtypes(kAllTypes)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_dtype(infer.in(2));
      infer.in(0).same_shape(infer.in(1));
      infer.in(1).set_dtype(DType::kInt64);
      infer.out(0).same_as(infer.in(2));
    })
    .cpu([](const NoParams&, KernelContext& context) {
      compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
        using T = typename decltype(tag)::type;
        const T* dout = arrays.in(0);
        T* dx = arrays.out(0);
        const auto* places = context.in(1).as<int64_t>();
        std::fill_n(dx, context.out(0).size(), T{0});
        const int64_t size = context.out(0).size();
        for (int64_t i = 0; i < context.in(0).size(); ++i) {
          if (places[i] >= size) {
            throw Error(ErrorCode::kIndex, fmt::format("given place {} in 'places', expected one "
                                                       "below {}",
                                                       places[i], size));
          }
          if (places[i] >= 0) dx[places[i]] += dout[i];
        }
      });
    });

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Position-sensitive pooling of regions: each bin of a region has channels of its own; with learnt
// offsets of the bins or without.
#include "op/detect/ps_roi_pooling.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

Planes planes_of(const Shape& data) { return {data[0], data[1], data[2], data[3]}; }

// Rows of five numbers, the first of which is an image.
template <class T>
void check_images(const T* rois, int64_t count, const Planes& planes) {
  for (int64_t n = 0; n < count; ++n) {
    if (!planes.has(rois[n * 5]))
      throw Error(ErrorCode::kValue,
                  fmt::format("rois: given image {}, expected 0 to {}",
                              static_cast<double>(rois[n * 5]), planes.images - 1));
  }
}

// fn(place in the result, channel, line, column) for each bin of region n.
template <class P, class F>
void each_bin(const P& params, int64_t n, const F& fn) {
  const int64_t side = params.pooled_size;
  for (int64_t c = 0; c < params.output_dim; ++c) {
    for (int64_t i = 0; i < side; ++i) {
      for (int64_t j = 0; j < side; ++j)
        fn(((n * params.output_dim + c) * side + i) * side + j, c, i, j);
    }
  }
}

void infer_ps_roi(const PsRoiParams& params, Infer& infer, InferArg data, InferArg rois,
                  InferArg out) {
  infer.one_dtype();
  if (params.output_dim <= 0 || params.pooled_size <= 0) {
    infer.fail(fmt::format("given output_dim {} and pooled_size {}, expected both to be positive",
                           params.output_dim, params.pooled_size));
  }
  data.set_shape(Shape{-1, params.output_dim * params.groups() * params.groups(), -1, -1});
  rois.set_shape(Shape{-1, 5});
  out.set_shape(Shape{rois.dim(0), params.output_dim, params.pooled_size, params.pooled_size});
}

void ps_roi_cpu(const PsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *rois = arrays.in(1);
    T* out = arrays.out(0);
    const Planes planes = planes_of(context.in(0).shape());
    const int64_t regions = context.in(1).dim(0);
    check_images(rois, regions, planes);
    const auto average = [&](int64_t n) {
      each_bin(params, n, [&](int64_t at, int64_t c, int64_t i, int64_t j) {
        const BinPixels bin = bin_pixels(params, planes, rois + n * 5, c, i, j);
        T sum{0};
        for (int64_t h = bin.top; h < bin.bottom; ++h) {
          for (int64_t w = bin.left; w < bin.right; ++w)
            sum += data[bin.plane + h * planes.width + w];
        }
        out[at] = bin.count() == 0 ? T{0} : sum / static_cast<T>(bin.count());
      });
    };
    parallel_for(
        regions,
        8.0 * static_cast<double>(params.output_dim * params.pooled_size * params.pooled_size),
        [&](int64_t first, int64_t last) {
          for (int64_t n = first; n < last; ++n) average(n);
        },
        1);
  });
}

// Inputs: gradient of the output, regions, data (its shape). Regions may share places.
void ps_roi_backward_cpu(const PsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *rois = arrays.in(1);
    T* dx = arrays.out(0);
    const Planes planes = planes_of(context.out(0).shape());
    const int64_t regions = context.in(1).dim(0);
    check_images(rois, regions, planes);
    std::fill_n(dx, context.out(0).size(), T{0});
    for (int64_t n = 0; n < regions; ++n) {
      each_bin(params, n, [&](int64_t at, int64_t c, int64_t i, int64_t j) {
        const BinPixels bin = bin_pixels(params, planes, rois + n * 5, c, i, j);
        const T d = dout[at] / static_cast<T>(bin.count());
        for (int64_t h = bin.top; h < bin.bottom; ++h) {
          for (int64_t w = bin.left; w < bin.right; ++w) dx[bin.plane + h * planes.width + w] += d;
        }
      });
    }
  });
}

OpBuilder<PsRoiParams> ps_roi_params(const char* name) {
  OpBuilder<PsRoiParams> op(name);
  op.param("spatial_scale", &PsRoiParams::spatial_scale,
           "Places of the feature map by pixels of the image.")
      .range<float>(0, 1)
      .param("output_dim", &PsRoiParams::output_dim, "Channels of the result.")
      .param("pooled_size", &PsRoiParams::pooled_size, "Height and width of the result.")
      .param("group_size", &PsRoiParams::group_size, 0,
             "Height and width of the groups of channels; as pooled_size if 0.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool ps_roi_defined = [] {
  ps_roi_params("_contrib_PSROIPooling")
      .doc("Averages over the bins of regions, each bin in channels of its own.")
      .input("data", "Feature maps, (images, output_dim * group_size^2, height, width).")
      .input_type("Symbol")
      .input("rois", "Regions (image, corners in pixels), (regions, 5).")
      .input_type("Symbol")
      .infer([](const PsRoiParams& params, Infer& infer) {
        infer_ps_roi(params, infer, infer.in(0), infer.in(1), infer.out(0));
      })
      .cpu(ps_roi_cpu)
      .grad([](const PsRoiParams&, Grad& grad) {
        return Gradients{apply("_backward__contrib_PSROIPooling",
                               {grad.dout(0), grad.in(1), grad.in(0)}, grad.attrs()),
                         {}};
      });
  ps_roi_params("_backward__contrib_PSROIPooling")
      .doc("Gradient of _contrib_PSROIPooling.")
      .input("dout", "Gradient of the result.")
      .input("rois", "Regions.")
      .input("data", "Feature maps, of which only the shape matters.")
      .type_only(2)
      .infer([](const PsRoiParams& params, Infer& infer) {
        infer_ps_roi(params, infer, infer.in(2), infer.in(1), infer.in(0));
        infer.out(0).same_shape(infer.in(2));
      })
      .cpu(ps_roi_backward_cpu);
  return true;
}();

void infer_deformable(const DeformablePsRoiParams& p, Infer& infer, InferArg data, InferArg rois,
                      int trans, InferArg out) {
  infer.one_dtype();
  if (p.output_dim <= 0 || p.pooled_size <= 0 || p.group_size <= 0 || p.sample_per_part <= 0) {
    infer.fail(fmt::format(
        "given output_dim {}, group_size {}, pooled_size {} and sample_per_part {}, expected all "
        "to be positive",
        p.output_dim, p.group_size, p.pooled_size, p.sample_per_part));
  }
  // Their square is how often a loop runs for each bin.
  constexpr int kMostSamples = 4096;
  if (p.sample_per_part > kMostSamples) {
    infer.fail(fmt::format("given sample_per_part {}, expected at most {}", p.sample_per_part,
                           kMostSamples));
  }
  data.set_shape(Shape{-1, int64_t{p.output_dim} * p.group_size * p.group_size, -1, -1});
  if (data.dim(2) == 0 || data.dim(3) == 0) data.fail("images of one pixel or more");
  rois.set_shape(Shape{-1, 5});
  out.set_shape(Shape{rois.dim(0), p.output_dim, p.pooled_size, p.pooled_size});
  if (p.no_trans) return;
  InferArg offsets = infer.in(trans);
  offsets.set_shape(Shape{rois.dim(0), -1, p.parts(), p.parts()});
  const int64_t channels = offsets.dim(1);
  if (channels >= 0 && (channels < 2 || channels % 2 != 0 || p.output_dim % (channels / 2) != 0))
    offsets.fail("two channels for each class, and output_dim a multiple of the classes");
}

int64_t classes_of(const DeformablePsRoiParams& params, const KernelContext& context, int trans) {
  return params.no_trans ? 1 : context.in(trans).dim(1) / 2;
}

void deformable_cpu(const DeformablePsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *rois = arrays.in(1);
    const T* trans = params.no_trans ? nullptr : arrays.in(2);
    T *out = arrays.out(0), *counts = arrays.out(1);
    const DeformedBins<T> bins{params, planes_of(context.in(0).shape()), rois, trans,
                               classes_of(params, context, 2)};
    const int64_t regions = context.in(1).dim(0);
    check_images(rois, regions, bins.planes);
    const auto average = [&](int64_t n) {
      each_bin(params, n, [&](int64_t at, int64_t c, int64_t i, int64_t j) {
        const auto bin = bins.bin(n, c, i, j);
        T sum{0};
        const auto count = static_cast<T>(bins.each_sample(
            bin, [&](const Neighbours<T>& s) { sum += s.sum(data + bin.plane, s.at, s.weight); }));
        out[at] = count == 0 ? T{0} : sum / count;
        counts[at] = count;
      });
    };
    const double size =
        static_cast<double>(params.output_dim) * params.pooled_size * params.pooled_size;
    parallel_for(
        regions, 16.0 * size * params.sample_per_part * params.sample_per_part,
        [&](int64_t first, int64_t last) {
          for (int64_t n = first; n < last; ++n) average(n);
        },
        1);
  });
}

// Inputs: gradient of the output, data, regions, [trans].
void deformable_backward_cpu(const DeformablePsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *data = arrays.in(1), *rois = arrays.in(2);
    const T* trans = params.no_trans ? nullptr : arrays.in(3);
    T* ddata = arrays.out(0);
    T* dtrans = params.no_trans ? nullptr : arrays.out(1);
    std::fill_n(ddata, context.out(0).size(), T{0});
    if (dtrans != nullptr) std::fill_n(dtrans, context.out(1).size(), T{0});
    const DeformedBins<T> bins{params, planes_of(context.in(1).shape()), rois, trans,
                               classes_of(params, context, 3)};
    const int64_t regions = context.in(2).dim(0), parts = params.parts();
    check_images(rois, regions, bins.planes);
    for (int64_t n = 0; n < regions; ++n) {
      each_bin(params, n, [&](int64_t at, int64_t c, int64_t i, int64_t j) {
        const auto bin = bins.bin(n, c, i, j);
        const T d = dout[at] / static_cast<T>(bins.count_samples(bin));
        bins.each_sample(bin, [&](const Neighbours<T>& s) {
          for (int k = 0; k < 4; ++k) ddata[bin.plane + s.at[k]] += d * s.weight[k];
          if (dtrans == nullptr) return;
          const T along = d * static_cast<T>(params.trans_std);
          const T* plane = data + bin.plane;
          dtrans[bin.shift_x] += along * bin.roi_width * s.sum(plane, s.at, s.slope_x);
          dtrans[bin.shift_x + parts * parts] +=
              along * bin.roi_height * s.sum(plane, s.at, s.slope_y);
        });
      });
    }
  });
}

OpBuilder<DeformablePsRoiParams> deformable_params(const char* name) {
  using P = DeformablePsRoiParams;
  OpBuilder<P> op(name);
  op.param("spatial_scale", &P::spatial_scale, "Places of the feature map by pixels of the image.")
      .range<float>(0, 1)
      .param("output_dim", &P::output_dim, "Channels of the result.")
      .param("group_size", &P::group_size, "Height and width of the groups of channels.")
      .param("pooled_size", &P::pooled_size, "Height and width of the result.")
      .param("part_size", &P::part_size, 0, "Height and width of trans; as pooled_size if 0.")
      .param("sample_per_part", &P::sample_per_part, 1, "Samples of a bin along each axis.")
      .param("trans_std", &P::trans_std, 0.0f, "Factor of trans, in sizes of the region.")
      .range<float>(0, 1)
      .param("no_trans", &P::no_trans, false, "Whether there is no trans.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool deformable_defined = [] {
  deformable_params("_contrib_DeformablePSROIPooling")
      .doc(
          "Averages of samples in the bins of regions, moved by offsets, each bin in channels of "
          "its own.")
      .input("data", "Feature maps, (images, output_dim * group_size^2, height, width).")
      .input_type("Symbol")
      .input("rois", "Regions (image, corners in pixels), (regions, 5).")
      .input_type("Symbol")
      .input("trans", "Offsets of bins, (regions, 2 * classes, part_size, part_size).")
      .input_type("Symbol")
      .num_inputs([](const DeformablePsRoiParams& params) { return params.num_inputs(); })
      .outputs([](const DeformablePsRoiParams&) { return 2; })
      .visible_outputs([](const DeformablePsRoiParams&) { return 1; })
      .output("output")
      .output("top_count")
      .infer([](const DeformablePsRoiParams& params, Infer& infer) {
        infer_deformable(params, infer, infer.in(0), infer.in(1), 2, infer.out(0));
        infer.out(1).same_shape(infer.out(0));
      })
      .cpu(deformable_cpu)
      .grad([](const DeformablePsRoiParams& params, Grad& grad) {
        std::vector<Value> values{grad.dout(0)};
        for (int i = 0; i < params.num_inputs(); ++i) values.push_back(grad.in(i));
        const Value first =
            mxnet::apply("_backward__contrib_DeformablePSROIPooling", values, grad.attrs());
        Gradients result{first, {}};
        if (!params.no_trans) result.push_back(output(first, 1));
        return result;
      });
  deformable_params("_backward__contrib_DeformablePSROIPooling")
      .doc("Gradient of _contrib_DeformablePSROIPooling.")
      .input("dout", "Gradient of the result.")
      .input("data", "Feature maps.")
      .input("rois", "Regions.")
      .input("trans", "Offsets of bins.")
      .num_inputs([](const DeformablePsRoiParams& params) { return 1 + params.num_inputs(); })
      .outputs([](const DeformablePsRoiParams& params) { return params.num_inputs() - 1; })
      .infer([](const DeformablePsRoiParams& params, Infer& infer) {
        infer_deformable(params, infer, infer.in(1), infer.in(2), 3, infer.in(0));
        infer.out(0).same_shape(infer.in(1));
        if (!params.no_trans) infer.out(1).same_shape(infer.in(3));
      })
      .cpu(deformable_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet::detect

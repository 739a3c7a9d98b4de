// SPDX-License-Identifier: Apache-2.0
// Position-sensitive pooling of regions: each bin of a region has channels of its own; with learnt
// offsets of the bins or without.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "op/computed.h"
#include "op/op_builder.h"
#include "op/parallel.h"

namespace mxnet::detect {
namespace {

// Rounded half away from zero.
template <class T>
T rounded(T x) {
  return std::round(x);
}

int64_t checked_image(double number, int64_t images, const char* op) {
  if (!(number >= 0 && number < static_cast<double>(images)))
    throw Error(ErrorCode::kValue, op,
                fmt::format("rois: given image {}, expected 0 to {}", number, images - 1));
  return static_cast<int64_t>(number);
}

struct PsRoiParams {
  float spatial_scale;
  int32_t output_dim, pooled_size, group_size;

  int64_t groups() const { return group_size > 0 ? group_size : pooled_size; }
};

// What both directions share: fn(output index, first row, last row, first column, last column,
// plane) for each bin of region `n`. Bounds are half open.
template <class T, class F>
void each_bin(const PsRoiParams& params, const Shape& data, const T* roi, int64_t n, const F& fn) {
  const T scale = static_cast<T>(params.spatial_scale);
  const int64_t height = data[2], width = data[3], side = params.pooled_size;
  const int64_t image = checked_image(static_cast<double>(roi[0]), data[0], "_contrib_PSROIPooling");
  const T left = rounded(roi[1]) * scale, top = rounded(roi[2]) * scale;
  const T bin_w =
      std::max((rounded(roi[3]) + 1) * scale - left, T(0.1)) / static_cast<T>(side);
  const T bin_h = std::max((rounded(roi[4]) + 1) * scale - top, T(0.1)) / static_cast<T>(side);
  const auto bound = [](T at, int64_t size) {
    return static_cast<int64_t>(std::clamp(at, T{0}, static_cast<T>(size)));
  };
  for (int64_t c = 0; c < params.output_dim; ++c) {
    for (int64_t i = 0; i < side; ++i) {
      for (int64_t j = 0; j < side; ++j) {
        const int64_t gh = std::min(i * params.groups() / side, params.groups() - 1);
        const int64_t gw = std::min(j * params.groups() / side, params.groups() - 1);
        const int64_t channel = (c * params.groups() + gh) * params.groups() + gw;
        fn(((n * params.output_dim + c) * side + i) * side + j,
           bound(std::floor(static_cast<T>(i) * bin_h + top), height),
           bound(std::ceil(static_cast<T>(i + 1) * bin_h + top), height),
           bound(std::floor(static_cast<T>(j) * bin_w + left), width),
           bound(std::ceil(static_cast<T>(j + 1) * bin_w + left), width),
           (image * data[1] + channel) * height * width);
      }
    }
  }
}

void infer_ps_roi(const PsRoiParams& params, Infer& infer, InferArg data, InferArg rois,
                  InferArg out) {
  infer.one_dtype();
  if (params.output_dim <= 0 || params.pooled_size <= 0)
    infer.fail("expected positive output_dim and pooled_size");
  data.set_shape(Shape{-1, params.output_dim * params.groups() * params.groups(), -1, -1});
  rois.set_shape(Shape{-1, 5});
  out.set_shape(Shape{rois.dim(0), params.output_dim, params.pooled_size, params.pooled_size});
}

void ps_roi_cpu(const PsRoiParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *rois = arrays.in(1);
    T* out = arrays.out(0);
    const Shape& shape = context.in(0).shape();
    parallel_for(
        context.in(1).dim(0),
        8.0 * static_cast<double>(params.output_dim * params.pooled_size * params.pooled_size),
        [&](int64_t first, int64_t last) {
          for (int64_t n = first; n < last; ++n) {
            each_bin(params, shape, rois + n * 5, n,
                     [&](int64_t at, int64_t h0, int64_t h1, int64_t w0, int64_t w1, int64_t plane) {
                       T sum{0};
                       for (int64_t h = h0; h < h1; ++h) {
                         for (int64_t w = w0; w < w1; ++w) sum += data[plane + h * shape[3] + w];
                       }
                       const int64_t count = std::max<int64_t>(0, h1 - h0) *
                                             std::max<int64_t>(0, w1 - w0);
                       out[at] = count == 0 ? T{0} : sum / static_cast<T>(count);
                     });
          }
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
    const Shape& shape = context.out(0).shape();
    std::fill_n(dx, shape.size(), T{0});
    for (int64_t n = 0; n < context.in(1).dim(0); ++n) {
      each_bin(params, shape, rois + n * 5, n,
               [&](int64_t at, int64_t h0, int64_t h1, int64_t w0, int64_t w1, int64_t plane) {
                 const T d = dout[at] / static_cast<T>((h1 - h0) * (w1 - w0));
                 for (int64_t h = h0; h < h1; ++h) {
                   for (int64_t w = w0; w < w1; ++w) dx[plane + h * shape[3] + w] += d;
                 }
               });
    }
  });
}

OpBuilder<PsRoiParams> ps_roi_params(const char* name) {
  OpBuilder<PsRoiParams> op(name);
  op.param("spatial_scale", &PsRoiParams::spatial_scale,
           "Places of the feature map by pixels of the image.")
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

struct DeformableParams {
  float spatial_scale;
  int32_t output_dim, group_size, pooled_size, part_size, sample_per_part;
  float trans_std;
  bool no_trans;

  int64_t parts() const { return part_size > 0 ? part_size : pooled_size; }
  int num_inputs() const { return no_trans ? 2 : 3; }
};

// A sample inside a plane: its four neighbours, and how the value changes with its place.
template <class T>
struct Neighbours {
  int64_t at[4];
  T weight[4], slope_y[4], slope_x[4];

  Neighbours(T y, T x, int64_t width) {
    const T y0 = std::floor(y), x0 = std::floor(x), y1 = std::ceil(y), x1 = std::ceil(x);
    const T fy = y - y0, fx = x - x0;
    const T rows[] = {y0, y0, y1, y1}, columns[] = {x0, x1, x0, x1};
    const T wy[] = {1 - fy, 1 - fy, fy, fy}, wx[] = {1 - fx, fx, 1 - fx, fx};
    for (int k = 0; k < 4; ++k) {
      at[k] = static_cast<int64_t>(rows[k]) * width + static_cast<int64_t>(columns[k]);
      weight[k] = wy[k] * wx[k];
      slope_y[k] = k < 2 ? -wx[k] : wx[k];
      slope_x[k] = k % 2 == 0 ? -wy[k] : wy[k];
    }
  }
  static T sum(const T* plane, const int64_t* at, const T* factors) {
    T result{0};
    for (int k = 0; k < 4; ++k) result += factors[k] * plane[at[k]];
    return result;
  }
};

template <class T>
struct Bin {
  int64_t out;             // index in the result
  int64_t plane;           // of data
  int64_t shift_x;         // index in trans; y is parts^2 further; -1 without
  T roi_width, roi_height;
  std::vector<Neighbours<T>> samples;
};

// fn(Bin) for each bin of region n.
template <class T, class F>
void each_deformed_bin(const DeformableParams& p, const Shape& data, const T* roi, const T* trans,
                       int64_t classes, int64_t n, const F& fn) {
  const T scale = static_cast<T>(p.spatial_scale), half = T(0.5);
  const int64_t height = data[2], width = data[3], side = p.pooled_size, parts = p.parts();
  const int64_t image =
      checked_image(static_cast<double>(roi[0]), data[0], "_contrib_DeformablePSROIPooling");
  const T left = rounded(roi[1]) * scale - half, top = rounded(roi[2]) * scale - half;
  Bin<T> bin;
  bin.roi_width = std::max((rounded(roi[3]) + 1) * scale - half - left, T(0.1));
  bin.roi_height = std::max((rounded(roi[4]) + 1) * scale - half - top, T(0.1));
  const T bin_w = bin.roi_width / static_cast<T>(side);
  const T bin_h = bin.roi_height / static_cast<T>(side);
  const T step_w = bin_w / static_cast<T>(p.sample_per_part);
  const T step_h = bin_h / static_cast<T>(p.sample_per_part);
  const int64_t per_class = std::max<int64_t>(1, p.output_dim / classes);
  const T std = static_cast<T>(p.trans_std);
  for (int64_t c = 0; c < p.output_dim; ++c) {
    for (int64_t i = 0; i < side; ++i) {
      for (int64_t j = 0; j < side; ++j) {
        bin.out = ((n * p.output_dim + c) * side + i) * side + j;
        bin.shift_x = trans == nullptr ? -1
                                       : (((n * classes + c / per_class) * 2) * parts +
                                          i * parts / side) * parts + j * parts / side;
        const T dx = trans == nullptr ? T{0} : trans[bin.shift_x] * std;
        const T dy = trans == nullptr ? T{0} : trans[bin.shift_x + parts * parts] * std;
        const T x0 = static_cast<T>(j) * bin_w + left + dx * bin.roi_width;
        const T y0 = static_cast<T>(i) * bin_h + top + dy * bin.roi_height;
        const int64_t gh = std::min<int64_t>(i * p.group_size / side, p.group_size - 1);
        const int64_t gw = std::min<int64_t>(j * p.group_size / side, p.group_size - 1);
        bin.plane =
            (image * data[1] + (c * p.group_size + gh) * p.group_size + gw) * height * width;
        bin.samples.clear();
        for (int s = 0; s < p.sample_per_part; ++s) {
          for (int t = 0; t < p.sample_per_part; ++t) {
            const T y = y0 + static_cast<T>(s) * step_h, x = x0 + static_cast<T>(t) * step_w;
            if (!(x >= -half && x <= static_cast<T>(width) - half && y >= -half &&
                  y <= static_cast<T>(height) - half))
              continue;
            bin.samples.emplace_back(std::clamp(y, T{0}, static_cast<T>(height - 1)),
                                     std::clamp(x, T{0}, static_cast<T>(width - 1)), width);
          }
        }
        fn(bin);
      }
    }
  }
}

void infer_deformable(const DeformableParams& p, Infer& infer, InferArg data, InferArg rois,
                      int trans, InferArg out) {
  infer.one_dtype();
  if (p.output_dim <= 0 || p.pooled_size <= 0 || p.group_size <= 0 || p.sample_per_part <= 0)
    infer.fail("expected positive output_dim, group_size, pooled_size and sample_per_part");
  data.set_shape(Shape{-1, int64_t{p.output_dim} * p.group_size * p.group_size, -1, -1});
  rois.set_shape(Shape{-1, 5});
  out.set_shape(Shape{rois.dim(0), p.output_dim, p.pooled_size, p.pooled_size});
  if (p.no_trans) return;
  InferArg offsets = infer.in(trans);
  offsets.set_shape(Shape{rois.dim(0), -1, p.parts(), p.parts()});
  const int64_t channels = offsets.dim(1);
  if (channels >= 0 && (channels < 2 || channels % 2 != 0 || p.output_dim % (channels / 2) != 0))
    offsets.fail("two channels for each class, and output_dim a multiple of the classes");
}

int64_t classes_of(const DeformableParams& params, const KernelContext& context, int trans) {
  return params.no_trans ? 1 : context.in(trans).dim(1) / 2;
}

void deformable_cpu(const DeformableParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *rois = arrays.in(1);
    const T* trans = params.no_trans ? nullptr : arrays.in(2);
    T *out = arrays.out(0), *counts = arrays.out(1);
    const int64_t classes = classes_of(params, context, 2);
    const double bins =
        static_cast<double>(params.output_dim) * params.pooled_size * params.pooled_size;
    parallel_for(
        context.in(1).dim(0), 16.0 * bins * params.sample_per_part * params.sample_per_part,
        [&](int64_t first, int64_t last) {
          for (int64_t n = first; n < last; ++n) {
            each_deformed_bin(params, context.in(0).shape(), rois + n * 5, trans, classes, n,
                              [&](const Bin<T>& bin) {
                                T sum{0};
                                for (const auto& s : bin.samples)
                                  sum += s.sum(data + bin.plane, s.at, s.weight);
                                const T count = static_cast<T>(bin.samples.size());
                                out[bin.out] = count == 0 ? T{0} : sum / count;
                                counts[bin.out] = count;
                              });
          }
        },
        1);
  });
}

// Inputs: gradient of the output, data, regions, [trans].
void deformable_backward_cpu(const DeformableParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *data = arrays.in(1), *rois = arrays.in(2);
    const T* trans = params.no_trans ? nullptr : arrays.in(3);
    T* ddata = arrays.out(0);
    T* dtrans = params.no_trans ? nullptr : arrays.out(1);
    std::fill_n(ddata, context.out(0).size(), T{0});
    if (dtrans != nullptr) std::fill_n(dtrans, context.out(1).size(), T{0});
    const int64_t classes = classes_of(params, context, 3), parts = params.parts();
    for (int64_t n = 0; n < context.in(2).dim(0); ++n) {
      each_deformed_bin(
          params, context.in(1).shape(), rois + n * 5, trans, classes, n, [&](const Bin<T>& bin) {
            if (bin.samples.empty()) return;
            const T d = dout[bin.out] / static_cast<T>(bin.samples.size());
            for (const auto& s : bin.samples) {
              for (int k = 0; k < 4; ++k) ddata[bin.plane + s.at[k]] += d * s.weight[k];
              if (dtrans == nullptr) continue;
              const T along = d * static_cast<T>(params.trans_std);
              const T* plane = data + bin.plane;
              dtrans[bin.shift_x] += along * bin.roi_width * s.sum(plane, s.at, s.slope_x);
              dtrans[bin.shift_x + parts * parts] +=
                  along * bin.roi_height * s.sum(plane, s.at, s.slope_y);
            }
          });
    }
  });
}

OpBuilder<DeformableParams> deformable_params(const char* name) {
  using P = DeformableParams;
  OpBuilder<P> op(name);
  op.param("spatial_scale", &P::spatial_scale, "Places of the feature map by pixels of the image.")
      .param("output_dim", &P::output_dim, "Channels of the result.")
      .param("group_size", &P::group_size, "Height and width of the groups of channels.")
      .param("pooled_size", &P::pooled_size, "Height and width of the result.")
      .param("part_size", &P::part_size, 0, "Height and width of trans; as pooled_size if 0.")
      .param("sample_per_part", &P::sample_per_part, 1, "Samples of a bin along each axis.")
      .param("trans_std", &P::trans_std, 0.0f, "Factor of trans, in sizes of the region.")
      .param("no_trans", &P::no_trans, false, "Whether there is no trans.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool deformable_defined = [] {
  deformable_params("_contrib_DeformablePSROIPooling")
      .doc("Averages of samples in the bins of regions, moved by offsets, each bin in channels of "
           "its own.")
      .input("data", "Feature maps, (images, output_dim * group_size^2, height, width).")
      .input_type("Symbol")
      .input("rois", "Regions (image, corners in pixels), (regions, 5).")
      .input_type("Symbol")
      .input("trans", "Offsets of bins, (regions, 2 * classes, part_size, part_size).")
      .input_type("Symbol")
      .num_inputs([](const DeformableParams& params) { return params.num_inputs(); })
      .outputs([](const DeformableParams&) { return 2; })
      .visible_outputs([](const DeformableParams&) { return 1; })
      .infer([](const DeformableParams& params, Infer& infer) {
        infer_deformable(params, infer, infer.in(0), infer.in(1), 2, infer.out(0));
        infer.out(1).same_shape(infer.out(0));
      })
      .cpu(deformable_cpu)
      .grad([](const DeformableParams& params, Grad& grad) {
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
      .num_inputs([](const DeformableParams& params) { return 1 + params.num_inputs(); })
      .outputs([](const DeformableParams& params) { return params.num_inputs() - 1; })
      .infer([](const DeformableParams& params, Infer& infer) {
        infer_deformable(params, infer, infer.in(1), infer.in(2), 3, infer.in(0));
        infer.out(0).same_shape(infer.in(1));
        if (!params.no_trans) infer.out(1).same_shape(infer.in(3));
      })
      .cpu(deformable_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet::detect

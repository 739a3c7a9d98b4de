// SPDX-License-Identifier: Apache-2.0
// Convolutions whose kernels look at places moved by learnt offsets, optionally weighted by a mask:
// bilinear samples become columns, and the rest is a matrix product.
#include "op/spatial/deformable_convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/products/packed_gemm.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

void check_params(const DeformableParams& p, const DeformableGeometry& g, Infer& infer) {
  const auto two = [&](const Shape& shape, const char* name, bool needed) {
    if (needed ? shape.ndim() != 2 : shape.ndim() > 0 && shape.ndim() != 2)
      infer.fail(fmt::format("given {} {}, expected two numbers", name, to_string(shape)));
  };
  two(p.kernel, "kernel", true);
  two(p.stride, "stride", false);
  two(p.dilate, "dilate", false);
  two(p.pad, "pad", false);
  if (p.layout != DeformableLayout::kNone && p.layout != DeformableLayout::kNCHW)
    infer.fail(fmt::format("given layout {}, expected NCHW",
                           p.layout == DeformableLayout::kNCW ? "NCW" : "NCDHW"));
  if (g.filters <= 0 || g.groups <= 0 || g.deformable_groups <= 0 || g.filters % g.groups != 0)
    infer.fail(
        fmt::format("given {} filters in {} groups and {} deformable groups, expected "
                    "positive numbers and whole groups",
                    g.filters, g.groups, g.deformable_groups));
  for (int i = 0; i < 2; ++i) {
    if (g.kernel[i] <= 0 || g.stride[i] <= 0 || g.dilate[i] <= 0 || g.pad[i] < 0) {
      infer.fail(
          fmt::format("given kernel {}, stride {}, dilate {} and pad {} along dimension {}, "
                      "expected pad of 0 or more and the others above 0",
                      g.kernel[i], g.stride[i], g.dilate[i], g.pad[i], i));
    }
  }
}

// `args` gives the forward operator's arguments, `result` its output, wherever they are.
template <bool modulated, class Args>
void infer_arguments(const DeformableParams& params, Infer& infer, const Args& args,
                     InferArg result) {
  const DeformableSlots slots = slots_of<modulated>(params);
  infer.one_dtype();
  DeformableGeometry g(params, modulated);
  check_params(params, g, infer);
  InferArg data = args(0);
  data.set_shape(Shape{-1, -1, -1, -1});
  if (slots.bias_used) args(slots.bias()).set_shape(Shape{g.filters});
  if (!data.known()) return;
  g.set_data(data.shape());
  if (g.channels % g.groups != 0 || g.channels % g.deformable_groups != 0)
    data.fail(fmt::format("a multiple of {} and of {} channels", g.groups, g.deformable_groups));
  if (g.out[0] < 1 || g.out[1] < 1) data.fail("images no smaller than the kernel");
  const int64_t places = g.places();
  args(1).set_shape(Shape{g.batch, 2 * places, g.out[0], g.out[1]});
  if (modulated) args(slots.mask()).set_shape(Shape{g.batch, places, g.out[0], g.out[1]});
  args(slots.weight()).set_shape(Shape{g.filters, g.channels / g.groups, g.kernel[0], g.kernel[1]});
  result.set_shape(Shape{g.batch, g.filters, g.out[0], g.out[1]});
}

template <class T>
void to_columns(const DeformedImage<T>& image, T* columns) {
  const DeformableGeometry& g = image.g;
  parallel_for(
      g.places(), 8.0 * static_cast<double>(g.channels_of_offset() * g.out_area()),
      [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          for (int64_t at = 0; at < g.out_area(); ++at) image.to_columns(p, at, columns);
        }
      },
      1);
}

// Places of one deformable group share channels of ddata: groups are shared among threads.
template <class T>
void from_columns(const DeformedImage<T>& image, const T* dcolumns, T* ddata, T* doffset,
                  T* dmask) {
  const DeformableGeometry& g = image.g;
  const auto add = [](T* sum, T value) { *sum += value; };
  parallel_for(
      g.deformable_groups, 24.0 * static_cast<double>(g.rows() * g.out_area()),
      [&](int64_t first, int64_t last) {
        for (int64_t p = first * g.kernel_area(); p < last * g.kernel_area(); ++p) {
          for (int64_t at = 0; at < g.out_area(); ++at)
            image.from_columns(p, at, dcolumns, ddata, doffset, dmask, add);
        }
      },
      1);
}

template <bool modulated>
void deformable_cpu(const DeformableParams& params, KernelContext& context) {
  const DeformableSlots slots = slots_of<modulated>(params);
  const DeformableGeometry g(params, modulated, context.in(0).shape());
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *data = arrays.in(0), *offset = arrays.in(1), *weight = arrays.in(slots.weight());
    const T* mask = modulated ? arrays.in(slots.mask()) : nullptr;
    const T* bias = slots.bias_used ? arrays.in(slots.bias()) : nullptr;
    T* out = arrays.out(0);
    const int64_t area = g.out_area(), rows = g.rows() / g.groups, filters = g.filters / g.groups;
    T* columns = context.workspace_of<T>(g.rows() * area);
    for (int64_t n = 0; n < g.batch; ++n) {
      to_columns(deformed_image(g, n, data, offset, mask), columns);
      T* to = out + n * g.filters * area;
      for (int64_t f = 0; f < g.filters; ++f)
        std::fill_n(to + f * area, area, bias == nullptr ? T{0} : bias[f]);
      for (int64_t k = 0; k < g.groups; ++k) {
        packed_gemm::product<T>(filters, area, rows, {weight + k * filters * rows, rows, 1},
                                {columns + k * rows * area, area, 1}, to + k * filters * area, area,
                                true, context);
      }
    }
  });
}

// Inputs: gradient of the output, then those of the forward operator.
template <bool modulated>
void deformable_backward_cpu(const DeformableParams& params, KernelContext& context) {
  const DeformableSlots slots = slots_of<modulated>(params);
  const DeformableGeometry g(params, modulated, context.in(1).shape());
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *data = arrays.in(1), *offset = arrays.in(2);
    const T* mask = modulated ? arrays.in(1 + slots.mask()) : nullptr;
    const T* weight = arrays.in(1 + slots.weight());
    T *ddata = arrays.out(0), *doffset = arrays.out(1), *dweight = arrays.out(slots.weight());
    T* dmask = modulated ? arrays.out(slots.mask()) : nullptr;
    T* dbias = slots.bias_used ? arrays.out(slots.bias()) : nullptr;
    const int64_t area = g.out_area(), rows = g.rows() / g.groups, filters = g.filters / g.groups;
    std::fill_n(ddata, g.batch * g.channels * g.area(), T{0});
    std::fill_n(dweight, g.filters * rows, T{0});
    if (dbias != nullptr) std::fill_n(dbias, g.filters, T{0});
    T* columns = context.workspace_of<T>(g.rows() * area);
    const int64_t places = g.places() * area;
    for (int64_t n = 0; n < g.batch; ++n) {
      const DeformedImage<T> image = deformed_image(g, n, data, offset, mask);
      const T* d = dout + n * g.filters * area;
      to_columns(image, columns);
      for (int64_t k = 0; k < g.groups; ++k) {
        packed_gemm::product<T>(filters, rows, area, {d + k * filters * area, area, 1},
                                {columns + k * rows * area, 1, area}, dweight + k * filters * rows,
                                rows, true, context);
      }
      for (int64_t k = 0; k < g.groups; ++k) {
        packed_gemm::product<T>(rows, area, filters, {weight + k * filters * rows, 1, rows},
                                {d + k * filters * area, area, 1}, columns + k * rows * area, area,
                                false, context);
      }
      from_columns(image, columns, ddata + n * g.channels * g.area(), doffset + n * 2 * places,
                   dmask == nullptr ? nullptr : dmask + n * places);
      if (dbias == nullptr) continue;
      for (int64_t f = 0; f < g.filters; ++f) {
        for (int64_t i = 0; i < area; ++i) dbias[f] += d[f * area + i];
      }
    }
  });
}

template <bool modulated>
std::vector<std::string> input_names(const DeformableParams& params) {
  std::vector<std::string> names{"data", "offset"};
  if (modulated) names.emplace_back("mask");
  names.emplace_back("weight");
  if (!params.no_bias) names.emplace_back("bias");
  return names;
}

template <bool modulated>
void declare_inputs(OpBuilder<DeformableParams>& op) {
  op.input("data", "Images, (batch, channels, height, width).")
      .input("offset",
             "Offsets of each place of the kernel, y and x, at each place of the result.");
  if (modulated) op.input("mask", "Weights of each place of the kernel.");
  op.input("weight", "Kernels, (filters, channels of a group, height, width).")
      .input("bias", "A number for each filter.");
}

template <bool modulated>
void declare_params(OpBuilder<DeformableParams>& op) {
  using P = DeformableParams;
  op.param("kernel", &P::kernel, "Height and width of the kernel.")
      .param("stride", &P::stride, Shape::scalar(), "Distance of places, 1 without.")
      .param("dilate", &P::dilate, Shape::scalar(), "Distance of the kernel's places, 1 without.")
      .param("pad", &P::pad, Shape::scalar(), "Zeros around the images.");
  constexpr const char *kFilters = "Number of filters.", *kGroups = "Groups of channels.",
                       *kOffsets = "Groups of channels with offsets of their own.";
  if constexpr (modulated) {
    op.param("num_filter", &P::filters_u, kFilters)
        .param("num_group", &P::groups_u, 1, kGroups)
        .param("num_deformable_group", &P::deformable_groups_u, 1, kOffsets);
  } else {
    op.param("num_filter", &P::filters, kFilters)
        .param("num_group", &P::groups, 1, kGroups)
        .param("num_deformable_group", &P::deformable_groups, 1, kOffsets);
  }
  op.param("workspace", &P::workspace, 1024, "Of GPUs: megabytes of scratch memory.")
      .param("no_bias", &P::no_bias, false, "Whether there is no bias.");
  if constexpr (modulated) op.param("im2col_step", &P::im2col_step, 64, "Of GPUs: images at once.");
  op.choice("layout", &P::layout,
            {{"None", DeformableLayout::kNone},
             {"NCDHW", DeformableLayout::kNCDHW},
             {"NCHW", DeformableLayout::kNCHW},
             {"NCW", DeformableLayout::kNCW}},
            "None", "NCHW is the only one there is.");
}

template <bool modulated>
Gradients gradients(const DeformableParams& params, Grad& grad) {
  const int count = slots_of<modulated>(params).count();
  std::vector<Value> values{grad.dout(0)};
  for (int i = 0; i < count; ++i) values.push_back(grad.in(i));
  const Value first = apply(modulated ? "_backward__contrib_ModulatedDeformableConvolution"
                                      : "_backward__contrib_DeformableConvolution",
                            values, grad.attrs());
  Gradients result;
  for (int i = 0; i < count; ++i) result.push_back(output(first, i));
  return result;
}

template <bool modulated>
bool define(const char* name, const char* backward_name, const char* doc) {
  OpBuilder<DeformableParams> forward(name);
  forward.doc(doc);
  declare_inputs<modulated>(forward);
  declare_params<modulated>(forward);
  forward
      .num_inputs(
          [](const DeformableParams& params) { return slots_of<modulated>(params).count(); })
      .input_names(input_names<modulated>)
      .dtypes(kFloating)
      .infer([](const DeformableParams& params, Infer& infer) {
        infer_arguments<modulated>(
            params, infer, [&](int i) { return infer.in(i); }, infer.out(0));
      })
      .cpu(deformable_cpu<modulated>)
      .grad(gradients<modulated>);
  OpBuilder<DeformableParams> backward(backward_name);
  backward.doc("Gradient of a deformable convolution.").input("dout", "Gradient of the result.");
  declare_inputs<modulated>(backward);
  declare_params<modulated>(backward);
  backward
      .num_inputs(
          [](const DeformableParams& params) { return 1 + slots_of<modulated>(params).count(); })
      .outputs([](const DeformableParams& params) { return slots_of<modulated>(params).count(); })
      .dtypes(kFloating)
      .infer([](const DeformableParams& params, Infer& infer) {
        infer_arguments<modulated>(
            params, infer, [&](int i) { return infer.in(1 + i); }, infer.in(0));
        for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_shape(infer.in(1 + i));
      })
      .cpu(deformable_backward_cpu<modulated>);
  return true;
}

[[maybe_unused]] const bool plain =
    define<false>("_contrib_DeformableConvolution", "_backward__contrib_DeformableConvolution",
                  "Convolution whose kernel looks at places moved by offsets.");
[[maybe_unused]] const bool modulated = define<true>(
    "_contrib_ModulatedDeformableConvolution", "_backward__contrib_ModulatedDeformableConvolution",
    "Convolution whose kernel looks at places moved by offsets, weighted by a mask.");
[[maybe_unused]] const bool products =
    mark_products({"_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution"});

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Pooling, Pooling_v1 and the operators of their gradients.
#include <limits>

#include "op/nn/plain_arrays.h"
#include "op/nn/pooling_onednn.h"
#include "op/nn/pooling_plain.h"
#include "op/op_builder.h"
#include "op/reducing/evaluate.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {
namespace {

// The lowest finite number of a type.
double lowest(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return -65504;
    case DType::kBFloat16:
      return -0x1.FEp127;
    case DType::kFloat32:
      return std::numeric_limits<float>::lowest();
    default:
      return std::numeric_limits<double>::lowest();
  }
}

// Channels that lie last, unless there are too few to be joined together, or maxima of windows that
// overlap so much, for so many channels, that they are found sooner line by line. (Cubes may cancel
// each other: of what is left the root tells the order in which they were added, which is to be
// that of the other layout.)
bool goes_by_pixels(const PoolGeometry& g) {
  constexpr int64_t kFewChannels = 8, kManyWindows = 32;
  if (!g.channels_last || g.channels < kFewChannels) return false;
  if (g.type == PoolKind::kMax) {
    const int64_t seen = g.map_size() * g.kernel[0] * g.kernel[1] * g.kernel[2];
    // Each pixel that a window sees is a call, which more channels make up for.
    return seen <= kManyWindows * g.image_size() &&
           4 * (g.channels - kFewChannels) * g.image_size() >= 9 * (seen - g.image_size());
  }
  return g.type != PoolKind::kLp || g.power != 3;
}

// Whether the only window is the image: sums of it are the library's, which a pooling's loops are
// slower than by a factor of two to four.
bool sums_images(const PoolParams& params, const Signature& signature) {
  if (params.type != PoolKind::kAvg && params.type != PoolKind::kSum) return false;
  const PoolGeometry g = pool_geometry(params, signature.in[0].shape(), signature.out[0].shape());
  return g.map_size() == 1 && g.kernel == g.image && g.pad == PoolGeometry::Sizes{};
}

void sum_images(const PoolParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const PoolGeometry g = pool_geometry(params, data.shape(), out.shape());
  const AxisSet spatial = ((AxisSet{1} << g.spatial) - 1) << (g.channels_last ? 1 : 2);
  reduce_to({Reduction::sum, params.type == PoolKind::kAvg ? Finish::kMean : Finish::kValue}, data,
            spatial, out, context);
}

void forward_plain(const PoolParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const PoolGeometry g = pool_geometry(params, data.shape(), out.shape());
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->pool(context.stream()->native(), g, lowest(data.dtype), data, out);
  if (goes_by_pixels(g)) {
    return with_plain_arrays(context, false, [&](auto& arrays) {
      const auto* image = arrays.in(data);
      using T = std::remove_cvref_t<decltype(*image)>;
      pool_pixels(g, image, static_cast<T>(lowest(data.dtype)), arrays.out(out));
    });
  }
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    const auto* image = arrays.in(data);
    using T = std::remove_cvref_t<decltype(*image)>;
    pool_forward(g, image, static_cast<T>(lowest(data.dtype)), arrays.out(out));
  });
}

// Inputs of gradients: that of the output, data, and for norms the output. True where a GPU has it.
bool gradient_on_gpu(const PoolGeometry& g, bool sees_data, KernelContext& context) {
  const GpuTable* gpu = gpu_table(context);
  if (gpu == nullptr) return false;
  gpu->pool_slope(context.stream()->native(), g, context.in(0),
                  sees_data ? &context.in(1) : nullptr,
                  context.num_in() > 2 ? &context.in(2) : nullptr, context.out(0), context);
  return true;
}

void spread_plain(const PoolParams& params, KernelContext& context) {
  const PoolGeometry g = pool_geometry(params, context.in(1).shape(), context.in(0).shape());
  if (gradient_on_gpu(g, false, context)) return;
  if (goes_by_pixels(g)) {
    return with_plain_arrays(context, false, [&](auto& arrays) {
      const auto* dout = arrays.in(context.in(0));
      using T = std::remove_cvref_t<decltype(*dout)>;
      spread_pixels<T>(g, nullptr, nullptr, dout, arrays.out(context.out(0)));
    });
  }
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    pool_spread(g, arrays.in(context.in(0)), arrays.out(context.out(0)));
  });
}

// Channels that fill a vector of 64 bytes of float. Fewer are turned sooner than looked through one
// window after the other.
constexpr int64_t kWholeLine = 16;

void to_first_plain(const PoolParams& params, KernelContext& context) {
  const PoolGeometry g = pool_geometry(params, context.in(1).shape(), context.in(0).shape());
  if (gradient_on_gpu(g, true, context)) return;
  if (g.channels_last && g.channels >= kWholeLine) {
    return with_plain_arrays(context, false, [&](auto& arrays) {
      const auto* dout = arrays.in(context.in(0));
      pixels_to_first(g, arrays.in(context.in(1)), dout, arrays.out(context.out(0)));
    });
  }
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    const auto* dout = arrays.in(context.in(0));
    pool_to_first(g, arrays.in(context.in(1)), dout, arrays.out(context.out(0)));
  });
}

void from_first_plain(const PoolParams& params, KernelContext& context) {
  const PoolGeometry g = pool_geometry(params, context.in(1).shape(), context.out(0).shape());
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->pool_pick(context.stream()->native(), g, context.in(1), context.in(0),
                          context.out(0));
  }
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    const auto* picked = arrays.in(context.in(0));
    pool_from_first(g, arrays.in(context.in(1)), picked, arrays.out(context.out(0)));
  });
}

void norm_gradient_plain(const PoolParams& params, KernelContext& context) {
  const PoolGeometry g = pool_geometry(params, context.in(1).shape(), context.in(0).shape());
  if (gradient_on_gpu(g, true, context)) return;
  const bool by_pixels = goes_by_pixels(g);
  with_plain_arrays(context, g.channels_last && !by_pixels, [&](auto& arrays) {
    const auto* dout = arrays.in(context.in(0));
    const auto* data = arrays.in(context.in(1));
    const auto* map = arrays.in(context.in(2));
    auto* const dimage = arrays.out(context.out(0));
    by_pixels ? spread_pixels(g, data, map, dout, dimage)
              : pool_norm_gradient(g, data, map, dout, dimage);
  });
}

Gradients gradient(const PoolParams& params, Grad& grad) {
  Attrs attrs = grad.attrs();
  if (params.zero_padding) {
    std::erase_if(attrs, [](const auto& attr) { return attr.first == "zero_padding"; });
    attrs.emplace_back("zero_padding", "True");
  }
  switch (params.type) {
    case PoolKind::kMax:
      return {apply("_backward_Pooling_max", {grad.dout(0), grad.in(0)}, attrs)};
    case PoolKind::kLp:
      return {apply("_backward_Pooling_lp", {grad.dout(0), grad.in(0), grad.out(0)}, attrs)};
    default:
      return {apply("_backward_Pooling_sum", {grad.dout(0), grad.in(0)}, attrs)};
  }
}

using PoolOp = OpBuilder<PoolParams>;

Choices<PoolKind> types(bool v1) {
  Choices<PoolKind> choices{
      {"max", PoolKind::kMax}, {"avg", PoolKind::kAvg}, {"sum", PoolKind::kSum}};
  if (!v1) choices.emplace_back("lp", PoolKind::kLp);
  return choices;
}
Choices<PoolConvention> conventions(bool v1) {
  Choices<PoolConvention> choices{{"valid", PoolConvention::kValid},
                                  {"full", PoolConvention::kFull}};
  if (!v1) choices.emplace_back("same", PoolConvention::kSame);
  return choices;
}

void declare_params(PoolOp& op, bool v1) {
  op.param("kernel", &PoolParams::kernel, Shape::scalar(), "Size of a window.");
  op.choice("pool_type", &PoolParams::type, types(v1), "max",
            "What is taken of a window: largest number, mean, sum or p-norm.");
  op.param("global_pool", &PoolParams::global, false,
           "Whether the window is the whole image, whatever the kernel.");
  if (!v1)
    op.param("cudnn_off", &PoolParams::cudnn_off, false, "Whether cuDNN is not used, for GPUs.");
  op.choice(
      "pooling_convention", &PoolParams::convention, conventions(v1), "valid",
      "Whether the last window must fit ('valid'), may reach over the edge ('full'), or there "
      "is one for each stride of the image ('same').");
  op.param("stride", &PoolParams::stride, Shape::scalar(), "Distance of windows; 1 by default.");
  op.param("pad", &PoolParams::pad, Shape::scalar(),
           "What lies around the image; nothing by default.");
  op.param("zero_padding", &PoolParams::zero_padding, v1,
           "Whether maxima see padding as zeros and means divide by the whole window.");
  op.unlisted();
  if (v1) return;
  op.param("p_value", &PoolParams::power, std::nullopt, "The p of the p-norm: 1, 2 or 3.");
  op.param("count_include_pad", &PoolParams::count_include_pad, std::nullopt,
           "Whether means count padding as zeros; they do by default.");
  op.choice("layout", &PoolParams::layout,
            layout_choices({Layout::kDefault, Layout::kNCW, Layout::kNCHW, Layout::kNCDHW,
                            Layout::kNWC, Layout::kNHWC, Layout::kNDHWC}),
            "None", "Order of dimensions; channels come second by default.");
}

void define_forward(PoolOp& op, bool v1) {
  op.doc("The largest number, mean, sum or p-norm of each window of the images.")
      .input("data", "Images: batch, channels, then one to three spatial dimensions.");
  declare_params(op, v1);
  op.dtypes(kFloating)
      .infer(infer_pooling)
      .cpu(sum_images, sums_images, "sums of images")
      .cpu(pool_forward_onednn, pool_forward_onednn_accepts, "onednn")
      .cpu(forward_plain)
      .grad(gradient);
}

// Gradients with respect to data, which has the shape of input 1.
PoolOp& declare_backward(PoolOp& op, const char* doc) {
  op.doc(doc).input("dout", "Gradient of the output.").input("data", "Input of the forward call.");
  declare_params(op, false);
  op.dtypes(kFloating).infer([](const PoolParams& params, Infer& infer) {
    infer.one_dtype();
    infer.follow(infer_pooling, params, {infer.in(1)}, {infer.in(0)});
    for (int i = 2; i < infer.num_in(); ++i) infer.in(i).same_shape(infer.in(0));
    infer.out(0).same_shape(infer.in(1));
  });
  return op;
}

[[maybe_unused]] const bool defined = [] {
  add_prepared_kernel("Pooling", prepare_pooling, kAllSamples);
  add_prepared_kernel("_backward_Pooling_sum", prepare_pool_spread);
  add_prepared_kernel("_backward_Pooling_max", prepare_max_pool_gradient);
  PoolOp pooling("Pooling");
  pooling.alias("_npx_pooling");
  define_forward(pooling, false);
  PoolOp v1("Pooling_v1");
  define_forward(v1, true);

  PoolOp sum("_backward_Pooling_sum");
  declare_backward(sum, "Gradient of sums and means of windows.")
      .type_only(1)
      .cpu(pool_spread_onednn, pool_spread_onednn_accepts, "onednn")
      .cpu(spread_plain)
      .grad([](const PoolParams&, Grad& grad) {
        return Gradients{apply("Pooling", {grad.dout(0)}, grad.attrs()), Value()};
      });
  PoolOp max("_backward_Pooling_max");
  declare_backward(max, "Gradient of maxima of windows: it goes to the first of equal numbers.")
      .cpu(to_first_plain)
      .grad([](const PoolParams&, Grad& grad) {
        return Gradients{apply("_backward_Pooling_pick", {grad.dout(0), grad.in(1)}, grad.attrs()),
                         Value()};
      });
  PoolOp pick("_backward_Pooling_pick");
  pick.doc("Numbers of an array at the places of the maxima of another one's windows.")
      .input("picked", "What is taken from.")
      .input("data", "What has the maxima.");
  declare_params(pick, false);
  pick.dtypes(kFloating)
      .infer([](const PoolParams& params, Infer& infer) {
        infer_pooling(params, infer);
        infer.in(0).same_shape(infer.in(1));
      })
      .cpu(from_first_plain)
      .grad([](const PoolParams&, Grad& grad) {
        return Gradients{apply("_backward_Pooling_max", {grad.dout(0), grad.in(1)}, grad.attrs()),
                         Value()};
      });
  PoolOp norm("_backward_Pooling_lp");
  declare_backward(norm, "Gradient of p-norms of windows.")
      .input("output", "Output of the forward call.")
      .cpu(norm_gradient_plain);
  return mark_portable({"Pooling", "Pooling_v1", "_backward_Pooling_sum", "_backward_Pooling_max",
                        "_backward_Pooling_pick", "_backward_Pooling_lp"});
}();

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Convolution, Convolution_v1, Deconvolution and the operators of their gradients.
#include <algorithm>
#include <optional>

#include "base/config.h"
#include "base/error.h"
#include "device/side_stream.h"
#include "op/nn/bias.h"
#include "op/nn/conv_onednn.h"
#include "op/nn/conv_plain.h"
#include "op/nn/plain_arrays.h"
#include "op/nn/trilinear_grad.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

// ---- Kernels of devices ----

void convolve(const GpuTable& gpu, GpuConvPass pass, const ConvGeometry& g,
              const ConvParams& params, const Tensor& image, const Tensor& weight,
              const Tensor& map, const Tensor* bias, KernelContext& context) {
  gpu.convolve(context.stream()->native(),
               {.pass = pass,
                .geometry = g,
                .image = image,
                .weight = weight,
                .map = map,
                .bias = bias,
                .tune = params.cudnn_tune,
                .workspace_mib = static_cast<int64_t>(params.workspace)},
               context);
}

// A part of a call on a stream beside the call's own, with the call's memory.
class Beside final : public KernelResources {
 public:
  explicit Beside(KernelContext& call)
      : call_(call),
        side_(*call.stream()),
        context_({}, {}, call.device(), &side_.stream(), call.training(), *this) {}
  void* workspace(std::size_t bytes) override {
    void* const memory = call_.workspace(bytes);
    side_.follow();  // the call's stream may wait for whoever had it before
    return memory;
  }
  Tensor make_out(int, const Shape&) override { MX_ASSERT(false); }
  KernelContext& context() { return context_; }

 private:
  KernelContext& call_;
  SideStream side_;
  KernelContext context_;
};

template <bool kTransposed>
void backward_on_gpu(const GpuTable& gpu, const ConvGeometry& g, const ConvParams& params,
                     KernelContext& context) {
  const Tensor &dout = context.in(0), &data = context.in(1), &weight = context.in(2);
  const bool of_data = wants(params.wanted, kWantData);
  const bool of_weight = wants(params.wanted, kWantWeight);
  // First the one beside: it waits for nothing but what came before both.
  std::optional<Beside> beside;
  if (of_data && of_weight && config().cuda.worker_nstreams > 1) beside.emplace(context);
  if (of_weight) {
    convolve(gpu, GpuConvPass::kWeight, g, params, kTransposed ? dout : data,
             context.out(of_data ? 1 : 0), kTransposed ? data : dout, nullptr,
             beside ? beside->context() : context);
  }
  if (of_data) {
    const Tensor& dx = context.out(0);
    if (kTransposed)
      convolve(gpu, GpuConvPass::kMap, g, params, dout, weight, dx, nullptr, context);
    else
      convolve(gpu, GpuConvPass::kImage, g, params, dx, weight, dout, nullptr, context);
  }
  beside.reset();  // what follows waits for both
  const int o = static_cast<int>(of_data) + static_cast<int>(of_weight);
  if (wants(params.wanted, kWantBias))
    gpu.sum_channels(context.stream()->native(), dout, g.channels_last, context.out(o), context);
}

// ---- Plain kernels ----

template <bool kTransposed>
void forward_plain(const ConvParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const ConvGeometry g = kTransposed ? conv_geometry(params, out.shape(), data.shape(), true)
                                     : conv_geometry(params, data.shape(), out.shape(), false);
  if (const GpuTable* gpu = gpu_table(context)) {
    const Tensor* bias = params.no_bias ? nullptr : &context.in(2);
    return kTransposed ? convolve(*gpu, GpuConvPass::kImage, g, params, out, context.in(1), data,
                                  bias, context)
                       : convolve(*gpu, GpuConvPass::kMap, g, params, data, context.in(1), out,
                                  bias, context);
  }
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    const auto* x = arrays.in(data);
    const auto* w = arrays.in(context.in(1));
    const auto* b = params.no_bias ? nullptr : arrays.in(context.in(2));
    if constexpr (kTransposed) {
      conv_image(g, x, w, b, arrays.out(out), context);
    } else {
      conv_map(g, x, w, b, arrays.out(out), context);
    }
  });
}

// Inputs: the output's gradient, data, weight. Outputs: those wanted of data's, weight's and
// bias's.
template <bool kTransposed>
void backward_plain(const ConvParams& params, KernelContext& context) {
  const Tensor &dout = context.in(0), &data = context.in(1);
  const ConvGeometry g = kTransposed ? conv_geometry(params, dout.shape(), data.shape(), true)
                                     : conv_geometry(params, data.shape(), dout.shape(), false);
  if (const GpuTable* gpu = gpu_table(context))
    return backward_on_gpu<kTransposed>(*gpu, g, params, context);
  with_plain_arrays(context, g.channels_last, [&](auto& arrays) {
    const auto* dy = arrays.in(dout);
    using T = std::remove_cvref_t<decltype(*dy)>;
    const T* const none = nullptr;
    int o = 0;
    if (wants(params.wanted, kWantData)) {
      const T* w = arrays.in(context.in(2));
      if constexpr (kTransposed) {
        conv_map(g, dy, w, none, arrays.out(context.out(o++)), context);
      } else {
        conv_image(g, dy, w, none, arrays.out(context.out(o++)), context);
      }
    }
    if (wants(params.wanted, kWantWeight)) {
      const T* x = arrays.in(data);
      conv_weight(g, kTransposed ? dy : x, kTransposed ? x : dy, arrays.out(context.out(o++)),
                  context);
    }
    if (wants(params.wanted, kWantBias)) {
      sum_channels(dout, g.channels_last, context.out(o++), context);
    }
  });
}

// ---- Declarations ----

using ConvOp = OpBuilder<ConvParams>;

Choices<Layout> layouts(bool one_dimension) {
  using enum Layout;
  return one_dimension ? layout_choices({kDefault, kNCW, kNCHW, kNCDHW, kNHWC, kNDHWC})
                       : layout_choices({kDefault, kNCHW, kNCDHW, kNHWC, kNDHWC});
}

void declare_params(ConvOp& op, bool transposed, bool one_dimension) {
  op.param("kernel", &ConvParams::kernel, "Size of the kernel in each spatial dimension.");
  op.param("stride", &ConvParams::stride, Shape::scalar(), "Distance of its places; 1 by default.");
  op.param("dilate", &ConvParams::dilate, Shape::scalar(),
           "Distance of the pixels it sees; 1 by default.");
  op.param("pad", &ConvParams::pad, Shape::scalar(), "Zeros around the image; none by default.");
  if (transposed) {
    op.param("adj", &ConvParams::adj, Shape::scalar(),
             "What the output is larger by, less than the stride; 0 by default.");
    op.param("target_shape", &ConvParams::target_shape, Shape::scalar(),
             "Spatial shape of the output, instead of pad and adj.");
  }
  op.param("num_filter", &ConvParams::num_filter, "Channels of the output.");
  op.at_least<uint32_t>(1);
  op.param("num_group", &ConvParams::num_group, 1u, "Groups of channels that do not mix.");
  op.at_least<uint32_t>(1);
  op.param("workspace", &ConvParams::workspace, transposed ? 512u : 1024u,
           "Limit in MiB of temporary memory, for GPUs.");
  op.param("no_bias", &ConvParams::no_bias, transposed, "Whether there is no bias.");
  op.choice<int8_t>("cudnn_tune", &ConvParams::cudnn_tune,
                    {{"None", 0}, {"fastest", 1}, {"limited_workspace", 2}, {"off", 3}}, "None",
                    "How a GPU's algorithm is chosen.");
  op.param("cudnn_off", &ConvParams::cudnn_off, false, "Whether cuDNN is not used, for GPUs.");
  op.choice("layout", &ConvParams::layout, layouts(one_dimension), "None",
            "Order of dimensions of data, output and weight; channels come second by default.");
}

template <bool kTransposed>
void define_forward(ConvOp& op, const char* doc, bool one_dimension) {
  op.doc(doc)
      .input("data", "Images: batch, channels, then one to three spatial dimensions.")
      .input("weight", "Kernels.")
      .input("bias", "A number for each channel of the output.")
      .num_inputs([](const ConvParams& p) { return p.no_bias ? 2 : 3; });
  declare_params(op, kTransposed, one_dimension);
  op.dtypes(kFloating)
      .infer(kTransposed ? infer_deconvolution : infer_convolution)
      .cpu(conv_forward_onednn<kTransposed>, conv_forward_onednn_accepts<kTransposed>, "onednn")
      .cpu(forward_plain<kTransposed>)
      .grad([](const ConvParams&, Grad& grad) {
        return trilinear_gradient(kTransposed ? "Deconvolution" : "Convolution", grad);
      });
}

// All gradients that are wanted, or that of data alone, which needs of data but its shape: what a
// graph that saves memory asks for separately (graph/split_gradients.h).
enum class Which : bool { kWanted, kOfData };

template <bool kTransposed>
void define_backward(const char* name, Which which, const char* doc) {
  ConvOp op(name);
  if (which == Which::kOfData) op.type_only(1);
  op.doc(doc)
      .input("dout", "Gradient of the output.")
      .input("data", "Input of the forward call.")
      .input("weight", "Kernels of the forward call.")
      .outputs([](const ConvParams& p) { return __builtin_popcount(uint32_t(p.wanted) & 7); });
  declare_params(op, kTransposed, true);
  op.param("wanted", &ConvParams::wanted, "Sum of 1 for data, 2 for weight, 4 for bias.");
  op.range<int32_t>(1, which == Which::kOfData ? 1 : 7);
  op.dtypes(kFloating)
      .infer([](const ConvParams& p, Infer& infer) {
        ConvParams forward = p;
        forward.no_bias = true;
        infer.one_dtype();
        infer.follow(kTransposed ? infer_deconvolution : infer_convolution, forward,
                     {infer.in(1), infer.in(2)}, {infer.in(0)});
        int o = 0;
        if (wants(p.wanted, kWantData)) infer.out(o++).same_shape(infer.in(1));
        if (wants(p.wanted, kWantWeight)) infer.out(o++).same_shape(infer.in(2));
        if (wants(p.wanted, kWantBias)) infer.out(o++).set_shape({p.num_filter});
      })
      .cpu(conv_backward_onednn<kTransposed>, conv_backward_onednn_accepts<kTransposed>, "onednn")
      .cpu(backward_plain<kTransposed>)
      .grad([](const ConvParams& p, Grad& grad) {
        return trilinear_backward_gradient(kTransposed ? "Deconvolution" : "Convolution", p.wanted,
                                           grad);
      });
}

[[maybe_unused]] const bool defined = [] {
  const char* doc =
      "Sums of the products of `weight` with what it sees at each of its places in `data`, per "
      "channel of the output, plus `bias`.";
  ConvOp convolution("Convolution");
  convolution.alias("_npx_convolution");
  define_forward<false>(convolution, doc, true);
  ConvOp v1("Convolution_v1");
  define_forward<false>(v1, doc, false);
  ConvOp deconvolution("Deconvolution");
  deconvolution.alias("_npx_deconvolution");
  define_forward<true>(deconvolution,
                       "Transposed convolution: each number of `data` is the factor of a kernel in "
                       "the output, overlaps add up, plus `bias`.",
                       true);
  using enum Which;
  define_backward<false>("_backward_Convolution", kWanted, "Gradients of Convolution.");
  define_backward<true>("_backward_Deconvolution", kWanted, "Gradients of Deconvolution.");
  define_backward<false>("_backward_Convolution_data", kOfData, "Gradient of Convolution's data.");
  define_backward<true>("_backward_Deconvolution_data", kOfData,
                        "Gradient of Deconvolution's data.");
  mark_products({"Convolution", "Convolution_v1", "Deconvolution"});
  return mark_portable({"Convolution", "Convolution_v1", "Deconvolution", "_backward_Convolution",
                        "_backward_Deconvolution", "_backward_Convolution_data",
                        "_backward_Deconvolution_data"});
}();

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Convolutions of training plans: images, maps and their gradients stay in channel blocks, and
// weights come and go through steps of the plan, so that each is reordered once in a layout.
#include <omp.h>

#include "op/fused/conv_descs_onednn.h"
#include "op/fused/steps_onednn.h"
#include "op/fused/winograd.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/nn/conv_lines.h"
#include "op/nn/trilinear_grad.h"
#include "op/nn/winograd_gradient.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Argument;
using onednn::ConvDescs;
using onednn::StepsKernel;

// A convolution by Winograd's method, its weights transformed anew at each run: forward, or by the
// image, which is a convolution of the map's gradient. Numbers are those of the kernel's tensors.
class WinogradStep final : public onednn::SizedStep {
 public:
  struct Tensors {
    int src, weight, bias, dst;  // bias: -1 for none; dst: of the outputs
  };
  WinogradStep(const WinogradDesc& desc, WinogradConv::WeightOrder order, const Tensors& tensors)
      : conv_(desc, WinogradConv::best_isa()), order_(order), tensors_(tensors) {}

  std::size_t workspace_bytes() const override {
    return onednn::whole_lines(conv_.packed_bytes()) +
           onednn::whole_lines(conv_.workspace_bytes(omp_get_max_threads()));
  }
  void run(const KernelContext& context, std::span<const InputOrigin>) override {
    const int threads = omp_get_max_threads();
    auto* packed = static_cast<float*>(context.workspace(conv_.packed_bytes()));
    conv_.pack(context.in(tensors_.weight).as<float>(), order_, packed, threads);
    LayerPost post;
    if (tensors_.bias >= 0) post.bias = context.in(tensors_.bias).as<float>();
    conv_.run(context.in(tensors_.src).as<float>(), packed, post,
              context.out(tensors_.dst).as<float>(),
              context.workspace(conv_.workspace_bytes(threads)), threads);
  }

 private:
  const WinogradConv conv_;
  const WinogradConv::WeightOrder order_;
  const Tensors tensors_;
};

// The gradient of the weights by Winograd's method, from the gradient of the map and the image.
class WinogradWeightStep final : public onednn::SizedStep {
 public:
  // Numbers of outputs; bias: -1 for none.
  WinogradWeightStep(const WinogradDesc& desc, int weight, int bias)
      : gradient_(desc, WinogradConv::best_isa()), weight_(weight), bias_(bias) {}

  std::size_t workspace_bytes() const override {
    return onednn::whole_lines(gradient_.workspace_bytes(omp_get_max_threads()));
  }
  void run(const KernelContext& context, std::span<const InputOrigin>) override {
    const int threads = omp_get_max_threads();
    gradient_.run(context.in(1).as<float>(), context.in(0).as<float>(),
                  context.out(weight_).as<float>(),
                  bias_ < 0 ? nullptr : context.out(bias_).as<float>(),
                  context.workspace(gradient_.workspace_bytes(threads)), threads);
  }

 private:
  const WinogradWeightGradient gradient_;
  const int weight_, bias_;
};

// The convolution that gives the gradient of the image.
ConvGeometry adjoint(const ConvGeometry& g) {
  ConvGeometry back = g;
  std::swap(back.image_channels, back.map_channels);
  std::swap(back.image, back.map);
  for (std::size_t d = 1; d < 3; ++d) back.pad[d] = g.kernel[d] - 1 - g.pad[d];
  return back;
}

// All arrays are of one type in which the CPU multiplies.
bool takes_types(const Signature& signature) {
  const DType type = signature.in[0].dtype;
  const auto has_type = [type](const Tensor& t) { return t.dtype == type; };
  return onednn::takes(signature) && std::ranges::all_of(signature.in, has_type) &&
         (type == DType::kFloat32 || (type == DType::kBFloat16 && onednn::multiplies_bfloat16()));
}

// Winograd's method for what lies in blocks; weights change from step to step. Its kernels are for
// float32: with bfloat16 a direct convolution is as fast, and its neighbours need no other layout.
std::optional<WinogradDesc> winograd_in_blocks(const ConvGeometry& g, DType dtype) {
  return dtype == DType::kFloat32 ? winograd_choice(g, true, WinogradWeights::kChanging)
                                  : std::nullopt;
}

// Where much of the blocks would be padding, Winograd's method makes up for it, and 1x1 kernels
// wait for memory; other kernels over two dimensions are faster on plain rows, with the conversions
// around them (over one and three, these are in blocks as well).
bool blocks_pay(const ConvGeometry& g, DType dtype) {
  const bool in_tiles = dtype == DType::kBFloat16 && onednn::multiplies_bfloat16_in_tiles();
  return in_tiles || g.spatial != 2 || !g.pads_much() || g.groups > 1 || g.kernel_size() == 1 ||
         winograd_in_blocks(g, dtype);
}

PreparedKernelRef prepare_convolution(const OpDef&, const void* params, const Signature& signature,
                                      std::span<const LayoutRef>) {
  if (!takes_types(signature)) return nullptr;
  const auto& conv = *static_cast<const ConvParams*>(params);
  const ConvGeometry g =
      conv_geometry(conv, signature.in[0].shape(), signature.out[0].shape(), false);
  const DType dtype = signature.in[0].dtype;
  auto descs = ConvDescs::of(conv, g, dtype);
  if (!descs || !blocks_pay(g, dtype)) return nullptr;
  const auto desc = onednn::implemented([&] { return forward_of(g, *descs); });
  if (!desc) return nullptr;
  if (onednn::multiplies_columns(*desc) && suits_lines(g)) return nullptr;
  const LayoutRef image = onednn::layout_of(descs->image), map = onednn::layout_of(descs->map);
  if (const auto winograd = image != nullptr ? winograd_in_blocks(g, dtype) : std::nullopt) {
    std::vector<LayoutRef> plain(signature.in.size());
    plain[0] = image;
    const WinogradStep::Tensors tensors{0, 1, conv.no_bias ? -1 : 2, 0};
    return std::make_shared<const StepsKernel>(
        "winograd", std::vector<StepsKernel::MakeStep>{[desc = *winograd, tensors] {
          return std::make_unique<WinogradStep>(desc, WinogradConv::WeightOrder::kOwn, tensors);
        }},
        std::move(plain), std::vector<LayoutRef>{map});
  }
  descs->weight = desc->weights_desc();
  std::vector<LayoutRef> in{image, onednn::layout_of(descs->weight)};
  std::vector<Argument> arguments{{DNNL_ARG_SRC, descs->image, 0},
                                  {DNNL_ARG_WEIGHTS, descs->weight, 1}};
  if (!conv.no_bias) {
    in.push_back(nullptr);
    arguments.push_back({DNNL_ARG_BIAS, descs->bias, 2});
  }
  arguments.push_back({DNNL_ARG_DST, descs->map, static_cast<int>(in.size())});
  return onednn::prepared_primitive(
      onednn::compile_found(*desc, [g, d = *descs] { return forward_of(g, d); }),
      std::move(arguments), std::move(in), {map});
}

// Gathers the steps of a gradient, and the layouts of what they read and write. Inputs: gradient of
// the map, image, weight; outputs: those of image, weight and bias that are wanted.
class GradientSteps {
 public:
  GradientSteps(const ConvGeometry& g, const ConvDescs& descs, DType dtype)
      : g_(g),
        descs_(descs),
        dtype_(dtype),
        image_(onednn::layout_of(descs.image)),
        in_{onednn::layout_of(descs.map), image_, nullptr} {}

  // The gradient of the image. False where oneDNN has no such step, as below.
  bool add_data() {
    const auto winograd = in_blocks(adjoint(g_));
    if (!winograd) return add_direct_data();
    name_ = "winograd";
    steps_.push_back([desc = *winograd] {
      return std::make_unique<WinogradStep>(desc, WinogradConv::WeightOrder::kAdjoint,
                                            WinogradStep::Tensors{kMap, kWeight, -1, 0});
    });
    out_.push_back(image_);
    return true;
  }
  // That of the weight and, in the same step, of the bias.
  bool add_weight(bool bias) {
    const auto winograd = in_blocks(g_);
    if (!winograd) return add_direct_weight(bias);
    name_ = "winograd";
    const int first = static_cast<int>(out_.size());
    steps_.push_back([desc = *winograd, first, bias] {
      return std::make_unique<WinogradWeightStep>(desc, first, bias ? first + 1 : -1);
    });
    out_.resize(out_.size() + (bias ? 2 : 1));
    return true;
  }
  PreparedKernelRef kernel() && {
    return std::make_shared<const StepsKernel>(name_, std::move(steps_), std::move(in_),
                                               std::move(out_));
  }

 private:
  static constexpr int kMap = 0, kImage = 1, kWeight = 2, kFirstOut = 3;

  int next_out() const { return kFirstOut + static_cast<int>(out_.size()); }
  std::optional<WinogradDesc> in_blocks(const ConvGeometry& g) const {
    return image_ != nullptr ? winograd_in_blocks(g, dtype_) : std::nullopt;
  }
  bool add_direct_data() {
    ConvDescs d = descs_;
    const auto desc = onednn::implemented([&] { return data_gradient_of(g_, d); });
    if (!desc) return false;
    d.weight = desc->weights_desc();
    in_[kWeight] = onednn::layout_of(d.weight);
    steps_.push_back(onednn::primitive_step(
        onednn::compile_found(*desc, [g = g_, d] { return data_gradient_of(g, d); }),
        {{DNNL_ARG_DIFF_DST, d.map, kMap},
         {DNNL_ARG_WEIGHTS, d.weight, kWeight},
         {DNNL_ARG_DIFF_SRC, d.image, next_out()}}));
    out_.push_back(image_);
    return true;
  }
  bool add_direct_weight(bool bias) {
    ConvDescs d = descs_;
    if (!bias) d.bias = memory::desc();
    const auto desc = onednn::implemented([&] { return weight_gradient_of(g_, d); });
    if (!desc) return false;
    d.weight = desc->diff_weights_desc();
    std::vector<Argument> arguments{{DNNL_ARG_DIFF_DST, d.map, kMap},
                                    {DNNL_ARG_SRC, d.image, kImage},
                                    {DNNL_ARG_DIFF_WEIGHTS, d.weight, next_out()}};
    out_.push_back(onednn::layout_of(d.weight));
    if (bias) {
      arguments.push_back({DNNL_ARG_DIFF_BIAS, d.bias, next_out()});
      out_.push_back(nullptr);
    }
    steps_.push_back(onednn::primitive_step(
        onednn::compile_found(*desc, [g = g_, d] { return weight_gradient_of(g, d); }),
        std::move(arguments)));
    return true;
  }

  const ConvGeometry& g_;
  const ConvDescs& descs_;
  const DType dtype_;
  const LayoutRef image_;
  std::vector<LayoutRef> in_, out_;
  std::vector<StepsKernel::MakeStep> steps_;
  const char* name_ = "onednn";
};

PreparedKernelRef prepare_gradient(const OpDef&, const void* params, const Signature& signature,
                                   std::span<const LayoutRef>) {
  if (!takes_types(signature)) return nullptr;
  const auto& conv = *static_cast<const ConvParams*>(params);
  const ConvGeometry g =
      conv_geometry(conv, signature.in[1].shape(), signature.in[0].shape(), false);
  const DType dtype = signature.in[0].dtype;
  const auto descs = ConvDescs::of(conv, g, dtype);
  const bool bias = wants(conv.wanted, kWantBias), weight = wants(conv.wanted, kWantWeight);
  if (!descs || !blocks_pay(g, dtype) || (bias && !weight)) return nullptr;
  if (weight && !onednn::weight_gradient_is_right(g, dtype)) return nullptr;
  GradientSteps steps(g, *descs, dtype);
  if (wants(conv.wanted, kWantData) && !steps.add_data()) return nullptr;
  if (weight && !steps.add_weight(bias)) return nullptr;
  return std::move(steps).kernel();
}

[[maybe_unused]] const bool added =
    add_prepared_kernel("Convolution", prepare_convolution) &&
    add_prepared_kernel("_backward_Convolution", prepare_gradient) &&
    add_prepared_kernel("_backward_Convolution_data", prepare_gradient);

}  // namespace
}  // namespace mxnet

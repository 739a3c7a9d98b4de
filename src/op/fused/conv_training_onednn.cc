// SPDX-License-Identifier: Apache-2.0
// Convolutions of training plans: images, maps and their gradients stay in channel blocks, and
// weights come and go through steps of the plan, so that each is reordered once in a layout.
#include <array>
#include <optional>

#include "op/nn/conv_arrays_onednn.h"
#include "op/nn/trilinear_grad.h"
#include "op/onednn/prepared.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::any_layout;
using onednn::Argument;
using onednn::ConvArrays;

constexpr auto kFloat = memory::data_type::f32;

// No channel is padding.
bool is_full(const memory::desc& desc) {
  std::size_t bytes = sizeof(float);
  for (const memory::dim d : desc.get_dims()) bytes *= static_cast<std::size_t>(d);
  return desc.get_size() == bytes;
}

// Layouts of a convolution: blocks, but for images of few channels, which are the network's input.
struct Descs {
  memory::desc image, weight, bias, map;

  static std::optional<Descs> of(const ConvParams& params, const ConvGeometry& g) {
    if (g.spatial != 2 || g.groups != 1 || channels_last(params.layout)) return std::nullopt;
    const ConvArrays a(g);
    constexpr int64_t kFewChannels = 4;
    const bool input = g.image_channels <= kFewChannels;
    Descs descs{input ? onednn::plain_desc(a.image(), kFloat) : onednn::channel_blocks(a.image()),
                any_layout(a.weight(), kFloat),
                params.no_bias ? memory::desc() : onednn::plain_desc({g.map_channels}, kFloat),
                onednn::channel_blocks(a.map())};
    if (!is_full(descs.image) || !is_full(descs.map)) return std::nullopt;
    return descs;
  }
};

using Forward = dnnl::convolution_forward;
using DataGradient = dnnl::convolution_backward_data;
using WeightGradient = dnnl::convolution_backward_weights;

Forward::primitive_desc forward_of(const ConvGeometry& g, const Descs& d) {
  const ConvArrays a(g);
  return {onednn::engine(),
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          d.image,
          d.weight,
          d.bias,
          d.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          onednn::attributes()};
}
DataGradient::primitive_desc data_gradient_of(const ConvGeometry& g, const Descs& d) {
  const ConvArrays a(g);
  Descs hint = d;
  hint.bias = memory::desc();
  hint.weight = any_layout(a.weight(), kFloat);
  return {onednn::engine(),
          dnnl::algorithm::convolution_direct,
          d.image,
          d.weight,
          d.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          forward_of(g, hint),
          onednn::attributes()};
}
WeightGradient::primitive_desc weight_gradient_of(const ConvGeometry& g, const Descs& d) {
  const ConvArrays a(g);
  Descs hint = d;
  hint.weight = any_layout(a.weight(), kFloat);
  return {onednn::engine(),
          dnnl::algorithm::convolution_direct,
          d.image,
          d.weight,
          d.bias,
          d.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          forward_of(g, hint),
          onednn::attributes()};
}

bool all_float(const Signature& signature) {
  const auto is_float = [](const Tensor& t) { return t.dtype == DType::kFloat32; };
  return onednn::takes(signature) && std::ranges::all_of(signature.in, is_float);
}

PreparedKernelRef prepare_convolution(const OpDef&, const void* params, const Signature& signature,
                                      std::span<const LayoutRef>) {
  if (!signature.training || !all_float(signature)) return nullptr;
  const auto& conv = *static_cast<const ConvParams*>(params);
  const ConvGeometry g =
      conv_geometry(conv, signature.in[0].shape(), signature.out[0].shape(), false);
  auto descs = Descs::of(conv, g);
  if (!descs) return nullptr;
  const auto desc = onednn::implemented([&] { return forward_of(g, *descs); });
  if (!desc) return nullptr;
  descs->weight = desc->weights_desc();
  std::vector<LayoutRef> in{onednn::layout_of(descs->image), onednn::layout_of(descs->weight)};
  std::vector<Argument> arguments{{DNNL_ARG_SRC, descs->image, 0},
                                  {DNNL_ARG_WEIGHTS, descs->weight, 1}};
  if (!conv.no_bias) {
    in.push_back(nullptr);
    arguments.push_back({DNNL_ARG_BIAS, descs->bias, 2});
  }
  arguments.push_back({DNNL_ARG_DST, descs->map, static_cast<int>(in.size())});
  return onednn::prepared_primitive(
      [g, d = *descs] { return onednn::compiled<Forward>(forward_of(g, d)); }, std::move(arguments),
      std::move(in), {onednn::layout_of(descs->map)});
}

// Inputs: gradient of the map, image, weight; outputs: those of image, weight and bias that are
// wanted.
class ConvGradient final : public PreparedKernel {
 public:
  struct Part {
    onednn::Compile compile;
    std::vector<Argument> arguments;
  };
  ConvGradient(std::vector<Part> parts, std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)) {
    for (Part& part : parts) {
      primitives_.push_back(std::make_unique<onednn::SharedPrimitive>(std::move(part.compile)));
      arguments_.push_back(std::move(part.arguments));
    }
  }
  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const ConvGradient& kernel) {
      for (std::size_t i = 0; i < kernel.primitives_.size(); ++i)
        parts_.emplace_back(*kernel.primitives_[i], kernel.arguments_[i]);
    }
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      for (onednn::PrimitiveRun& part : parts_) part.run(context);
    }

   private:
    std::vector<onednn::PrimitiveRun> parts_;
  };
  std::vector<std::unique_ptr<const onednn::SharedPrimitive>> primitives_;
  std::vector<std::vector<Argument>> arguments_;
};

PreparedKernelRef prepare_gradient(const OpDef&, const void* params, const Signature& signature,
                                   std::span<const LayoutRef>) {
  if (!signature.training || !all_float(signature)) return nullptr;
  const auto& conv = *static_cast<const ConvParams*>(params);
  const ConvGeometry g =
      conv_geometry(conv, signature.in[1].shape(), signature.in[0].shape(), false);
  const auto descs = Descs::of(conv, g);
  const bool bias = wants(conv.wanted, kWantBias), weight = wants(conv.wanted, kWantWeight);
  if (!descs || (bias && !weight)) return nullptr;
  const LayoutRef image = onednn::layout_of(descs->image), map = onednn::layout_of(descs->map);
  std::vector<LayoutRef> in{map, image, nullptr}, out;
  std::vector<ConvGradient::Part> parts;
  constexpr int kMap = 0, kImage = 1, kWeight = 2, kFirstOut = 3;
  const auto next_out = [&] { return kFirstOut + static_cast<int>(out.size()); };
  if (wants(conv.wanted, kWantData)) {
    Descs d = *descs;
    const auto desc = onednn::implemented([&] { return data_gradient_of(g, d); });
    if (!desc) return nullptr;
    d.weight = desc->weights_desc();
    in[kWeight] = onednn::layout_of(d.weight);
    parts.push_back({[g, d] { return onednn::compiled<DataGradient>(data_gradient_of(g, d)); },
                     {{DNNL_ARG_DIFF_DST, d.map, kMap},
                      {DNNL_ARG_WEIGHTS, d.weight, kWeight},
                      {DNNL_ARG_DIFF_SRC, d.image, next_out()}}});
    out.push_back(image);
  }
  if (weight) {
    Descs d = *descs;
    if (!bias) d.bias = memory::desc();
    const auto desc = onednn::implemented([&] { return weight_gradient_of(g, d); });
    if (!desc) return nullptr;
    d.weight = desc->diff_weights_desc();
    parts.push_back({[g, d] { return onednn::compiled<WeightGradient>(weight_gradient_of(g, d)); },
                     {{DNNL_ARG_DIFF_DST, d.map, kMap},
                      {DNNL_ARG_SRC, d.image, kImage},
                      {DNNL_ARG_DIFF_WEIGHTS, d.weight, next_out()}}});
    out.push_back(onednn::layout_of(d.weight));
    if (bias) {
      parts.back().arguments.push_back({DNNL_ARG_DIFF_BIAS, d.bias, next_out()});
      out.push_back(nullptr);
    }
  }
  return std::make_shared<const ConvGradient>(std::move(parts), std::move(in), std::move(out));
}

[[maybe_unused]] const bool added = add_prepared_kernel("Convolution", prepare_convolution) &&
                                    add_prepared_kernel("_backward_Convolution", prepare_gradient);

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// The fused convolution as one primitive of oneDNN, its weights packed with what batch
// normalisation makes of them.
#include <algorithm>
#include <array>

#include "op/fused/conv.h"
#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/fused/sum_place.h"
#include "op/fused/winograd.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/prepared.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::any_layout;
using Desc = dnnl::convolution_forward::primitive_desc;

constexpr auto kFloat = memory::data_type::f32;

ConvGeometry geometry_of(const FusedConvParams& params, const Signature& signature) {
  return conv_geometry(params.conv, signature.in[0].shape(), signature.out[0].shape(), false);
}

bool has_bias(const FusedConvParams& params) { return params.batch_norm || !params.conv.no_bias; }

struct Descs {
  memory::desc image, weight, map;
};

Desc describe(const FusedConvParams& params, const ConvGeometry& g, const Descs& descs) {
  const onednn::ConvArrays a(g);
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_post_ops(onednn::post_ops(params.post_ops));
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct,
          descs.image,
          descs.weight,
          has_bias(params) ? onednn::plain_desc({g.map_channels}, kFloat) : memory::desc(),
          descs.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          attributes};
}

// In whatever type: layers that compute in bfloat16 have Winograd kernels between them.
bool is_in_blocks(const LayoutRef& source, const Tensor& image) {
  const memory::desc desc = onednn::desc_in(source, image);
  return desc == onednn::channel_blocks(onednn::dims(image.shape()), desc.get_data_type());
}

// Where much of blocks would be padding, channels lie behind; 1x1 kernels wait for memory, and
// would wait for a step into another layout as well.
bool leaves_blocks(const ConvGeometry& g) {
  return g.spatial == 2 && g.groups == 1 && g.kernel_size() > 1 && g.pads_much();
}

// Null where oneDNN has nothing fast in this type. Images stay in channel blocks where they are in
// them, or where nothing is decided yet: that is what Winograd kernels work in, and with those in
// between the direct ones gain more than oneDNN's own choice (channels last) gives them.
std::unique_ptr<Desc> implemented_in(memory::data_type type, const FusedConvParams& params,
                                     const Signature& signature, const LayoutRef& source) {
  const ConvGeometry g = geometry_of(params, signature);
  const onednn::ConvArrays a(g);
  const Descs any{any_layout(a.image(), type), any_layout(a.weight(), type),
                  any_layout(a.map(), type)};
  if (type == kFloat && leaves_blocks(g)) {
    const Descs behind{onednn::channels_behind(a.image(), type), any.weight,
                       onednn::channels_behind(a.map(), type)};
    if (auto desc = onednn::implemented([&] { return describe(params, g, behind); })) return desc;
  }
  if (g.spatial == 2 && g.image_channels > 1) {
    const memory::desc blocks = onednn::channel_blocks(a.image(), type);
    if (source == nullptr || is_in_blocks(source, signature.in[0])) {
      const Descs in_blocks{source == nullptr ? any.image : blocks, any.weight,
                            onednn::channel_blocks(a.map(), type)};
      if (auto desc = onednn::implemented([&] { return describe(params, g, in_blocks); }))
        return desc;
    }
  }
  return onednn::implemented([&] { return describe(params, g, any); });
}

std::unique_ptr<Desc> implemented(const FusedConvParams& params, const Signature& signature,
                                  const LayoutRef& source) {
  if (!onednn::takes(signature) || channels_last(params.conv.layout)) return nullptr;
  // Packing converts weights and bias from any type; what runs at each call has one of two.
  const DType data = signature.in[0].dtype;
  if (data != DType::kFloat32 && data != DType::kBFloat16) return nullptr;
  if (params.sum && signature.in[1].dtype != data) return nullptr;
  const memory::data_type type = onednn::inference_type(signature.in[0].dtype);
  if (auto desc = implemented_in(type, params, signature, source)) return desc;
  return type == kFloat ? nullptr : implemented_in(kFloat, params, signature, source);
}

class FusedConv final : public PreparedKernel {
 public:
  FusedConv(const FusedConvParams& params, const ConvGeometry& g, const Desc& desc,
            std::vector<LayoutRef> in, LayoutRef out)
      : PreparedKernel("onednn", std::move(in), {std::move(out)}),
        params_(params),
        geometry_(g),
        descs_{desc.src_desc(), desc.weights_desc(), desc.dst_desc()},
        primitive_([params, g, descs = descs_] {
          return onednn::compiled<dnnl::convolution_forward>(describe(params, g, descs));
        }) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FusedConv& conv)
        : conv_(conv), primitive_(conv.primitive_, conv.arguments()) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedConvParams& params = conv_.params_;
      if (params.sum) place_sum(context, conv_.descs_.map.get_size());
      const auto packed = conv_.keeper_.get(context, origins, params.weight_input(),
                                            [&] { return conv_.pack(context); });
      const std::array<void*, 2> given{packed->weight.data(), packed->bias.data()};
      primitive_.run(context, given);
    }

   private:
    const FusedConv& conv_;
    onednn::PrimitiveRun primitive_;
  };

  std::vector<onednn::Argument> arguments() const {
    std::vector<onednn::Argument> arguments{{DNNL_ARG_SRC, descs_.image, 0},
                                            {DNNL_ARG_DST, descs_.map, params_.num_inputs()},
                                            {DNNL_ARG_WEIGHTS, descs_.weight, -1}};
    if (has_bias(params_))
      arguments.push_back(
          {DNNL_ARG_BIAS, onednn::plain_desc({geometry_.map_channels}, kFloat), -1});
    return arguments;
  }

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const onednn::ConvArrays a(geometry_);
    auto packed = std::make_shared<PackedWeight>(
        descs_.weight.get_size(), static_cast<std::size_t>(geometry_.map_channels) * sizeof(float));
    const FoldedWeight folded(params_, context, packed->bias.floats());
    auto* from = const_cast<float*>(folded.weight());  // oneDNN takes inputs as void* too
    const memory plain(onednn::plain_desc(a.weight(), kFloat), onednn::engine(), from);
    const memory wanted(descs_.weight, onednn::engine(), packed->weight.data());
    onednn::execute(dnnl::reorder(plain, wanted),
                    {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, wanted.get()}});
    return packed;
  }

  const FusedConvParams params_;
  const ConvGeometry geometry_;
  const Descs descs_;
  const onednn::SharedPrimitive primitive_;
  mutable WeightKeeper keeper_;
};

}  // namespace

bool fused_conv_accepts(const FusedConvParams& params, const Signature& signature) {
  return implemented(params, signature, nullptr) != nullptr;
}

PreparedKernelRef prepare_fused_conv(const OpDef&, const void* params, const Signature& signature,
                                     std::span<const LayoutRef> layouts) {
  const auto& conv = *static_cast<const FusedConvParams*>(params);
  const auto desc = implemented(conv, signature, layouts[0]);
  if (!desc) return nullptr;
  const bool narrow = desc->src_desc().get_data_type() == memory::data_type::bf16;
  const DType direct = narrow ? DType::kBFloat16 : DType::kFloat32;
  if (auto winograd = prepare_winograd(conv, signature, layouts[0], direct)) return winograd;
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = onednn::layout_of(desc->src_desc(), onednn::data_type(signature.in[0].dtype));
  LayoutRef out = onednn::layout_of(desc->dst_desc(), onednn::data_type(signature.out[0].dtype));
  if (conv.sum) in[1] = out;
  return std::make_shared<const FusedConv>(conv, geometry_of(conv, signature), *desc, std::move(in),
                                           std::move(out));
}

}  // namespace mxnet

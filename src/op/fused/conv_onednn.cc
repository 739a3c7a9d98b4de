// SPDX-License-Identifier: Apache-2.0
// The fused convolution as one primitive of oneDNN, its weights packed with what batch
// normalisation makes of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "op/fused/conv.h"
#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/prepared.h"
#include "op/parallel.h"

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

std::unique_ptr<Desc> implemented(const FusedConvParams& params, const Signature& signature) {
  if (!onednn::takes(signature) || channels_last(params.conv.layout)) return nullptr;
  for (const Tensor& tensor : signature.in)
    if (tensor.dtype != DType::kFloat32) return nullptr;
  const ConvGeometry g = geometry_of(params, signature);
  const onednn::ConvArrays a(g);
  const Descs any{any_layout(a.image(), kFloat), any_layout(a.weight(), kFloat),
                  any_layout(a.map(), kFloat)};
  return onednn::implemented([&] { return describe(params, g, any); });
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
      // The sum is added to what is in the output's place; the plan lets them share it where it
      // can.
      if (params.sum && context.in(1).data != context.out(0).data)
        copy(context.in(1).data, context.out(0).data);
      const auto packed = conv_.keeper_.get(context, origins, params.weight_input(),
                                            [&] { return conv_.pack(context); });
      const std::array<void*, 2> given{packed->weight.data(), packed->bias.data()};
      primitive_.run(context, given);
    }

   private:
    void copy(const void* from, void* to) const {
      parallel_for(
          static_cast<int64_t>(conv_.descs_.map.get_size()), 0.25,
          [&](int64_t first, int64_t last) {
            std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                        static_cast<std::size_t>(last - first));
          },
          4096);
    }
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

  // y = (x * w + b - mean) * scale + beta = x * (w * scale) + ((b - mean) * scale + beta), in
  // double where numbers are few.
  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const onednn::ConvArrays a(geometry_);
    const auto channels = static_cast<std::size_t>(geometry_.map_channels);
    auto packed =
        std::make_shared<PackedWeight>(descs_.weight.get_size(), channels * sizeof(float));
    const Tensor& weight = context.in(params_.weight_input());
    const float* bias =
        params_.conv.no_bias ? nullptr : context.in(params_.bias_input()).as<float>();
    const float* from = weight.as<float>();
    std::vector<float> scaled;
    if (params_.batch_norm) {
      const int n = params_.gamma_input();
      const auto* gamma = context.in(n).as<float>();
      const auto* beta = context.in(n + 1).as<float>();
      const auto* mean = context.in(n + 2).as<float>();
      const auto* variance = context.in(n + 3).as<float>();
      scaled.resize(static_cast<std::size_t>(weight.size()));
      const std::size_t row = scaled.size() / channels;
      for (std::size_t c = 0; c < channels; ++c) {
        const double scale = (params_.fix_gamma ? 1.0 : double{gamma[c]}) /
                             std::sqrt(double{variance[c]} + params_.eps);
        const double before = bias != nullptr ? double{bias[c]} : 0.0;
        packed->bias.floats()[c] =
            static_cast<float>((before - double{mean[c]}) * scale + double{beta[c]});
        for (std::size_t i = c * row; i < (c + 1) * row; ++i)
          scaled[i] = static_cast<float>(double{from[i]} * scale);
      }
      from = scaled.data();
    } else if (bias != nullptr) {
      std::copy_n(bias, channels, packed->bias.floats());
    }
    const memory plain(onednn::plain_desc(a.weight(), kFloat), onednn::engine(),
                       const_cast<float*>(from));
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
  return implemented(params, signature) != nullptr;
}

PreparedKernelRef prepare_fused_conv(const OpDef&, const void* params, const Signature& signature,
                                     std::span<const LayoutRef>) {
  const auto& conv = *static_cast<const FusedConvParams*>(params);
  const auto desc = implemented(conv, signature);
  if (!desc) return nullptr;
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = onednn::layout_of(desc->src_desc());
  LayoutRef out = onednn::layout_of(desc->dst_desc());
  if (conv.sum) in[1] = out;
  return std::make_shared<const FusedConv>(conv, geometry_of(conv, signature), *desc, std::move(in),
                                           std::move(out));
}

}  // namespace mxnet

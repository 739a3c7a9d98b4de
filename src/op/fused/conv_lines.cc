// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels a group in plans, where oneDNN would multiply columns.
#include "op/fused/conv_lines.h"

#include <algorithm>

#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/nn/conv_lines.h"

namespace mxnet {
namespace {

class ConvLines final : public PreparedKernel {
 public:
  ConvLines(const FusedConvParams& params, const ConvGeometry& g, const LayerPost& post)
      : PreparedKernel("lines",
                       std::vector<LayoutRef>(static_cast<std::size_t>(params.num_inputs())),
                       {nullptr}),
        params_(params),
        geometry_(g),
        post_(post),
        keeper_(packed_form(PackedBy::kLines, {g.groups}, Folding::words_of(params))) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const ConvLines& conv) : conv_(conv) {}
    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedConvParams& params = conv_.params_;
      const auto packed = conv_.keeper_.get(context, origins, params.weight_input(),
                                            [&] { return conv_.pack(context); });
      LayerPost post = conv_.post_;
      post.bias = packed->bias.floats();
      if (params.sum) post.sum = context.in(1).data;
      convolve_lines(conv_.geometry_, context.in(0).as<float>(), packed->weight.floats(), post,
                     context.out(0).as<float>(), context);
    }

   private:
    const ConvLines& conv_;
  };

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const int64_t count =
        geometry_.map_channels * geometry_.image_group() * geometry_.kernel_size();
    auto packed = std::make_shared<PackedWeight>(static_cast<std::size_t>(count) * sizeof(float),
                                                 params_.conv.num_filter * sizeof(float));
    const FoldedWeight folded(params_, context, packed->bias.floats());
    std::copy_n(folded.weight(), count, packed->weight.floats());
    return packed;
  }

  const FusedConvParams params_;
  const ConvGeometry geometry_;
  const LayerPost post_;
  mutable WeightKeeper keeper_;
};

}  // namespace

PreparedKernelRef prepare_conv_lines(const FusedConvParams& params, const Signature& signature) {
  const Tensor& data = signature.in[0];
  const ConvGeometry g = conv_geometry(params.conv, data.shape(), signature.out[0].shape(), false);
  const auto post = layer_post(params.post_ops);
  if (data.dtype != DType::kFloat32 || signature.out[0].dtype != DType::kFloat32 || !post ||
      !suits_lines(g))
    return nullptr;
  return std::make_shared<const ConvLines>(params, g, *post);
}

}  // namespace mxnet

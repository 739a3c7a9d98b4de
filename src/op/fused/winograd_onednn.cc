// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions between arrays in the blocked layouts of oneDNN.
#include "op/fused/winograd.h"

#include <omp.h>

#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/onednn/layout.h"

namespace mxnet {
namespace {

using dnnl::memory;

class Winograd final : public PreparedKernel {
 public:
  Winograd(const FusedConvParams& params, const WinogradDesc& desc, const LayerPost& post,
           std::vector<LayoutRef> in, LayoutRef out)
      : PreparedKernel("winograd", std::move(in), {std::move(out)}),
        params_(params),
        post_(post),
        conv_(desc, WinogradConv::best_isa()) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const Winograd& kernel) : kernel_(kernel) {}
    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedConvParams& params = kernel_.params_;
      const int threads = omp_get_max_threads();
      const auto packed = kernel_.keeper_.get(context, origins, params.weight_input(),
                                              [&] { return kernel_.pack(context, threads); });
      LayerPost post = kernel_.post_;
      post.bias = packed->bias.floats();
      if (params.sum) post.sum = context.in(1).as<float>();
      kernel_.conv_.run(context.in(0).as<float>(), packed->weight.floats(), post,
                        context.out(0).as<float>(),
                        context.workspace(kernel_.conv_.workspace_bytes(threads)), threads);
    }

   private:
    const Winograd& kernel_;
  };

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context, int threads) const {
    auto packed = std::make_shared<PackedWeight>(conv_.packed_bytes(),
                                                 params_.conv.num_filter * sizeof(float));
    const FoldedWeight folded(params_, context, packed->bias.floats());
    conv_.pack(folded.weight(), packed->weight.floats(), threads);
    return packed;
  }

  const FusedConvParams params_;
  const LayerPost post_;
  const WinogradConv conv_;
  mutable WeightKeeper keeper_;
};

}  // namespace

PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source, DType direct) {
  const Tensor &data = signature.in[0], &map = signature.out[0];
  const ConvGeometry g = conv_geometry(params.conv, data.shape(), map.shape(), false);
  const std::optional<LayerPost> post = layer_post(params.post_ops);
  const auto desc = winograd_choice(g, source != nullptr, WinogradWeights::kKept, direct);
  if (!post || !desc) return nullptr;
  const auto blocks = [&](dnnl::memory::data_type type) {
    return onednn::channel_blocks(onednn::dims(data.shape()), type);
  };
  const memory::desc image = blocks(memory::data_type::f32);
  std::vector<LayoutRef> in(signature.in.size());
  if (source != nullptr) {
    // From a layer that computes in bfloat16 a step converts: that costs less than what the method
    // gains where it is chosen at all.
    const memory::desc given = onednn::desc_in(source, data);
    if (given != image && given != blocks(memory::data_type::bf16)) return nullptr;
    in[0] = given == image ? source : onednn::layout_of(image);
  } else if (data.dtype != DType::kFloat32) {
    in[0] =
        onednn::layout_of(onednn::plain_desc(onednn::dims(data.shape()), memory::data_type::f32),
                          onednn::data_type(data.dtype));
  }
  LayoutRef out = onednn::layout_of(onednn::channel_blocks(onednn::dims(map.shape())));
  if (params.sum) in[1] = out;
  return std::make_shared<const Winograd>(params, *desc, *post, std::move(in), std::move(out));
}

}  // namespace mxnet

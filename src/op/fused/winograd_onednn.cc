// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions between arrays in the blocked layouts of oneDNN.
#include "op/fused/winograd.h"

#include <omp.h>

#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/onednn/layout.h"

namespace mxnet {
namespace {

class Winograd final : public PreparedKernel {
 public:
  Winograd(const FusedConvParams& params, const WinogradDesc& desc, const LayerPost& post,
           std::vector<LayoutRef> in, LayoutRef out)
      : PreparedKernel("winograd", std::move(in), {std::move(out)}),
        params_(params),
        post_(post),
        conv_(desc, WinogradConv::best_isa()),
        keeper_(packed_form(PackedBy::kWinograd,
                            {winograd_form(desc), desc.channels, desc.filters, desc.pairs ? 1 : 0},
                            Folding::words_of(params))) {}

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
      if (params.sum) post.sum = context.in(1).data;
      kernel_.conv_.run(context.in(0).data, packed->weight.floats(), post, context.out(0).data,
                        context.workspace(kernel_.conv_.workspace_bytes(threads)), threads);
    }

   private:
    const Winograd& kernel_;
  };

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context, int threads) const {
    auto packed = std::make_shared<PackedWeight>(conv_.packed_bytes(),
                                                 params_.conv.num_filter * sizeof(float));
    const Folding folding(params_, context, packed->bias.floats());
    conv_.pack(folding.given(), packed->weight.floats(), threads, folding.scales());
    return packed;
  }

  const FusedConvParams params_;
  const LayerPost post_;
  const WinogradConv conv_;
  mutable WeightKeeper keeper_;
};

}  // namespace

PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source, DirectUnits direct) {
  const Tensor &data = signature.in[0], &map = signature.out[0];
  const ConvGeometry g = conv_geometry(params.conv, data.shape(), map.shape(), false);
  const std::optional<LayerPost> post = layer_post(params.post_ops);
  auto desc = winograd_choice(g, source != nullptr, WinogradWeights::kKept, direct);
  if (!post || !desc) return nullptr;
  constexpr auto kFloat = dnnl::memory::data_type::f32, kNarrow = dnnl::memory::data_type::bf16;
  const auto blocks = [](const Tensor& array, dnnl::memory::data_type type) {
    return onednn::channel_blocks(onednn::dims(array.shape()), type);
  };
  // Between layers that compute in bfloat16 images are in it: no step converts, and half as much is
  // written and read.
  std::vector<LayoutRef> in(signature.in.size());
  if (source != nullptr) {
    const dnnl::memory::desc given = onednn::desc_in(source, data);
    desc->src_narrow = given == blocks(data, kNarrow);
    if (!desc->src_narrow && given != blocks(data, kFloat)) return nullptr;
    in[0] = source;
  } else if (data.dtype != DType::kFloat32) {
    in[0] = onednn::layout_of(onednn::plain_desc(onednn::dims(data.shape()), kFloat),
                              onednn::data_type(data.dtype));
  }
  desc->dst_narrow = direct != DirectUnits::kFloat32;
  // Not where bfloat16 comes in or goes out and the kernel has no loops for it.
  if (!WinogradConv::supported(*desc)) return nullptr;
  LayoutRef out = onednn::layout_of(blocks(map, desc->dst_narrow ? kNarrow : kFloat), kFloat);
  if (params.sum) in[1] = out;
  return std::make_shared<const Winograd>(params, *desc, *post, std::move(in), std::move(out));
}

}  // namespace mxnet

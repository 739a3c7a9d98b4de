// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions between arrays in the blocked layouts of oneDNN.
#include "op/fused/winograd.h"

#include <omp.h>

#include <algorithm>
#include <optional>

#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/nn/winograd.h"
#include "op/onednn/layout.h"

namespace mxnet {
namespace {

// A step on results as the kernels know it: a sum, then an activation. None for others.
std::optional<WinogradPost> post_of(const FusedConvParams& params) {
  WinogradPost post;
  for (std::size_t i = 0; i < params.post_ops.size(); ++i) {
    const PostOp& op = params.post_ops[i];
    const bool last = i + 1 == params.post_ops.size();
    if (op.kind == PostOp::Kind::kSum && i == 0) continue;
    if (!last) return std::nullopt;
    if (op.kind == PostOp::Kind::kClip) {
      post.low = op.alpha;
      post.high = op.beta;
    } else if (op.kind == PostOp::Kind::kRelu && op.alpha == 0) {
      post.low = 0;
    } else if (op.kind == PostOp::Kind::kRelu) {
      post.slope = op.alpha;
    } else {
      return std::nullopt;
    }
  }
  return post;
}

bool is_3x3_step_1(const ConvGeometry& g) {
  const auto all = [](const ConvGeometry::Sizes& sizes, int64_t value) {
    return sizes[1] == value && sizes[2] == value;
  };
  return g.spatial == 2 && g.groups == 1 && all(g.kernel, 3) && all(g.stride, 1) &&
         all(g.dilate, 1) && g.pad_behind(1) == g.pad[1] && g.pad_behind(2) == g.pad[2];
}

// Transforms cost the more the fewer channels share them; tiles that lie across the border compute
// what nobody wants; and few tiles do not pay for reading weights that are four times as large.
bool worth_while(const ConvGeometry& g, int tile) {
  constexpr int64_t kFewChannels = 32, kFewTiles = 24;
  const int64_t rows = (g.map[1] + tile - 1) / tile, columns = (g.map[2] + tile - 1) / tile;
  const double used =
      static_cast<double>(g.map[1] * g.map[2]) / static_cast<double>(rows * columns * tile * tile);
  return std::min(g.image_channels, g.map_channels) >= kFewChannels && used >= 0.6 &&
         g.batch * rows * columns >= kFewTiles;
}

class Winograd final : public PreparedKernel {
 public:
  Winograd(const FusedConvParams& params, const WinogradDesc& desc, const WinogradPost& post,
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
      WinogradPost post = kernel_.post_;
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
  const WinogradPost post_;
  const WinogradConv conv_;
  mutable WeightKeeper keeper_;
};

}  // namespace

PreparedKernelRef prepare_winograd(const FusedConvParams& params, const Signature& signature,
                                   const LayoutRef& source) {
  const Tensor &data = signature.in[0], &map = signature.out[0];
  const ConvGeometry g = conv_geometry(params.conv, data.shape(), map.shape(), false);
  const std::optional<WinogradPost> post = post_of(params);
  constexpr int kTile = 4;
  if (!post || !is_3x3_step_1(g) || !worth_while(g, kTile)) return nullptr;
  const WinogradConv::Isa isa = WinogradConv::best_isa();
  if (isa == WinogradConv::Isa::kBaseline) return nullptr;
  const dnnl::memory::desc image = onednn::channel_blocks(onednn::dims(data.shape()));
  const dnnl::memory::desc result = onednn::channel_blocks(onednn::dims(map.shape()));
  const WinogradDesc desc{.batch = g.batch,
                          .channels = g.image_channels,
                          .filters = g.map_channels,
                          .height = g.image[1],
                          .width = g.image[2],
                          .pad_y = g.pad[1],
                          .pad_x = g.pad[2],
                          .tile = kTile,
                          .src_blocked = source != nullptr,
                          .dst_blocked = true};
  if (!WinogradConv::supported(desc)) return nullptr;
  if (source != nullptr && onednn::desc_in(source, data) != image) return nullptr;
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = source;
  LayoutRef out = onednn::layout_of(result);
  if (params.sum) in[1] = out;
  return std::make_shared<const Winograd>(params, desc, *post, std::move(in), std::move(out));
}

}  // namespace mxnet

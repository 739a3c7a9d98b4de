// SPDX-License-Identifier: Apache-2.0
// The fused fully connected layer: a few rows by our own loops on plain weights, which leaves them
// in memory once; more as one inner product of oneDNN on packed weights.
#include <algorithm>
#include <array>
#include <optional>

#include "base/config.h"
#include "op/fused/dense.h"
#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/fused/sum_place.h"
#include "op/nn/few_rows.h"
#include "op/onednn/prepared.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::plain_desc;
using Desc = dnnl::inner_product_forward::primitive_desc;

constexpr auto kFloat = memory::data_type::f32;
// Fewer products than that are done before a second thread has started, and oneDNN starts it.
constexpr int64_t kFewProducts = int64_t{1} << 17;

Desc describe(const FusedDenseParams& params, const DenseSizes& s, bool plain_weight) {
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_post_ops(onednn::post_ops(params.post_ops));
  const memory::dims weight{s.hidden, s.depth};
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          plain_desc({s.rows, s.depth}, kFloat),
          plain_weight ? plain_desc(weight, kFloat)
                       : memory::desc(weight, kFloat, memory::format_tag::any),
          params.dense.no_bias ? memory::desc() : plain_desc({s.hidden}, kFloat),
          plain_desc({s.rows, s.hidden}, kFloat),
          attributes};
}

DenseSizes sizes_of(const FusedDenseParams& params, const Signature& signature) {
  return {params.dense, signature.in[0].shape(),
          signature.in[static_cast<std::size_t>(params.weight_input())].shape()};
}

class FusedDense final : public PreparedKernel {
 public:
  FusedDense(const FusedDenseParams& params, const DenseSizes& sizes, const Desc& desc, bool plain)
      : PreparedKernel("onednn",
                       std::vector<LayoutRef>(static_cast<std::size_t>(params.num_inputs())),
                       {nullptr}),
        params_(params),
        sizes_(sizes),
        weight_(desc.weights_desc()),
        packs_(weight_ != plain_desc({sizes.hidden, sizes.depth}, kFloat)),
        primitive_([params, sizes, plain] {
          return onednn::compiled<dnnl::inner_product_forward>(describe(params, sizes, plain));
        }) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FusedDense& dense)
        : dense_(dense), primitive_(dense.primitive_, dense.arguments()) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedDenseParams& params = dense_.params_;
      if (params.sum) place_sum(context, dense_.out_bytes());
      if (!dense_.packs_) {
        const std::array<void*, 1> given{context.in(params.weight_input()).data};
        primitive_.run(context, given);
        return;
      }
      const auto packed = config().onednn.disable_fc_cache
                              ? dense_.pack(context)
                              : dense_.keeper_.get(context, origins, params.weight_input(),
                                                   [&] { return dense_.pack(context); });
      const std::array<void*, 1> given{packed->weight.data()};
      primitive_.run(context, given);
    }

   private:
    const FusedDense& dense_;
    onednn::PrimitiveRun primitive_;
  };

  std::size_t out_bytes() const {
    return static_cast<std::size_t>(sizes_.rows * sizes_.hidden) * sizeof(float);
  }

  std::vector<onednn::Argument> arguments() const {
    const int weight = params_.weight_input();
    std::vector<onednn::Argument> arguments{
        {DNNL_ARG_SRC, plain_desc({sizes_.rows, sizes_.depth}, kFloat), 0},
        {DNNL_ARG_DST, plain_desc({sizes_.rows, sizes_.hidden}, kFloat), params_.num_inputs()},
        {DNNL_ARG_WEIGHTS, weight_, -1}};
    if (!params_.dense.no_bias)
      arguments.push_back({DNNL_ARG_BIAS, plain_desc({sizes_.hidden}, kFloat), weight + 1});
    return arguments;
  }

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    auto packed = std::make_shared<PackedWeight>(weight_.get_size(), 0);
    const memory plain(plain_desc({sizes_.hidden, sizes_.depth}, kFloat), onednn::engine(),
                       context.in(params_.weight_input()).data);
    const memory wanted(weight_, onednn::engine(), packed->weight.data());
    onednn::execute(dnnl::reorder(plain, wanted),
                    {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, wanted.get()}});
    return packed;
  }

  const FusedDenseParams params_;
  const DenseSizes sizes_;
  const memory::desc weight_;
  const bool packs_;
  const onednn::SharedPrimitive primitive_;
  mutable WeightKeeper keeper_;
};

class FewRowsDense final : public PreparedKernel {
 public:
  FewRowsDense(const FusedDenseParams& params, const DenseSizes& sizes, const LayerPost& post)
      : PreparedKernel("few_rows",
                       std::vector<LayoutRef>(static_cast<std::size_t>(params.num_inputs())),
                       {nullptr}),
        params_(params),
        sizes_(sizes),
        post_(post) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FewRowsDense& dense) : dense_(dense) {}

    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      const FusedDenseParams& params = dense_.params_;
      const int weight = params.weight_input();
      LayerPost post = dense_.post_;
      if (params.sum) post.sum = context.in(1).as<float>();
      if (!params.dense.no_bias) post.bias = context.in(weight + 1).as<float>();
      multiply_few_rows(dense_.sizes_, context.in(0).as<float>(), context.in(weight).as<float>(),
                        post, context.out(0).as<float>());
    }

   private:
    const FewRowsDense& dense_;
  };

  const FusedDenseParams params_;
  const DenseSizes sizes_;
  const LayerPost post_;
};

bool takes_floats(const Signature& signature) {
  const auto is_float = [](const Tensor& tensor) { return tensor.dtype == DType::kFloat32; };
  return onednn::takes(signature) && std::ranges::all_of(signature.in, is_float);
}

// What follows the layer, if our own loops compute it.
std::optional<LayerPost> few_rows_post(const FusedDenseParams& params, const Signature& signature) {
  if (!is_few_rows(sizes_of(params, signature))) return std::nullopt;
  return layer_post(params.post_ops);
}

std::unique_ptr<Desc> implemented(const FusedDenseParams& params, const Signature& signature,
                                  bool plain_weight) {
  const DenseSizes s = sizes_of(params, signature);
  if (s.rows * s.hidden * s.depth < kFewProducts) return nullptr;
  return onednn::implemented([&] { return describe(params, s, plain_weight); });
}

}  // namespace

bool fused_dense_accepts(const FusedDenseParams& params, const Signature& signature) {
  return takes_floats(signature) &&
         (few_rows_post(params, signature) ||
          implemented(params, signature, config().onednn.force_fc_ab_format) != nullptr);
}

PreparedKernelRef prepare_fused_dense(const OpDef&, const void* params, const Signature& signature,
                                      std::span<const LayoutRef>) {
  const auto& dense = *static_cast<const FusedDenseParams*>(params);
  if (!takes_floats(signature)) return nullptr;
  if (const auto post = few_rows_post(dense, signature))
    return std::make_shared<const FewRowsDense>(dense, sizes_of(dense, signature), *post);
  const bool plain = config().onednn.force_fc_ab_format;
  const auto desc = implemented(dense, signature, plain);
  if (!desc) return nullptr;
  return std::make_shared<const FusedDense>(dense, sizes_of(dense, signature), *desc, plain);
}

}  // namespace mxnet

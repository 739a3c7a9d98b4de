// SPDX-License-Identifier: Apache-2.0
// The fused fully connected layer: a few rows by our own loops on plain weights, which leaves them
// in memory once; more as one inner product of oneDNN on packed weights.
#include <algorithm>
#include <array>
#include <optional>

#include "base/config.h"
#include "base/simd.h"
#include "op/fused/dense.h"
#include "op/fused/floats.h"
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

// Fewer products than that are done before a second thread has started, and oneDNN starts it.
constexpr int64_t kFewProducts = int64_t{1} << 17;

// Of the layers that BLAS has (fully_connected_onednn.cc), those of long rows on AVX2: with less
// than 128 of them oneDNN does not cut their length, so that they do not stay in the second-level
// cache while it goes over the weight. One core of a Zen 3: 32 rows of 9216 to 4096 units 100 ms,
// by BLAS 42; 64 of 3072 34 and 23, but 64 of 2048 12 and 15.
bool has_long_rows(const DenseSizes& s) {
  constexpr int64_t kLong = 3072, kCached = int64_t{1} << 17;  // floats
  return simd_level() == 1 && s.rows > 12 && s.rows < 128 && s.depth >= kLong &&
         s.rows * s.depth >= kCached;
}

// Of the arrays of a call. Weights and bias may have another type than rows: packing converts them.
struct Types {
  memory::data_type rows, bias;
  bool converts;

  explicit Types(const FusedDenseParams& params, const Signature& signature)
      : rows(onednn::data_type(signature.in[0].dtype)) {
    const auto differs = [&](const Tensor& tensor) {
      return tensor.dtype != signature.in[0].dtype;
    };
    converts = std::ranges::any_of(
        signature.in.subspan(static_cast<std::size_t>(params.weight_input())), differs);
    bias = converts ? memory::data_type::f32 : rows;
  }
};

Desc describe(const FusedDenseParams& params, const DenseSizes& s, const Types& types,
              bool plain_weight) {
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_post_ops(onednn::post_ops(params.post_ops));
  const memory::dims weight{s.hidden, s.depth};
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          plain_desc({s.rows, s.depth}, types.rows),
          plain_weight ? plain_desc(weight, types.rows)
                       : memory::desc(weight, types.rows, memory::format_tag::any),
          params.dense.no_bias ? memory::desc() : plain_desc({s.hidden}, types.bias),
          plain_desc({s.rows, s.hidden}, types.rows),
          attributes};
}

DenseSizes sizes_of(const FusedDenseParams& params, const Signature& signature) {
  return {params.dense, signature.in[0].shape(),
          signature.in[static_cast<std::size_t>(params.weight_input())].shape()};
}

class FusedDense final : public PreparedKernel {
 public:
  FusedDense(const FusedDenseParams& params, const DenseSizes& sizes, const Types& types,
             const Desc& desc, bool plain)
      : PreparedKernel("onednn",
                       std::vector<LayoutRef>(static_cast<std::size_t>(params.num_inputs())),
                       {nullptr}),
        params_(params),
        sizes_(sizes),
        types_(types),
        weight_(desc.weights_desc()),
        packs_(types.converts || weight_ != plain_desc({sizes.hidden, sizes.depth}, types.rows)),
        primitive_([params, sizes, types, plain] {
          return onednn::compiled<dnnl::inner_product_forward>(
              describe(params, sizes, types, plain));
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
      const std::array<void*, 2> given{packed->weight.data(), packed->bias.data()};
      primitive_.run(context, given);
    }

   private:
    const FusedDense& dense_;
    onednn::PrimitiveRun primitive_;
  };

  std::size_t out_bytes() const {
    return plain_desc({sizes_.rows, sizes_.hidden}, types_.rows).get_size();
  }

  std::vector<onednn::Argument> arguments() const {
    const int weight = params_.weight_input();
    std::vector<onednn::Argument> arguments{
        {DNNL_ARG_SRC, plain_desc({sizes_.rows, sizes_.depth}, types_.rows), 0},
        {DNNL_ARG_DST, plain_desc({sizes_.rows, sizes_.hidden}, types_.rows), params_.num_inputs()},
        {DNNL_ARG_WEIGHTS, weight_, -1}};
    if (!params_.dense.no_bias)
      arguments.push_back({DNNL_ARG_BIAS, plain_desc({sizes_.hidden}, types_.bias),
                           types_.converts ? -1 : weight + 1});
    return arguments;
  }

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const int weight = params_.weight_input();
    const bool keeps_bias = types_.converts && !params_.dense.no_bias;
    auto packed = std::make_shared<PackedWeight>(
        weight_.get_size(),
        keeps_bias ? static_cast<std::size_t>(sizes_.hidden) * sizeof(float) : 0);
    if (keeps_bias)
      std::copy_n(Floats(context.in(weight + 1)).data(), sizes_.hidden, packed->bias.floats());
    // oneDNN takes inputs as void* too.
    const auto pack_from = [&](memory::data_type type, const void* from) {
      const memory plain(plain_desc({sizes_.hidden, sizes_.depth}, type), onednn::engine(),
                         const_cast<void*>(from));
      const memory wanted(weight_, onednn::engine(), packed->weight.data());
      onednn::execute(dnnl::reorder(plain, wanted),
                      {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, wanted.get()}});
    };
    if (types_.converts) {
      pack_from(memory::data_type::f32, Floats(context.in(weight)).data());
    } else {
      pack_from(types_.rows, context.in(weight).data);
    }
    return packed;
  }

  const FusedDenseParams params_;
  const DenseSizes sizes_;
  const Types types_;
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

// Rows are of a type in which the CPU multiplies.
bool takes_types(const FusedDenseParams& params, const Signature& signature) {
  const DType rows = signature.in[0].dtype;
  return onednn::takes(signature) && (!params.sum || signature.in[1].dtype == rows) &&
         (rows == DType::kFloat32 || (rows == DType::kBFloat16 && onednn::multiplies_bfloat16()));
}

// What follows the layer, if our own loops compute it.
std::optional<LayerPost> few_rows_post(const FusedDenseParams& params, const Signature& signature) {
  const auto is_float = [](const Tensor& tensor) { return tensor.dtype == DType::kFloat32; };
  if (!std::ranges::all_of(signature.in, is_float) || !is_few_rows(sizes_of(params, signature)))
    return std::nullopt;
  return layer_post(params.post_ops);
}

std::unique_ptr<Desc> implemented(const FusedDenseParams& params, const Signature& signature,
                                  bool plain_weight) {
  const DenseSizes s = sizes_of(params, signature);
  if (s.rows * s.hidden * s.depth < kFewProducts) return nullptr;
  const Types types(params, signature);
  if (types.rows == memory::data_type::f32 && !types.converts && has_long_rows(s)) return nullptr;
  return onednn::implemented([&] { return describe(params, s, types, plain_weight); });
}

}  // namespace

bool fused_dense_accepts(const FusedDenseParams& params, const Signature& signature) {
  return takes_types(params, signature) &&
         (few_rows_post(params, signature) ||
          implemented(params, signature, config().onednn.force_fc_ab_format) != nullptr);
}

PreparedKernelRef prepare_fused_dense(const OpDef&, const void* params, const Signature& signature,
                                      std::span<const LayoutRef>) {
  const auto& dense = *static_cast<const FusedDenseParams*>(params);
  if (!takes_types(dense, signature)) return nullptr;
  if (const auto post = few_rows_post(dense, signature))
    return std::make_shared<const FewRowsDense>(dense, sizes_of(dense, signature), *post);
  const bool plain = config().onednn.force_fc_ab_format;
  const auto desc = implemented(dense, signature, plain);
  if (!desc) return nullptr;
  return std::make_shared<const FusedDense>(dense, sizes_of(dense, signature),
                                            Types(dense, signature), *desc, plain);
}

}  // namespace mxnet

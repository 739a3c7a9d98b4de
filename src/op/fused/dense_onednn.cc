// SPDX-License-Identifier: Apache-2.0
// The fused fully connected layer: a few rows by our own loops on plain weights, which leaves them
// in memory once; more as one inner product of oneDNN on packed weights.
#include <algorithm>
#include <array>
#include <optional>

#include "base/config.h"
#include "base/simd.h"
#include "op/fused/dense.h"
#include "op/fused/dense_strassen.h"
#include "op/fused/floats.h"
#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/fused/sum_place.h"
#include "op/onednn/layout.h"
#include "op/onednn/lru_cache.h"
#include "op/onednn/prepared.h"
#include "op/products/few_rows.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::plain_desc;
using Desc = dnnl::inner_product_forward::primitive_desc;

// Fewer products than that are done before a second thread has started, and oneDNN starts it.
constexpr int64_t kFewProducts = int64_t{1} << 17;

// On AVX2 oneDNN does not cut the length of rows where there are less than 128 of them. Long ones
// leave the second-level cache while it goes over the weight, and BLAS is faster
// (fully_connected_onednn.cc has it for more; figures: docs/onednn.md).
bool has_long_rows(const DenseSizes& s) {
  constexpr int64_t kLong = 3072, kCached = int64_t{1} << 17;  // floats
  return simd_level() == 1 && s.rows > 12 && s.rows < 128 && s.depth >= kLong &&
         s.rows * s.depth >= kCached;
}

// Of the arrays of a call. Weights and bias may have another type than rows: packing converts them.
struct Types {
  memory::data_type rows, factors, bias;  // factors: what is multiplied
  bool converts;

  Types(const FusedDenseParams& params, const Signature& signature, memory::data_type multiplied)
      : rows(onednn::data_type(signature.in[0].dtype)), factors(multiplied) {
    const auto differs = [&](const Tensor& tensor) {
      return tensor.dtype != signature.in[0].dtype;
    };
    converts = factors != rows ||
               std::ranges::any_of(
                   signature.in.subspan(static_cast<std::size_t>(params.weight_input())), differs);
    bias = converts ? memory::data_type::f32 : rows;
  }
};

// `weight`: its layout; oneDNN's choice of one depends on the number of threads.
Desc describe(const FusedDenseParams& params, const DenseSizes& s, const Types& types,
              const memory::desc& weight) {
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_post_ops(onednn::post_ops(params.post_ops));
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          plain_desc({s.rows, s.depth}, types.factors),
          weight,
          params.dense.no_bias ? memory::desc() : plain_desc({s.hidden}, types.bias),
          plain_desc({s.rows, s.hidden}, types.rows),
          attributes};
}

void reorder(const memory::desc& from_desc, const void* from, const memory::desc& to_desc,
             void* to) {
  // oneDNN takes inputs as void* too.
  const memory source(from_desc, onednn::engine(), const_cast<void*>(from));
  const memory wanted(to_desc, onednn::engine(), to);
  onednn::execute(dnnl::reorder(source, wanted),
                  {{DNNL_ARG_FROM, source.get()}, {DNNL_ARG_TO, wanted.get()}});
}

DenseSizes sizes_of(const FusedDenseParams& params, const Signature& signature) {
  return {params.dense, signature.in[0].shape(),
          signature.in[static_cast<std::size_t>(params.weight_input())].shape()};
}

class FusedDense final : public PreparedKernel {
 public:
  FusedDense(const FusedDenseParams& params, const DenseSizes& sizes, const Types& types,
             const Desc& desc, std::vector<LayoutRef> in)
      : PreparedKernel("onednn", std::move(in), {nullptr}),
        params_(params),
        sizes_(sizes),
        types_(types),
        weight_(desc.weights_desc()),
        packs_(types.converts || weight_ != plain_desc({sizes.hidden, sizes.depth}, types.factors)),
        primitive_(onednn::compile_found(desc,
                                         [params, sizes, types, weight = weight_] {
                                           return describe(params, sizes, types, weight);
                                         })),
        keeper_(packed_form(PackedBy::kDense, onednn::words_of(weight_),
                            {types.converts ? 1 : 0, params.dense.no_bias ? 1 : 0})) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FusedDense& dense)
        : dense_(dense), primitive_(dense.primitive_, dense.arguments(), dense.width()) {}

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

  onednn::Width width() const {
    return is_for_one_thread(sizes_) ? onednn::Width::kOne : onednn::Width::kAll;
  }
  std::size_t out_bytes() const {
    return plain_desc({sizes_.rows, sizes_.hidden}, types_.rows).get_size();
  }

  std::vector<onednn::Argument> arguments() const {
    const int weight = params_.weight_input();
    std::vector<onednn::Argument> arguments{
        {DNNL_ARG_SRC, plain_desc({sizes_.rows, sizes_.depth}, types_.factors), 0},
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
    const auto pack_from = [&](memory::data_type type, const void* from) {
      reorder(plain_desc({sizes_.hidden, sizes_.depth}, type), from, weight_,
              packed->weight.data());
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

// In bfloat16 what is kept is the weight alone, rounded: its bytes are what takes the time.
class FewRowsDense final : public PreparedKernel {
 public:
  FewRowsDense(const FusedDenseParams& params, const DenseSizes& sizes, const LayerPost& post,
               bool narrow)
      : PreparedKernel("few_rows",
                       std::vector<LayoutRef>(static_cast<std::size_t>(params.num_inputs())),
                       {nullptr}),
        params_(params),
        sizes_(sizes),
        post_(post),
        narrow_(narrow),
        keeper_(packed_form(PackedBy::kFewRows, {sizes.hidden, sizes.depth}, {})) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FewRowsDense& dense) : dense_(dense) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedDenseParams& params = dense_.params_;
      const int weight = params.weight_input();
      LayerPost post = dense_.post_;
      if (params.sum) post.sum = context.in(1).as<float>();
      if (!params.dense.no_bias) post.bias = context.in(weight + 1).as<float>();
      const auto* rows = context.in(0).as<float>();
      auto* out = context.out(0).as<float>();
      if (!dense_.narrow_)
        return multiply_few_rows(dense_.sizes_, rows, context.in(weight).as<float>(), post, out);
      const std::array<int, 1> inputs{weight};
      const auto packed =
          dense_.keeper_.get(context, origins, inputs, [&] { return dense_.pack(context); });
      multiply_few_rows(dense_.sizes_, rows, static_cast<const bfloat16*>(packed->weight.data()),
                        post, out);
    }

   private:
    const FewRowsDense& dense_;
  };

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const memory::dims weight{sizes_.hidden, sizes_.depth};
    const memory::desc narrow = plain_desc(weight, memory::data_type::bf16);
    auto packed = std::make_shared<PackedWeight>(narrow.get_size(), 0);
    reorder(plain_desc(weight, memory::data_type::f32), context.in(params_.weight_input()).data,
            narrow, packed->weight.data());
    return packed;
  }

  const FusedDenseParams params_;
  const DenseSizes sizes_;
  const LayerPost post_;
  const bool narrow_;
  mutable WeightKeeper keeper_;
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

// What rows and weight are multiplied in: bfloat16 as convolutions of plans for inference are,
// where that takes longer than a step that rounds the rows.
memory::data_type factors_of(const Signature& signature, const DenseSizes& s) {
  constexpr int64_t kPays = int64_t{1} << 22;  // products
  const DType rows = signature.in[0].dtype;
  return s.rows * s.hidden * s.depth < kPays ? onednn::data_type(rows)
                                             : onednn::inference_type(rows);
}

bool reads_narrow(const Signature& signature) {
  return has_narrow_few_rows() &&
         onednn::inference_type(signature.in[0].dtype) == memory::data_type::bf16;
}

// A graph asks for each layer several times, as it grows and when it is laid out, and networks have
// many layers of the same sizes: asking anew is what making a plan would mostly do. Descriptions
// are large.
struct Known {
  static constexpr int64_t kMost = 32;
  Types types;
  Desc desc;
};

// Null where there is nothing fast.
std::unique_ptr<Known> implemented_now(const FusedDenseParams& params, const Signature& signature,
                                       bool plain_weight) {
  const DenseSizes s = sizes_of(params, signature);
  const memory::data_type rows = onednn::data_type(signature.in[0].dtype);
  const auto in = [&](memory::data_type factors) {
    const Types types(params, signature, factors);
    const memory::dims weight{s.hidden, s.depth};
    const memory::desc lies = plain_weight ? plain_desc(weight, factors)
                                           : memory::desc(weight, factors, memory::format_tag::any);
    const auto desc = onednn::implemented([&] { return describe(params, s, types, lies); });
    return desc ? std::make_unique<Known>(types, *desc) : nullptr;
  };
  if (s.rows * s.hidden * s.depth < kFewProducts) return nullptr;
  if (const auto factors = factors_of(signature, s); factors != rows)
    if (auto narrow = in(factors)) return narrow;
  const bool converts = Types(params, signature, rows).converts;
  if (rows == memory::data_type::f32 && !converts && has_long_rows(s)) return nullptr;
  return in(rows);
}

// The same; it stays until the next question.
const Known* implemented(const FusedDenseParams& params, const Signature& signature,
                         bool plain_weight) {
  const DenseSizes s = sizes_of(params, signature);
  const DType rows = signature.in[0].dtype;
  const Types types(params, signature, onednn::data_type(rows));
  onednn::Key key;
  key.add(static_cast<int64_t>(rows)).add(static_cast<int64_t>(onednn::inference_type(rows)));
  key.add(types.converts ? 1 : 0).add(plain_weight ? 1 : 0).add(params.dense.no_bias ? 1 : 0);
  key.add(s.rows).add(s.hidden).add(s.depth);
  onednn::add_to(key, params.post_ops);
  return onednn::thread_cache<Known>().get(
      key, [&] { return implemented_now(params, signature, plain_weight); });
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
  const DenseSizes sizes = sizes_of(dense, signature);
  if (const auto post = few_rows_post(dense, signature))
    return std::make_shared<const FewRowsDense>(dense, sizes, *post, reads_narrow(signature));
  const bool plain = config().onednn.force_fc_ab_format;
  const Known* const known = implemented(dense, signature, plain);
  if (known == nullptr) return nullptr;
  const Types& types = known->types;
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = onednn::layout_of(plain_desc(onednn::dims(signature.in[0].shape()), types.factors),
                            types.rows);
  auto layer = std::make_shared<const FusedDense>(dense, sizes, types, known->desc, std::move(in));
  const bool is_float = types.rows == memory::data_type::f32 && types.factors == types.rows;
  return is_float && !types.converts ? with_strassen(dense, sizes, std::move(layer)) : layer;
}

}  // namespace mxnet

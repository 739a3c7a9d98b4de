// SPDX-License-Identifier: Apache-2.0
// FullyConnected as inner products of oneDNN.
#include "base/config.h"
#include "op/nn/bias.h"
#include "op/nn/fully_connected.h"
#include "op/nn/trilinear_grad.h"
#include "op/onednn/layer.h"
#include "op/onednn/lru_cache.h"
#include "op/onednn/width.h"
#include "op/products/way.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Operand;
using onednn::plain_desc;

// What a primitive of these sizes works on.
struct DenseArrays {
  memory::dims data, weight, out, bias;
  bool plain_weight;

  DenseArrays(const DenseSizes& s, bool plain)
      : data{s.rows, s.depth},
        weight{s.hidden, s.depth},
        out{s.rows, s.hidden},
        bias{s.hidden},
        plain_weight(plain) {}
  memory::desc weight_desc(memory::data_type type) const {
    return plain_weight ? plain_desc(weight, type)
                        : memory::desc(weight, type, memory::format_tag::any);
  }
};

dnnl::inner_product_forward::primitive_desc describe(const DenseArrays& a, bool bias,
                                                     memory::data_type type) {
  return {onednn::engine(),
          dnnl::prop_kind::forward_training,
          plain_desc(a.data, type),
          a.weight_desc(type),
          bias ? plain_desc(a.bias, type) : memory::desc(),
          plain_desc(a.out, type),
          onednn::attributes()};
}

struct Forward : onednn::Layer<dnnl::inner_product_forward> {
  using Layer::Layer;

  static std::unique_ptr<Forward> make(const DenseArrays& a, DType dtype, bool with_bias) {
    const auto desc = onednn::implemented_for(
        dtype, [&](memory::data_type type) { return describe(a, with_bias, type); });
    if (!desc) return nullptr;
    const auto type = onednn::data_type(dtype);
    return std::make_unique<Forward>(
        *desc,
        Plain{plain_desc(a.data, type), plain_desc(a.weight, type),
              with_bias ? plain_desc(a.bias, type) : memory::desc(), plain_desc(a.out, type)});
  }
};

struct DataGradient {
  Operand dout, weight, ddata;
  onednn::Scratchpad scratchpad;
  dnnl::inner_product_backward_data primitive;

  static std::unique_ptr<DataGradient> make(const DenseArrays& a, DType dtype) {
    const auto desc = onednn::implemented_for(dtype, [&](memory::data_type type) {
      return dnnl::inner_product_backward_data::primitive_desc(
          onednn::engine(), plain_desc(a.data, type), a.weight_desc(type), plain_desc(a.out, type),
          describe(a, false, type), onednn::attributes());
    });
    if (!desc) return nullptr;
    const auto type = onednn::data_type(dtype);
    auto call = std::make_unique<DataGradient>();
    call->dout = Operand(plain_desc(a.out, type), desc->diff_dst_desc(), false);
    call->weight = Operand(plain_desc(a.weight, type), desc->weights_desc(), false);
    call->ddata = Operand(plain_desc(a.data, type), desc->diff_src_desc(), true);
    call->scratchpad = onednn::Scratchpad(desc->scratchpad_desc());
    call->primitive = dnnl::inner_product_backward_data(*desc);
    return call;
  }
};

struct WeightGradient {
  Operand dout, data, dweight;
  onednn::Scratchpad scratchpad;
  dnnl::inner_product_backward_weights primitive;

  static std::unique_ptr<WeightGradient> make(const DenseArrays& a, DType dtype) {
    const auto desc = onednn::implemented_for(dtype, [&](memory::data_type type) {
      return dnnl::inner_product_backward_weights::primitive_desc(
          onednn::engine(), plain_desc(a.data, type), a.weight_desc(type), plain_desc(a.out, type),
          describe(a, false, type), onednn::attributes());
    });
    if (!desc) return nullptr;
    const auto type = onednn::data_type(dtype);
    auto call = std::make_unique<WeightGradient>();
    call->dout = Operand(plain_desc(a.out, type), desc->diff_dst_desc(), false);
    call->data = Operand(plain_desc(a.data, type), desc->src_desc(), false);
    call->dweight = Operand(plain_desc(a.weight, type), desc->diff_weights_desc(), true);
    call->scratchpad = onednn::Scratchpad(desc->scratchpad_desc());
    call->primitive = dnnl::inner_product_backward_weights(*desc);
    return call;
  }
};

// Null where oneDNN has none.
template <class Call, class... With>
Call* call_of(const DenseSizes& s, DType dtype, bool plain, With... with) {
  onednn::Key key;
  key.add(static_cast<int64_t>(dtype)).add(s.rows).add(s.hidden).add(s.depth).add(plain);
  (key.add(int64_t{with}), ...);
  return onednn::thread_cache<Call>().get(
      key, [&] { return Call::make(DenseArrays(s, plain), dtype, with...); });
}

// From this many rows on, weights are worth packing in a layout of oneDNN's own. Only forward:
// gradients lose more by the reorders than they win (measured, benchmarks/nn/layers.py).
constexpr int64_t kManyRows = 1024;
// Up to this many rows a product is bound by memory, and oneDNN reads weights faster than BLAS; in
// between BLAS is ahead. (The fewest rows with large weights never come here: few_rows.h.)
constexpr int64_t kRowsBoundByMemory = 12;
// Fewer products than that are done before a second thread has started, and oneDNN starts it
// (docs/onednn.md).
constexpr int64_t kFewProducts = int64_t{1} << 17;

bool is_small(const DenseSizes& s, DType dtype) {
  return dtype == DType::kFloat32 && s.rows * s.hidden * s.depth < kFewProducts;
}

// Whether OpenBLAS multiplies where the weight lies, by loops as long as oneDNN's.
bool is_lean(const DenseSizes& s, DType dtype) {
  return dtype == DType::kFloat32 && is_lean_when_turned(false, s.rows, s.hidden, s.depth);
}

Forward* forward_call(const DenseSizes& s, DType dtype, bool bias) {
  const bool plain = config().onednn.force_fc_ab_format || s.rows < kManyRows;
  return call_of<Forward>(s, dtype, plain, bias);
}

}  // namespace

bool fully_connected_onednn_accepts(const FullyConnectedParams& params,
                                    const Signature& signature) {
  if (!onednn::takes(signature)) return false;
  const DenseSizes s(params, signature.in[0].shape(), signature.in[1].shape());
  const DType dtype = signature.in[0].dtype;
  if (is_small(s, dtype) || is_lean(s, dtype)) return false;
  if (dtype == DType::kFloat32 && s.rows > kRowsBoundByMemory && s.rows < kManyRows) return false;
  const onednn::OneThreadIf narrow(is_for_one_thread(s));
  return forward_call(s, dtype, !params.no_bias) != nullptr;
}

void fully_connected_onednn(const FullyConnectedParams& params, KernelContext& context) {
  const DenseSizes s(params, context.in(0).shape(), context.in(1).shape());
  const onednn::OneThreadIf narrow(is_for_one_thread(s));
  forward_call(s, context.in(0).dtype, !params.no_bias)
      ->run(context, context.in(0).data, context.in(1).data,
            params.no_bias ? nullptr : context.in(2).data, context.out(0).data);
}

bool fully_connected_backward_onednn_accepts(const FullyConnectedParams& params,
                                             const Signature& signature) {
  if (!onednn::takes(signature)) return false;
  const DenseSizes s(params, signature.in[1].shape(), signature.in[2].shape());
  const DType dtype = signature.in[0].dtype;
  if (is_small(s, dtype)) return false;
  const onednn::OneThreadIf narrow(is_for_one_thread(s));
  return (!wants(params.wanted, kWantData) || call_of<DataGradient>(s, dtype, true) != nullptr) &&
         (!wants(params.wanted, kWantWeight) || call_of<WeightGradient>(s, dtype, true) != nullptr);
}

void fully_connected_backward_onednn(const FullyConnectedParams& params, KernelContext& context) {
  const Tensor &dout = context.in(0), &data = context.in(1), &weight = context.in(2);
  const DenseSizes s(params, data.shape(), weight.shape());
  const onednn::OneThreadIf narrow(is_for_one_thread(s));
  int o = 0;
  if (wants(params.wanted, kWantData)) {
    DataGradient& call = *call_of<DataGradient>(s, dout.dtype, true);
    onednn::execute(call.primitive,
                    {{DNNL_ARG_DIFF_DST, call.dout.load(context, dout.data)},
                     {DNNL_ARG_WEIGHTS, call.weight.load(context, weight.data)},
                     {DNNL_ARG_DIFF_SRC, call.ddata.place(context, context.out(o++).data)},
                     {DNNL_ARG_SCRATCHPAD, call.scratchpad.take(context)}});
    call.ddata.store();
  }
  if (wants(params.wanted, kWantWeight)) {
    WeightGradient& call = *call_of<WeightGradient>(s, dout.dtype, true);
    onednn::execute(call.primitive,
                    {{DNNL_ARG_DIFF_DST, call.dout.load(context, dout.data)},
                     {DNNL_ARG_SRC, call.data.load(context, data.data)},
                     {DNNL_ARG_DIFF_WEIGHTS, call.dweight.place(context, context.out(o++).data)},
                     {DNNL_ARG_SCRATCHPAD, call.scratchpad.take(context)}});
    call.dweight.store();
  }
  if (wants(params.wanted, kWantBias)) sum_channels(dout, true, context.out(o), context);
}

}  // namespace mxnet

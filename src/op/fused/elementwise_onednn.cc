// SPDX-License-Identifier: Apache-2.0
// Activations and sums of arrays that lie in a layout of oneDNN: they stay in it.
#include <algorithm>

#include "op/fused/post_ops_onednn.h"
#include "op/onednn/prepared.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using dnnl::memory;

PreparedKernelRef prepare_activation(const OpDef& op, const void* params,
                                     const Signature& signature,
                                     std::span<const LayoutRef> layouts) {
  const std::optional<PostOp> activation = activation_of(op, params);
  if (layouts[0] == nullptr || !activation || !onednn::takes(signature)) return nullptr;
  const memory::desc array = onednn::desc_in(layouts[0], signature.in[0]);
  const auto describe = [array, eltwise = onednn::eltwise_of(*activation)] {
    return dnnl::eltwise_forward::primitive_desc(
        onednn::engine(), dnnl::prop_kind::forward_inference, eltwise.algorithm, array, array,
        eltwise.alpha, eltwise.beta, onednn::attributes());
  };
  const auto found = onednn::implemented(describe);
  if (!found) return nullptr;
  return onednn::prepared_primitive(onednn::compile_found(*found, describe),
                                    {{DNNL_ARG_SRC, array, 0}, {DNNL_ARG_DST, array, 1}},
                                    {layouts[0]}, {layouts[0]});
}

PreparedKernelRef prepare_binary(dnnl::algorithm algorithm, const Signature& signature,
                                 std::span<const LayoutRef> layouts) {
  const Tensor &a = signature.in[0], &b = signature.in[1];
  const auto blocked = std::ranges::find_if(layouts, [](auto& l) { return l != nullptr; });
  if (blocked == layouts.end() || a.shape() != b.shape() || a.dtype != b.dtype ||
      !onednn::takes(signature))
    return nullptr;
  const memory::desc array = onednn::desc_in(*blocked, a);
  const auto describe = [array, algorithm] {
    return dnnl::binary::primitive_desc(onednn::engine(), algorithm, array, array, array,
                                        onednn::attributes());
  };
  const auto found = onednn::implemented(describe);
  if (!found) return nullptr;
  return onednn::prepared_move(
      onednn::compile_found(*found, describe),
      {{DNNL_ARG_SRC_0, array, 0}, {DNNL_ARG_SRC_1, array, 1}, {DNNL_ARG_DST, array, 2}},
      {*blocked, *blocked}, {*blocked});
}

PreparedKernelRef prepare_add(const OpDef&, const void*, const Signature& signature,
                              std::span<const LayoutRef> layouts) {
  return prepare_binary(dnnl::algorithm::binary_add, signature, layouts);
}
PreparedKernelRef prepare_multiply(const OpDef&, const void*, const Signature& signature,
                                   std::span<const LayoutRef> layouts) {
  return prepare_binary(dnnl::algorithm::binary_mul, signature, layouts);
}

[[maybe_unused]] const bool added = [] {
  bool all = true;
  for (const char* op : {"Activation", "LeakyReLU", "relu", "sigmoid", "tanh", "clip"})
    all &= add_prepared_kernel(op, prepare_activation, kAllSamples);
  for (const char* op : {"elemwise_add", "broadcast_add", "_npi_add"})
    all &= add_prepared_kernel(op, prepare_add, kAllSamples);
  for (const char* op : {"elemwise_mul", "broadcast_mul", "_npi_multiply"})
    all &= add_prepared_kernel(op, prepare_multiply, kAllSamples);
  return all;
}();

}  // namespace
}  // namespace mxnet

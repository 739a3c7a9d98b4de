// SPDX-License-Identifier: Apache-2.0
// Reorders, and the operator that stands for them in graphs.
#include "op/fused/reorder.h"
#include "op/onednn/prepared.h"
#include "op/op_builder.h"

namespace mxnet {

PreparedKernelRef prepare_reorder(const Tensor& type, const LayoutRef& from, const LayoutRef& to) {
  dnnl::memory::desc a = onednn::desc_in(from, type), b = onednn::desc_in(to, type);
  // Weights of groups have a dimension more in a layout than in rows, where it makes no difference.
  if (from == nullptr) a = onednn::plain_desc(b.get_dims(), a.get_data_type());
  if (to == nullptr) b = onednn::plain_desc(a.get_dims(), b.get_data_type());
  const auto describe = [a, b] {
    return dnnl::reorder::primitive_desc(onednn::engine(), a, onednn::engine(), b,
                                         onednn::attributes());
  };
  return onednn::prepared_primitive(
      [describe] { return onednn::compiled<dnnl::reorder>(describe()); },
      {{DNNL_ARG_FROM, a, 0}, {DNNL_ARG_TO, b, 1}}, {from}, {to});
}

namespace {

[[maybe_unused]] const bool defined = [] {
  OpBuilder<NoParams> reorder(kReorderOp);
  reorder.doc("The same array in another layout, in plans for inference.")
      .input("data", "The array.")
      .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); });
  return true;
}();

}  // namespace
}  // namespace mxnet

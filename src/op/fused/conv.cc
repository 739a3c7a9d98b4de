// SPDX-License-Identifier: Apache-2.0
// Declaration of the fused convolution. It has prepared kernels only.
#include "op/fused/conv.h"

#include "op/op_builder.h"

namespace mxnet {
namespace {

// Types of everything but the result are given where such a node is made.
void infer(const FusedConvParams& params, Infer& infer) {
  if (infer.num_in() != params.num_inputs() || !infer.in(0).known() ||
      !infer.in(params.weight_input()).known())
    return;
  infer.out(0).set_dtype(infer.in(0).dtype());
  const Shape& data = infer.in(0).shape();
  Shape out = data;
  out[1] = params.conv.num_filter;
  for (int i = 0; i < params.conv.spatial(); ++i) {
    const ConvParams& p = params.conv;
    out[i + 2] = (data[i + 2] + 2 * p.pad_of(i) - p.reach(i)) / p.stride_of(i) + 1;
  }
  infer.out(0).set_shape(out);
}

OpBuilder<FusedConvParams>& declare(OpBuilder<FusedConvParams>& op) {
  return op.doc("A convolution with the operators that follow it, in plans for inference.")
      .input("data", "Images.")
      .input_list("parameters", "What the fused operators read.")
      .num_inputs([](const FusedConvParams& p) { return p.num_inputs(); })
      .dtypes(kFloating)
      .infer(infer);
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<FusedConvParams> conv(FusedConvParams::kWithoutSum), add(FusedConvParams::kWithSum);
  declare(conv);
  declare(add).inplace(1, 0);
  return add_prepared_kernel(FusedConvParams::kWithoutSum, prepare_fused_conv) &&
         add_prepared_kernel(FusedConvParams::kWithSum, prepare_fused_conv);
}();

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Declaration of the layer of bytes as it runs. Plans make it of the nodes that files hold
// (graph/fused_layer.h); it reads the states that those are said to write.
#include "op/fused/quantized_layer.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Types and shapes of everything but the results are given where such a node is made.
void infer(const QuantizedLayer& layer, Infer& infer) {
  if (layer.channels() == 0) infer.fail("given no layer, expected one that a plan has made");
  if (infer.num_in() != layer.num_inputs() || !infer.in(0).known() || !infer.in(1).known()) return;
  Shape out = infer.in(0).shape();
  if (layer.is_convolution) {
    const ConvParams& p = layer.conv;
    out[1] = p.num_filter;
    for (int i = 0; i < p.spatial(); ++i)
      out[i + 2] = (out[i + 2] + 2 * p.pad_of(i) - p.reach(i)) / p.stride_of(i) + 1;
  } else if (layer.dense.flatten) {
    out = {out[0], int64_t{layer.dense.num_hidden}};
  } else {
    out[out.ndim() - 1] = layer.dense.num_hidden;
  }
  infer.out(0).set_shape(out).set_dtype(layer.result_type());
  for (int o = 1; o < infer.num_out(); ++o) infer.out(o).set_dtype(DType::kFloat32).set_shape({1});
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<QuantizedLayer> op(QuantizedLayer::kOp);
  op.doc("A convolution or fully connected layer of bytes with what follows it, in plans.")
      .input("data", "Images or rows.")
      .input_list("parameters", "What the fused operators read, and the ends of ranges.")
      .num_inputs([](const QuantizedLayer& layer) { return layer.num_inputs(); })
      .outputs([](const QuantizedLayer& layer) { return layer.float_result ? 1 : 3; })
      .infer(infer)
      .cpu(run_quantized_layer);
  return add_prepared_kernel(
      QuantizedLayer::kOp,
      [](const OpDef&, const void* params, const Signature& signature, std::span<const LayoutRef>) {
        return prepare_quantized_layer(*static_cast<const QuantizedLayer*>(params), signature);
      });
}();

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of integers: exact int32 sums, and the range that they stand for.
#include <algorithm>

#include "op/op_builder.h"
#include "op/quantize/byte_layers.h"
#include "op/quantize/layers.h"
#include "op/quantize/product_op.h"

namespace mxnet::quantize {
namespace {

void forward_cpu(const FullyConnectedParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &weight = context.in(1);
  const int64_t n = weight.dim(0), k = weight.dim(1), m = k > 0 ? data.size() / k : 0;
  int32_t* out = context.out(0).as<int32_t>();
  const int ends = params.arrays();
  const float data_end = read_range(context, ends, ends + 1).magnitude();
  const float weight_end = read_range(context, ends + 2, ends + 3).magnitude();
  if (k == 0) std::fill_n(out, context.out(0).size(), 0);

  if (k > 0) multiply_bytes({m, n, k}, data, weight.as<int8_t>(), out, context);
  if (!params.no_bias) {
    const float bias_end = read_range(context, ends + 4, ends + 5).magnitude();
    const double scale = steps_of_bias(data_end, data.dtype, weight_end, bias_end);
    const int8_t* bias = context.in(2).as<int8_t>();
    for (int64_t j = 0; j < n; ++j) {
      const auto add = static_cast<uint32_t>(bias_steps(bias[j], scale));
      for (int64_t i = 0; i < context.out(0).size() / n; ++i)
        out[i * n + j] = static_cast<int32_t>(static_cast<uint32_t>(out[i * n + j]) + add);
    }
  }
  write_product_range(context, data_end / limit(data.dtype), weight_end / kInt8);
}

void infer_forward(const FullyConnectedParams& params, Infer& infer) {
  InferArg data = infer.in(0), weight = infer.in(1), out = infer.out(0);
  expect_bytes(data);
  weight.set_dtype(DType::kInt8).set_shape({params.num_hidden, Shape::kUnknownDim});
  if (!params.no_bias) infer.in(2).set_dtype(DType::kInt8).set_shape({params.num_hidden});
  out.set_dtype(DType::kInt32);
  infer_range_inputs(infer, params.arrays(), 3 * params.arrays());
  infer_range_outputs(infer);
  if (!data.rank_known()) return;
  const int n = data.ndim();
  if (n < 1) data.fail("one or more dimensions");
  if (!params.flatten) {
    Shape shape = data.shape();
    shape[n - 1] = params.num_hidden;
    out.set_shape(shape);
    weight.set_dim(1, data.dim(n - 1));
    return;
  }
  out.set_shape({data.dim(0), params.num_hidden});
  if (data.known()) weight.set_dim(1, data.shape().size(1, n));
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<FullyConnectedParams> op("_contrib_quantized_fully_connected");
  op.doc("Rows of `data` times the transpose of `weight`, plus `bias`, of integers.")
      .input("data", "Rows, int8 or uint8.")
      .input("weight", "A row of factors for each number of the output, int8.")
      .input("bias", "What is added to each row of the output, int8.");
  declare_product(op)
      .param("num_hidden", &FullyConnectedParams::num_hidden, "Numbers in a row of the output.")
      .at_least<int32_t>(1)
      .param("no_bias", &FullyConnectedParams::no_bias, false, "Whether there is no bias.")
      .param("flatten", &FullyConnectedParams::flatten, true,
             "Whether all dimensions but the first are one row; otherwise the last alone is.")
      .infer(infer_forward)
      .cpu(forward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet::quantize

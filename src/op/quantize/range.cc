// SPDX-License-Identifier: Apache-2.0
// Rules that all quantized operators share.
#include "op/quantize/range.h"

#include "base/error.h"

namespace mxnet::quantize {

void write_product_range(const KernelContext& context, float data_step, float weight_step) {
  write_range(context, product_range(data_step, weight_step));
}

std::vector<std::string> product_inputs(bool bias) {
  std::vector<std::string> names{"data", "weight"};
  if (bias) names.emplace_back("bias");
  const std::size_t arrays = names.size();
  for (std::size_t i = 0; i < arrays; ++i) {
    names.push_back("min_" + names[i]);
    names.push_back("max_" + names[i]);
  }
  return names;
}

std::optional<Range> calibrated(const std::optional<float>& min, const std::optional<float>& max,
                                const char* op) {
  if (!min && !max) return std::nullopt;
  if (!min || !max || !(*min <= *max)) {
    throw Error(ErrorCode::kValue, op,
                "given min_calib_range " + (min ? std::to_string(*min) : "None") +
                    " and max_calib_range " + (max ? std::to_string(*max) : "None") +
                    ", expected both, in order, or neither");
  }
  return Range{*min, *max};
}

void infer_range_inputs(Infer& infer, int first, int last) {
  for (int i = first; i < last; ++i) infer.in(i).set_shape({1}).set_dtype(DType::kFloat32);
}

void infer_range_outputs(Infer& infer) {
  for (int i = 1; i < 3; ++i) infer.out(i).set_shape({1}).set_dtype(DType::kFloat32);
}

void expect_bytes(InferArg arg) {
  const DType dtype = arg.dtype();
  if (dtype != DType::kUnknown && dtype != DType::kInt8 && dtype != DType::kUInt8)
    arg.fail("int8 or uint8");
}

}  // namespace mxnet::quantize

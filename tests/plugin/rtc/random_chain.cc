// SPDX-License-Identifier: Apache-2.0
// Chains are grown step by step: an operator that does not take the types at hand is left out.
#include "random_chain.h"

#include "base/error.h"
#include "op/op_def.h"
#include "op/pointwise.h"
#include "plugin/cuda/rtc/chain_ops.h"

namespace mxnet::testing {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                             DType::kFloat64, DType::kInt32,   DType::kInt64,
                             DType::kUInt8,   DType::kInt8,    DType::kBool};

std::string dtype_text(DType dtype) { return std::string(dtype_name(dtype)); }

// Attributes that the operator cannot do without; those of numbers vary with `pick`.
ParamsPtr params_of(const OpDef& op, uint32_t pick) {
  static const char* const kScalars[] = {"2", "0.5", "-3", "1.25", "7"};
  static const char* const kActs[] = {"relu", "sigmoid", "tanh", "softrelu", "softsign"};
  std::vector<std::pair<std::string, std::string>> attrs;
  for (const auto& field : op.schema().fields()) {
    const std::string& name = field.name;
    if (name == "scalar") attrs.emplace_back(name, kScalars[pick % 5]);
    if (name == "is_int") attrs.emplace_back(name, pick % 5 == 1 || pick % 5 == 3 ? "0" : "1");
    if (name == "act_type") attrs.emplace_back(name, kActs[pick % 5]);
    if (name == "a_min") attrs.emplace_back(name, "-1.5");
    if (name == "a_max") attrs.emplace_back(name, "2.25");
    if (name == "left") attrs.emplace_back(name, pick % 2 == 0 ? "True" : "False");
    if (name == "x") attrs.emplace_back(name, "1.5");
    if (name == "y") attrs.emplace_back(name, "-2");
    if (name == "num_args") attrs.emplace_back(name, "3");
    if (name == "dtype")
      attrs.emplace_back(name, dtype_text(kDTypes[pick % (op.name() == "amp_cast" ? 8 : 9)]));
  }
  std::vector<std::pair<std::string_view, std::string_view>> views(attrs.begin(), attrs.end());
  return op.parse(views);
}

// The type of a result of `shape`; nothing where the operator refuses, or makes another one.
std::optional<DType> result_type(const OpDef& op, const void* params, std::vector<ArrayType> inputs,
                                 const Shape& shape) {
  const std::vector<ArrayType> given = inputs;
  std::vector<ArrayType> outputs(1);
  try {
    Infer infer(op, params, inputs, outputs);
    op.infer(params, infer);
  } catch (const Error&) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (inputs[i].dtype != given[i].dtype || !op.dtypes().contains(given[i].dtype))
      return std::nullopt;
  if (outputs[0].dtype == DType::kUnknown || outputs[0].shape != shape) return std::nullopt;
  return outputs[0].dtype;
}

}  // namespace

const std::vector<const OpDef*>& chain_operators() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> found;
    for (const std::string& name : cuda::known_operators()) {
      const OpDef* op = Registry::get().find(name);
      if (op != nullptr && op->name() == name && pointwise_kernel(*op) != nullptr)
        found.push_back(op);
    }
    return found;
  }();
  return ops;
}

std::optional<TestChain> single_chain(const OpDef& op, DType dtype, int64_t size) {
  TestChain test;
  PointwiseStep step;
  step.op = &op;
  step.params = params_of(op, 0);
  const int count = op.num_inputs(step.params.get());
  const std::vector<ArrayType> types(static_cast<std::size_t>(count), {Shape{size}, dtype});
  const auto result = result_type(op, step.params.get(), types, Shape{size});
  if (!result) return std::nullopt;
  step.dtype = *result;
  for (int i = 0; i < count; ++i) {
    step.in.push_back(i);
    test.inputs.push_back({dtype, false});
    test.chain.inputs.push_back({dtype, false});
  }
  test.chain.steps = {std::move(step)};
  test.chain.outputs = {0};
  test.chain.shape = Shape{size};
  test.chain.finish();
  return test;
}

TestChain random_chain(std::mt19937& rng, int64_t size) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  TestChain test;
  PointwiseChain& chain = test.chain;
  chain.shape = Shape{size};
  // Mostly one type, as in models; sometimes another among the inputs.
  const DType main_type = kDTypes[below(9)];
  const std::size_t num_inputs = 1 + below(4), wanted = 2 + below(7);
  for (std::size_t i = 0; i < num_inputs; ++i)
    test.inputs.push_back({below(4) == 0 ? kDTypes[below(9)] : main_type, i > 0 && below(4) == 0});
  const auto type_of = [&](int source) -> ArrayType {
    if (source < 0) return {chain.shape, chain.steps[static_cast<std::size_t>(-1 - source)].dtype};
    const cuda::ChainInput& input = test.inputs[static_cast<std::size_t>(source)];
    return {input.single ? Shape{1} : chain.shape, input.dtype};
  };
  for (int tries = 0; chain.steps.size() < wanted && tries < 4000; ++tries) {
    const OpDef& op = *chain_operators()[below(chain_operators().size())];
    PointwiseStep step;
    step.op = &op;
    step.params = params_of(op, static_cast<uint32_t>(below(1000)));
    const int count = op.num_inputs(step.params.get());
    std::vector<ArrayType> types;
    for (int i = 0; i < count; ++i) {
      const std::size_t sources = num_inputs + chain.steps.size();
      const int source = static_cast<int>(below(sources)) - static_cast<int>(chain.steps.size());
      step.in.push_back(source);
      types.push_back(type_of(source));
    }
    const auto result = result_type(op, step.params.get(), types, chain.shape);
    if (!result) continue;
    step.dtype = *result;
    chain.steps.push_back(std::move(step));
  }
  const int last = static_cast<int>(chain.steps.size()) - 1;
  chain.outputs = {last};
  for (int k = 0; k < last; ++k)
    if (below(4) == 0) chain.outputs.push_back(k);
  for (const cuda::ChainInput& input : test.inputs)
    chain.inputs.push_back({input.dtype, input.single});
  chain.finish();
  return test;
}

}  // namespace mxnet::testing

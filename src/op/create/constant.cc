// SPDX-License-Identifier: Apache-2.0
// The operator of constants. Plans lend the value itself to whoever reads it, so that its kernel
// runs only where somebody goes through a compiled graph node by node.
#include "op/create/constant.h"

#include <cstring>

#include "op/op_builder.h"

namespace mxnet {
namespace {

void copy_value(const ConstantParams& params, KernelContext& context) {
  const NDArray& value = params.value;
  std::memcpy(context.out(0).data, value.data(),
              static_cast<std::size_t>(value.size()) * dtype_size(value.dtype()));
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<ConstantParams> op(ConstantParams::kName);
  op.doc("A value that was computed when the graph was compiled.")
      .infer([](const ConstantParams& params, Infer& infer) {
        if (params.value.is_none())
          infer.fail("given no value, expected a plan that has computed one");
        infer.out(0).set_shape(params.value.shape());
        infer.out(0).set_dtype(params.value.dtype());
      })
      .cpu(copy_value);
  return true;
}();

const OpDef& constant_op() {
  static const OpDef& op = Registry::get().at(ConstantParams::kName);
  return op;
}

}  // namespace

Ref<ir::Node> make_constant(std::string name, NDArray value) {
  auto node = make_ref<ir::Node>();
  node->op = &constant_op();
  node->name = std::move(name);
  node->params = std::make_shared<const ConstantParams>(ConstantParams{std::move(value)});
  return node;
}

bool is_constant(const ir::Node& node) { return node.op == &constant_op(); }

const NDArray& constant_value(const ir::Node& node) {
  return static_cast<const ConstantParams*>(node.params.get())->value;
}

}  // namespace mxnet

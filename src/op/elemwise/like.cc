// SPDX-License-Identifier: Apache-2.0
// Constants in the shape and type of another array, whose values are never looked at. Autograd
// makes its default head gradients and its missing gradients of these.
#include "op/op_builder.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

void infer_like(const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); }

template <int kValue>
void constant_cpu(const NoParams&, KernelContext& context) {
  fill_tensor(context, context.out(0), kValue);
}

OpBuilder<NoParams> define(const char* name, const char* doc,
                           void (*kernel)(const NoParams&, KernelContext&)) {
  OpBuilder<NoParams> op(name);
  op.doc(doc).input("data", "Its shape and type are those of the result.").lenient();
  op.type_only(0).infer(infer_like).cpu(kernel).zero_grad();
  return op;
}

[[maybe_unused]] const auto zeros =
    define("zeros_like", "Zeros in the shape of an array.", constant_cpu<0>)
        .alias("_sparse_zeros_like");
[[maybe_unused]] const auto ones =
    define("ones_like", "Ones in the shape of an array.", constant_cpu<1>);
[[maybe_unused]] const bool portable = mark_portable({"zeros_like", "ones_like"});

}  // namespace
}  // namespace mxnet

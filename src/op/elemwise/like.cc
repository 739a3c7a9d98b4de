// SPDX-License-Identifier: Apache-2.0
// Constants in the shape and type of another array, whose values are never looked at. Autograd
// makes its default head gradients and its missing gradients of these.
#include <cstring>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/op_builder.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

void infer_like(const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); }

void zeros_cpu(const NoParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  const auto item = static_cast<int64_t>(dtype_size(out.dtype));
  parallel_for(out.size() * item, 0.125, [&](int64_t first, int64_t last) {
    std::memset(out.as<char>() + first, 0, static_cast<std::size_t>(last - first));
  });
}

void ones_cpu(const NoParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  dispatch_dtype(out.dtype, "ones_like", [&]<class T>(TypeTag<T>) {
    parallel_for(out.size(), 0.5, [&](int64_t first, int64_t last) {
      std::fill(out.as<T>() + first, out.as<T>() + last, convert<T>(1.0f));
    });
  });
}

OpBuilder<NoParams> define(const char* name, const char* doc,
                           void (*kernel)(const NoParams&, KernelContext&)) {
  OpBuilder<NoParams> op(name);
  op.doc(doc).input("data", "Its shape and type are those of the result.").lenient();
  op.type_only(0).infer(infer_like).cpu(kernel).zero_grad();
  return op;
}

[[maybe_unused]] const auto zeros =
    define("zeros_like", "Zeros in the shape of an array.", zeros_cpu).alias("_sparse_zeros_like");
[[maybe_unused]] const auto ones = define("ones_like", "Ones in the shape of an array.", ones_cpu);

}  // namespace
}  // namespace mxnet

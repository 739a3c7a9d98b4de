// SPDX-License-Identifier: Apache-2.0
// The reverse of broadcasting: sums an array to the shape of another, for gradients.
#include <algorithm>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/broadcast_plan.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Sums in double: the result is the same for any order of magnitude of the spread dimension.
void sum_to_like_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  dispatch_dtype<kNumeric>(in.dtype, "_sum_to_like", [&]<class T>(TypeTag<T>) {
    if (in.shape() == out.shape()) {
      if (in.data != out.data) std::copy_n(in.as<T>(), in.size(), out.as<T>());
      return;
    }
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    const int64_t n = out.size();
    Sum* sums = context.workspace_of<Sum>(std::max<int64_t>(n, 1));
    std::fill_n(sums, n, Sum{0});
    if (in.size() > 0) {
      // Walks the input; the output is the argument that broadcasts.
      const BroadcastPlan plan(in.shape(), out.shape(), in.shape());
      const int64_t length = plan.row_length();
      for (int64_t row = 0; row < plan.rows(); ++row) {
        int64_t at_in, at_out;
        plan.offsets(row, &at_in, &at_out);
        const T* x = in.as<T>() + at_in;
        if (plan.inner() == BroadcastPlan::Inner::kRightScalar) {
          Sum sum{0};
          for (int64_t i = 0; i < length; ++i) sum += convert<Sum>(x[i]);
          sums[at_out] += sum;
        } else {
          for (int64_t i = 0; i < length; ++i) sums[at_out + i] += convert<Sum>(x[i]);
        }
      }
    }
    for (int64_t i = 0; i < n; ++i) out.as<T>()[i] = convert<T>(sums[i]);
  });
}

void infer_like(const NoParams&, Infer& infer) {
  infer.out(0).same_shape(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
}

MX_OP(_sum_to_like, NoParams)
.doc("Sums `data` over the dimensions along which `like` would be broadcast to it.")
    .input("data", "The array.")
    .input("like", "Its shape is that of the result.")
    .type_only(1)
    .dtypes(kNumeric)
    .inplace(0, 0)
    .infer(infer_like)
    .cpu(sum_to_like_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("broadcast_like", {grad.dout(0), grad.in(0)}), Value()};
    });

}  // namespace
}  // namespace mxnet

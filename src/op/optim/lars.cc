// SPDX-License-Identifier: Apache-2.0
// multi_lars: learning rates of many layers out of the norms of their weights and gradients.
#include "op/optim/lars.h"

#include "op/op_builder.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

void lars_cpu(const LarsParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  dispatch_dtype<kFloating>(out.dtype, "multi_lars", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* lr = context.in(0).as<T>();
    const T* weight_sum = context.in(1).as<T>();
    const T* grad_sum = context.in(2).as<T>();
    const T* wd = context.in(3).as<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      out.as<T>()[i] =
          static_cast<T>(lars_rate(params, C(lr[i]), C(weight_sum[i]), C(grad_sum[i]), C(wd[i])));
    }
  });
}

MX_OP(multi_lars, LarsParams)
.doc("Learning rates of layers, scaled by norm of weight over norm of gradient.")
    .input("lrs", "Rates before scaling.")
    .input("weights_sum_sq", "Sum of squares of each layer's weight.")
    .input("grads_sum_sq", "Sum of squares of each layer's gradient.")
    .input("wds", "Weight decays.")
    .param("eta", &LarsParams::eta, "Trust coefficient.")
    .param("eps", &LarsParams::eps, "Keeps denominators from zero.")
    .param("rescale_grad", &LarsParams::rescale_grad, 1.0f, "Factor of the gradients.")
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer([](const LarsParams&, Infer& infer) {
      for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
      infer.in(0).same_shape(infer.out(0));
      infer.one_dtype();
    })
    .cpu(lars_cpu);

}  // namespace
}  // namespace mxnet

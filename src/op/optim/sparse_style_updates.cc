// SPDX-License-Identifier: Apache-2.0
// AdaGrad forms made for row_sparse gradients. A row without gradient is a row of zeros, which
// changes neither history nor weight, so that the dense computation serves both.
#include "op/optim/group_adagrad.h"
#include "op/optim/update_op.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using Op = UpdateOp<UpdateScalars>;

void adagrad_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const UpdateJob job{scalars, context.in(0), context.in(1), {context.in(2)}, context.out(0), {}};
  run_updates(UpdateRule::kAdaGrad, {&job, 1}, context);
}

// One history element a row, which the mean of squares over the row goes to.
void group_adagrad_cpu(const UpdateScalars& p, KernelContext& context) {
  const Tensor& weight = context.in(0);
  const int64_t rows = context.in(2).size();
  if (rows == 0) return;
  const int64_t width = weight.size() / rows;
  dispatch_dtype<kFloating>(
      weight.dtype, "_contrib_group_adagrad_update", [&]<class T>(TypeTag<T>) {
        using C = ComputeType<T>;
        const GroupAdaGrad<C> rule(p);
        parallel_for(
            rows, static_cast<double>(width) * 4,
            [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row) {
                const T* w = weight.as<T>() + row * width;
                const T* g = context.in(1).as<T>() + row * width;
                T* y = context.out(0).as<T>() + row * width;
                C sum = 0;
                for (int64_t i = 0; i < width; ++i)
                  sum += rule.scaled(C(g[i])) * rule.scaled(C(g[i]));
                T& history = context.in(2).as<T>()[row];
                history = static_cast<T>(C(history) + sum / static_cast<C>(width));
                const C rate = rule.rate(C(history));
                for (int64_t i = 0; i < width; ++i)
                  y[i] = static_cast<T>(C(w[i]) - rate * rule.scaled(C(g[i])));
              }
            },
            1);
      });
}

[[maybe_unused]] const bool defined = [] {
  const auto inputs = [](Op& builder, const char* doc) {
    builder.op.doc(doc)
        .input("weight", "Weight.")
        .input("grad", "Gradient.")
        .input("history", "Sums of squares, updated in place.")
        .mutates({2})
        .inplace(0, 0);
  };
  Op adagrad("_sparse_adagrad_update");
  inputs(adagrad, "AdaGrad.");
  adagrad.lr().epsilon(1e-7f).usual();
  adagrad.op
      .infer([](const UpdateScalars&, Infer& infer) {
        for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
        infer.in(0).same_shape(infer.out(0));
        infer.one_dtype();
      })
      .cpu(adagrad_cpu);
  mark_portable("_sparse_adagrad_update");

  Op group("_contrib_group_adagrad_update");
  inputs(group, "AdaGrad with one history element a row.");
  group.lr().rescale().clip().epsilon(1e-5f);
  group.op
      .infer([](const UpdateScalars&, Infer& infer) {
        infer.in(0).same_shape(infer.in(1)).same_shape(infer.out(0));
        infer.one_dtype();
        const Shape& weight = infer.in(0).shape();
        if (!weight.rank_known()) return;
        if (weight.ndim() == 0) infer.in(0).fail("rows");
        Shape history(weight.ndim(), 1);
        history[0] = weight[0];
        infer.in(2).set_shape(history);
      })
      .cpu(group_adagrad_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// What training steps ask about whole arrays: whether all elements are finite, and the rates of
// LARS; and AdaGrad by rows, whose sums no rule of optim.cu has.
#include "op/optim/group_adagrad.h"
#include "op/optim/lars.h"
#include "op/reduce/finite.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// Whoever meets NaN or infinity writes the same zero: it does not matter who comes first.
template <class T>
struct ClearUnlessFinite {
  const T* x;
  float* flag;
  MX_DEVICE void operator()(int64_t i) const {
    const auto value = widen(x[i]);
    if (value - value != decltype(value)(0)) *flag = 0.0f;
  }
};

void check_finite(KernelContext& context, bool init_output) {
  NativeStream* stream = context.stream()->native();
  const Tensor& flag = context.out(0);
  if (init_output) fill(stream, flag, 1);
  for (int i = 0; i < context.num_in(); ++i) {
    const Tensor& x = context.in(i);
    for_dtype<kFloating.bits_>(x.dtype, "all_finite", [&](auto type) {
      using T = decltype(type);
      for_each(stream, "all_finite", x.size(), ClearUnlessFinite<T>{x.as<T>(), flag.as<float>()});
    });
  }
}

void all_finite(const FiniteParams& params, KernelContext& context) {
  check_finite(context, params.init_output);
}
void multi_all_finite(const MultiFiniteParams& params, KernelContext& context) {
  check_finite(context, params.init_output);
}

template <class T>
struct LarsRate {
  LarsParams params;
  const T *lr, *weight_sum, *grad_sum, *wd;
  T* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = narrow<T>(
        lars_rate(params, widen(lr[i]), widen(weight_sum[i]), widen(grad_sum[i]), widen(wd[i])));
  }
};

void multi_lars(const LarsParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  for_dtype<kFloating.bits_>(out.dtype, "multi_lars", [&](auto type) {
    using T = decltype(type);
    for_each(context.stream()->native(), "multi_lars", out.size(),
             LarsRate<T>{params, context.in(0).as<T>(), context.in(1).as<T>(),
                         context.in(2).as<T>(), context.in(3).as<T>(), out.as<T>()});
  });
}

// A row's history, and the rate that follows from it.
template <class T>
struct RowHistory {
  GroupAdaGrad<Compute<T>> rule;
  const T* gradient;
  T* history;
  Compute<T>* rates;
  int64_t width;
  MX_DEVICE Compute<T> part(int64_t row, int lane, int lanes) const {
    Compute<T> sum(0);
    for (int64_t i = lane; i < width; i += lanes) {
      const Compute<T> g = rule.scaled(widen(gradient[row * width + i]));
      sum += g * g;
    }
    return sum;
  }
  MX_DEVICE Compute<T> merge(Compute<T> a, Compute<T> b) const { return a + b; }
  MX_DEVICE void finish(int64_t row, Compute<T> sum) const {
    history[row] = narrow<T>(widen(history[row]) + sum / static_cast<Compute<T>>(width));
    rates[row] = rule.rate(widen(history[row]));
  }
};
template <class T>
struct RowStep {
  GroupAdaGrad<Compute<T>> rule;
  const T *weight, *gradient;
  const Compute<T>* rates;
  T* out;
  int64_t width;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = narrow<T>(widen(weight[i]) - rates[i / width] * rule.scaled(widen(gradient[i])));
  }
};
void group_adagrad(const UpdateScalars& scalars, KernelContext& context) {
  const Tensor &weight = context.in(0), &history = context.in(2);
  if (weight.size() == 0) return;
  NativeStream* const stream = context.stream()->native();
  for_dtype<kFloating.bits_>(weight.dtype, "_contrib_group_adagrad_update", [&](auto type) {
    using T = decltype(type);
    const GroupAdaGrad<Compute<T>> rule(scalars);
    const int64_t rows = history.size(), width = weight.size() / rows;
    auto* const rates = context.workspace_of<Compute<T>>(rows);
    const T* gradient = context.in(1).as<T>();
    for_each_group(stream, "_contrib_group_adagrad_update", rows, false,
                   RowHistory<T>{rule, gradient, history.as<T>(), rates, width});
    for_each(stream, "_contrib_group_adagrad_update", weight.size(),
             RowStep<T>{rule, weight.as<T>(), gradient, rates, context.out(0).as<T>(), width});
  });
}

}  // namespace

void add_training(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<FiniteParams, all_finite>("all_finite"));
  rows->push_back(kernel_row<MultiFiniteParams, multi_all_finite>("multi_all_finite"));
  rows->push_back(kernel_row<LarsParams, multi_lars>("multi_lars"));
  rows->push_back(kernel_row<UpdateScalars, group_adagrad>("_contrib_group_adagrad_update"));
}

}  // namespace cuda
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Activation: relu, sigmoid, softrelu, softsign, tanh.
#include "op/norm/activation.h"

#include "op/loops/blockwise.h"
#include "op/norm/activation_params.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kCost = 8.0;  // elementary operations an element

Value call(const char* op, const Value& a) { return apply(op, {a}); }
// 1 where a > 0, else 0.
Value positive(const Value& a) { return apply("_greater_scalar", {a}, {{"scalar", "0"}}); }
// 1 above zero, factor * exp(x) below.
Value bent_exponential(const Value& x, double factor) {
  const Value below = call("exp", apply("_minimum_scalar", {x}, {{"scalar", "0"}}));
  return positive(x) + (1.0 - positive(x)) * below * factor;
}

}  // namespace

void activation_forward(ActivationRow row, double slope, const Tensor& in, const Tensor& out,
                        KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->activation(context.stream()->native(), static_cast<int>(row), slope, in, out);
  }
  dispatch_dtype<kFloating>(in.dtype, "activation", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const auto loop = activation_loop<C>(row).value;
    const C s = static_cast<C>(slope);
    parallel_for(in.size(), kCost, [&](int64_t first, int64_t last) {
      const T* x = in.as<T>() + first;
      T* y = out.as<T>() + first;
      if constexpr (std::is_same_v<T, C>) {
        loop(x, y, last - first, s);
      } else {
        through_float([&](const C* a, C* b, int64_t n) { loop(a, b, n, s); }, y, last - first, x);
      }
    });
  });
}

void activation_backward(ActivationRow row, double slope, const Tensor& dy, const Tensor& arg,
                         const Tensor& dx, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->activation_slope(context.stream()->native(), static_cast<int>(row), slope, dy, arg,
                                 dx);
  }
  dispatch_dtype<kFloating>(dy.dtype, "activation", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const auto loop = activation_loop<C>(row).slope;
    const C s = static_cast<C>(slope);
    parallel_for(dy.size(), kCost, [&](int64_t first, int64_t last) {
      const T* g = dy.as<T>() + first;
      const T* a = arg.as<T>() + first;
      T* to = dx.as<T>() + first;
      if constexpr (std::is_same_v<T, C>) {
        loop(g, a, to, last - first, s);
      } else {
        through_float([&](const C* p, const C* q, C* r, int64_t n) { loop(p, q, r, n, s); }, to,
                      last - first, g, a);
      }
    });
  });
}

Value activation_gradient(ActivationRow row, double slope, const Value& dy, const Value& arg) {
  const Value &x = arg, &y = arg;
  switch (row) {
    case ActivationRow::relu:
      return dy * positive(y);
    case ActivationRow::sigmoid:
      return dy * (y * (1.0 - y));
    case ActivationRow::tanh:
      return dy * (1.0 - y * y);
    case ActivationRow::softrelu:
      return dy * -call("expm1", -y);
    case ActivationRow::softsign:
      return dy / call("square", call("abs", x) + 1.0);
    case ActivationRow::leaky:
      return dy * (positive(x) * (1.0 - slope) + slope);
    case ActivationRow::elu:
      return dy * bent_exponential(x, slope);
    case ActivationRow::selu:
      return dy * bent_exponential(x, kSeluAlpha) * kSeluScale;
    case ActivationRow::gelu: {
      const Value below = (call("erf", x * kRootHalf) + 1.0) * 0.5;
      const Value density = call("exp", x * x * -0.5) * kNormal;
      return dy * (below + x * density);
    }
  }
  return Value();
}

void infer_alike(Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  for (int o = 0; o < infer.num_out(); ++o) infer.in(0).same_shape(infer.out(o));
  infer.one_dtype();
}

namespace {

const auto& kTypes = *new Choices<ActivationRow>{{"relu", ActivationRow::relu},
                                                 {"sigmoid", ActivationRow::sigmoid},
                                                 {"softrelu", ActivationRow::softrelu},
                                                 {"softsign", ActivationRow::softsign},
                                                 {"tanh", ActivationRow::tanh}};
constexpr const char* kTypeDoc =
    "relu: max(x, 0); sigmoid: 1 / (1 + exp(-x)); softrelu: log(1 + exp(x)); softsign: "
    "x / (1 + |x|); tanh.";

MX_OP(Activation, ActivationParams)
.alias("_npx_activation")
    .doc("An activation function, element by element.")
    .input("data", "The array.")
    .choice("act_type", &ActivationParams::act_type, kTypes, nullptr, kTypeDoc)
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer([](const ActivationParams&, Infer& infer) { infer_alike(infer); })
    .cpu([](const ActivationParams& params, KernelContext& context) {
      activation_forward(params.act_type, 0, context.in(0), context.out(0), context);
    })
    .grad([](const ActivationParams& params, Grad& grad) {
      const bool uses_y = activation_uses(params.act_type) == ActivationUses::kY;
      const Value arg = uses_y ? grad.out(0) : grad.in(0);
      if (grad.differentiable())
        return Gradients{activation_gradient(params.act_type, 0, grad.dout(0), arg)};
      return Gradients{apply("_backward_Activation", {grad.dout(0), arg}, grad.attrs())};
    });

MX_OP(_backward_Activation, ActivationParams)
.doc("Gradient of Activation.")
    .input("head_grad", "Gradient of the result.")
    .input("data", "Result of the forward call; its argument for softsign.")
    .choice("act_type", &ActivationParams::act_type, kTypes, nullptr, kTypeDoc)
    .dtypes(kFloating)
    .inplace(0, 0)
    .inplace(1, 0)
    .infer([](const ActivationParams&, Infer& infer) { infer_alike(infer); })
    .cpu([](const ActivationParams& params, KernelContext& context) {
      activation_backward(params.act_type, 0, context.in(0), context.in(1), context.out(0),
                          context);
    });

[[maybe_unused]] const bool pointwise =
    (mark_pointwise("Activation"), mark_pointwise("_backward_Activation"), true);
[[maybe_unused]] const bool portable = mark_portable({"Activation", "_backward_Activation"});

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Each rule is a fused kernel, or, for a result that is differentiated again, nodes that spread
// what belongs to an output and compute elementwise.
#include "op/reduce/gradients.h"

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/reducing/evaluate.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_backward_prod";

double number_at(const Tensor& tensor, int64_t at) {
  double number = 0;
  dispatch_dtype(tensor.dtype, kTag,
                 [&]<class T>(TypeTag<T>) { number = convert<double>(tensor.as<T>()[at]); });
  return number;
}
void put_number(const Tensor& tensor, int64_t at, double number) {
  dispatch_dtype(tensor.dtype, kTag,
                 [&]<class T>(TypeTag<T>) { tensor.as<T>()[at] = convert<T>(number); });
}

// dx = dy * (product of the other elements), also where elements are zero.
void prod_cpu(const SpreadParams& params, KernelContext& context) {
  const Tensor &x = context.in(2), &dx = context.out(0);
  const Tensor dy = as_type(context.in(0), x.dtype, context);
  const Tensor y = as_type(context.in(1), x.dtype, context);
  const AxisSet axes = params.axes(x.ndim(), kTag);
  spread(Spread::ratio, dy, &y, &x, axes, dx, context);
  const ReducePlan plan(x.shape(), axes);
  const int64_t run = plan.run(), rows = plan.reduced().positions();
  for (int64_t o = 0; o < plan.outputs(); ++o) {
    if (number_at(y, o) != 0.0) continue;
    // Zeros are rare: walk this output's elements by hand.
    const int64_t base =
        plan.inner_reduced() ? plan.kept().offset(o) : plan.kept().offset(o / run) + o % run;
    const auto each = [&](const auto& fn) {
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = base + plan.reduced().offset(r);
        for (int64_t i = 0; i < (plan.inner_reduced() ? run : 1); ++i) fn(at + i);
      }
    };
    double others = 1.0;
    int64_t zeros = 0;
    each([&](int64_t at) {
      const double value = number_at(x, at);
      value == 0.0 ? void(++zeros) : void(others *= value);
    });
    const double g = number_at(dy, o);
    each([&](int64_t at) {
      const double value = number_at(x, at);
      const double rest = zeros == 0 ? others / value : zeros == 1 && value == 0.0 ? others : 0.0;
      put_number(dx, at, g * rest);
    });
  }
}

MX_OP(_backward_prod, SpreadParams)
.doc("Gradient of a product.")
    .input("head_grad", "Gradient of the output.")
    .input("output", "Output of the forward call.")
    .input("data", "Input of the forward call.")
    .param("axis", &SpreadParams::axis, std::optional<Shape>(), "Axes that were reduced.")
    .param("exclude", &SpreadParams::exclude, false, "Whether `axis` names the kept axes.")
    .param("numpy", &SpreadParams::numpy, false, "Whether an empty tuple means no axis.")
    .infer([](const SpreadParams& params, Infer& infer) {
      infer.out(0).same_as(infer.in(2));
      for (int i = 0; i < 2; ++i) check_reduced(params.choice(), infer.in(i), infer.in(2));
    })
    .cpu(prod_cpu);

// 1 where `data` is a number, else 0.
Value is_number(const Value& data) { return apply("broadcast_equal", {data, data}); }

Gradients one(Value value) { return {std::move(value)}; }

}  // namespace

Value over_root(const Value& dy, const Value& y) {
  return dy / (y + apply("_equal_scalar", {y}, {{"scalar", "0"}}));
}

Gradients sum_gradient(const AxisChoice& choice, Grad& grad) {
  return one(spread_value(choice, grad.dout(0), grad.in(0)));
}

Gradients mean_gradient(const AxisChoice& choice, Grad& grad) {
  return one(spread_mean(choice, grad.dout(0), grad.in(0)));
}

Gradients prod_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable()) return one(spread_value(choice, grad.dout(0) * grad.out(0), x) / x);
  return one(spread_fused("_backward_prod", choice, grad.dout(0), grad.out(0), x));
}

Gradients extremum_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable()) {
    const Value hit = apply("broadcast_equal", {x, spread_value(choice, grad.out(0), x)});
    return one(spread_value(choice, grad.dout(0), x) * hit);
  }
  return one(spread_fused("_backward_max", choice, grad.dout(0), grad.out(0), x));
}

Gradients nansum_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable()) return one(spread_value(choice, grad.dout(0), x) * is_number(x));
  return one(spread_fused("_backward_nansum", choice, grad.dout(0), grad.out(0), x));
}

Gradients nanprod_gradient(const AxisChoice& choice, Grad& grad) {
  return one(spread_fused("_backward_nanprod", choice, grad.dout(0), grad.out(0), grad.in(0)));
}

Gradients abs_norm_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable()) return one(spread_value(choice, grad.dout(0), x) * apply("sign", {x}));
  return one(spread_fused("_backward_norm_abs", choice, grad.dout(0), grad.out(0), x));
}

Gradients root_norm_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable())
    return one(spread_value(choice, over_root(grad.dout(0), grad.out(0)), x) * x);
  return one(spread_fused("_backward_norm", choice, grad.dout(0), grad.out(0), x));
}

Gradients square_sum_gradient(const AxisChoice& choice, Grad& grad) {
  const Value x = grad.in(0);
  if (grad.differentiable()) return one(spread_value(choice, grad.dout(0) * 2.0, x) * x);
  return one(spread_fused("_backward_square_sum", choice, grad.dout(0), grad.out(0), x));
}

}  // namespace mxnet

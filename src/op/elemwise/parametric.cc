// SPDX-License-Identifier: Apache-2.0
// Elementwise functions with parameters, which are blocks rather than rows: clip, smooth_l1,
// hard_sigmoid, quadratic, around, nan_to_num, division by the root of the last dimension.
#include <cmath>
#include <limits>

#include "base/simd.h"
#include "op/elemwise/clip_loops.h"
#include "op/elemwise/map.h"
#include "op/elemwise/parametric_functions.h"
#include "op/loops/as_type.h"
#include "op/loops/blockwise.h"
#include "op/loops/round_halves.h"
#include "op/moving/past_caches.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/pointwise.h"
#include "op/rows/row_math.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

template <class P>
void infer_same(const P&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_as(infer.in(i));
  infer.in(0).same_as(infer.out(0));
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_as(infer.in(i));
}

template <class P>
OpBuilder<P> one_input(const char* name, const char* doc, const char* input = "data") {
  OpBuilder<P> op(name);
  op.doc(doc).input(input, "The array.").dtypes(kNumeric).inplace(0, 0).infer(infer_same<P>);
  return op;
}

// The internal operator that computes dx from dy and x; it takes the parameters of the forward
// call.
template <class P>
OpBuilder<P> backward(const char* name) {
  OpBuilder<P> op(name);
  op.doc("Gradient of the operator after whose name it is called.");
  op.input("head_grad", "Gradient of the output.").input("data", "Input of the forward call.");
  op.dtypes(kNumeric).inplace(0, 0).inplace(1, 0).infer(infer_same<P>);
  return op;
}

// A limit as a value of the elements' type: the nearest that it has.
template <class C>
C limit(float value) {
  if constexpr (std::is_integral_v<C>) {
    using Range = std::numeric_limits<C>;
    if (value <= static_cast<float>(Range::min())) return Range::min();
    if (value >= static_cast<float>(Range::max())) return Range::max();
  }
  return convert<C>(value);
}

// loop(x, y, n) along an array; of Number, not T, where it is computed in float.
template <class T, class Number, class Loop>
void along(const Tensor& in, const Tensor& out, const Loop& loop) {
  parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
    const T* x = in.as<T>() + first;
    write_results(out.as<T>() + first, last - first, in.size(),
                  in.size() * static_cast<int64_t>(sizeof(T)), in.data != out.data, true,
                  {ReadAlong{x, sizeof(T)}, ReadAlong{}}, [&](int64_t at, T* y, int64_t n) {
                    if constexpr (std::is_same_v<T, Number>) {
                      loop(x + at, y, n);
                    } else {
                      through<Number>(loop, y, n, x + at);
                    }
                  });
  });
}

// The same of dx from dy and x.
template <class T, class Loop>
void along_pairs(const Tensor& dy, const Tensor& x, const Tensor& dx, const Loop& loop) {
  parallel_for(dy.size(), 1.0, [&](int64_t first, int64_t last) {
    const T *pdy = dy.as<T>() + first, *px = x.as<T>() + first;
    T* pdx = dx.as<T>() + first;
    if constexpr (kIsHalf<T>) {
      through_float(loop, pdx, last - first, pdy, px);
    } else {
      loop(pdy, px, pdx, last - first);
    }
  });
}

// NaN passes through.
void clip_cpu(const ClipParams& p, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->clip(context.stream()->native(), p.a_min, p.a_max, context.in(0), context.out(0));
  const Tensor &in = context.in(0), &out = context.out(0);
  dispatch_dtype<kNumeric>(in.dtype, "clip", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const auto loop = clip_loops<C>().clip;
    const C low = limit<C>(p.a_min), high = limit<C>(p.a_max);
    along<T, C>(in, out, [=](const C* x, C* y, int64_t n) { loop(x, low, high, y, n); });
  });
}

void clip_backward_cpu(const ClipParams& p, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->clip_slope(context.stream()->native(), p.a_min, p.a_max, context.in(0),
                           context.in(1), context.out(0));
  const Tensor &dy = context.in(0), &x = context.in(1), &dx = context.out(0);
  dispatch_dtype<kNumeric>(dy.dtype, "clip", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const auto loop = clip_loops<C>().slope;
    const C low = limit<C>(p.a_min), high = limit<C>(p.a_max);
    along_pairs<T>(dy, x, dx,
                   [=](const C* g, const C* v, C* to, int64_t n) { loop(g, v, low, high, to, n); });
  });
}

[[maybe_unused]] const auto clip =
    one_input<ClipParams>("clip", "Limits values to [a_min, a_max].")
        .alias("_npi_clip")
        .alias("_sparse_clip")
        .param("a_min", &ClipParams::a_min, "Smallest value.")
        .param("a_max", &ClipParams::a_max, "Largest value.")
        .cpu(clip_cpu)
        .grad([](const ClipParams&, Grad& grad) {
          return Gradients{apply("_backward_clip", {grad.dout(0), grad.in(0)}, grad.attrs())};
        });

// Linear in dy, so that it is its own derivative.
[[maybe_unused]] const auto clip_backward =
    backward<ClipParams>("_backward_clip")
        .param("a_min", &ClipParams::a_min, "Smallest value.")
        .param("a_max", &ClipParams::a_max, "Largest value.")
        .cpu(clip_backward_cpu)
        .grad([](const ClipParams&, Grad& grad) {
          return Gradients{apply("_backward_clip", {grad.dout(0), grad.in(1)}, grad.attrs()),
                           Value()};
        });

// scalar^2 in the type of the elements.
template <class C>
C smooth_l1_square(const SmoothL1Params& p) {
  const C scalar = convert<C>(p.scalar);
  return row_math::multiply(scalar, scalar);
}

void smooth_l1_cpu(const SmoothL1Params& p, KernelContext& context) {
  dispatch_dtype<kNumeric>(context.in(0).dtype, "smooth_l1", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    along<T, C>(context.in(0), context.out(0),
                [loop = clip_loops<C>().smooth, square = smooth_l1_square<C>(p)](
                    const C* x, C* y, int64_t n) { loop(x, square, y, n); });
  });
}

void smooth_l1_backward_cpu(const SmoothL1Params& p, KernelContext& context) {
  dispatch_dtype<kNumeric>(context.in(0).dtype, "smooth_l1", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    along_pairs<T>(context.in(0), context.in(1), context.out(0),
                   [loop = clip_loops<C>().smooth_slope, square = smooth_l1_square<C>(p)](
                       const C* dy, const C* x, C* dx, int64_t n) { loop(dy, x, square, dx, n); });
  });
}

[[maybe_unused]] const auto smooth_l1 =
    one_input<SmoothL1Params>(
        "smooth_l1", "0.5 * (scalar * x)^2 where |x| < 1 / scalar^2, else |x| - 0.5 / scalar^2.")
        .alias("_npx_smooth_l1")
        .param("scalar", &SmoothL1Params::scalar, 1.0, "Where the linear part begins.")
        .type_text("float")
        .cpu(smooth_l1_cpu)
        .grad([](const SmoothL1Params&, Grad& grad) {
          return Gradients{apply("_backward_smooth_l1", {grad.dout(0), grad.in(0)}, grad.attrs())};
        });
[[maybe_unused]] const auto smooth_l1_backward =
    backward<SmoothL1Params>("_backward_smooth_l1")
        .param("scalar", &SmoothL1Params::scalar, 1.0, "Where the linear part begins.")
        .cpu(smooth_l1_backward_cpu)
        .grad([](const SmoothL1Params& p, Grad& grad) {
          const double square = p.scalar * p.scalar;
          const Value inside = apply("_lesser_equal_scalar", {apply("abs", {grad.in(1)})},
                                     {{"scalar", scalar_text(1 / square)}});
          return Gradients{apply("_backward_smooth_l1", {grad.dout(0), grad.in(1)}, grad.attrs()),
                           grad.dout(0) * grad.in(0) * inside * square};
        });

void hard_sigmoid_cpu(const HardSigmoidParams& p, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  dispatch_dtype<kFloating>(in.dtype, "hard_sigmoid", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const auto loop = clip_loops<C>().line;
    const C alpha = p.alpha, beta = p.beta;
    along<T, C>(in, out, [=](const C* x, C* y, int64_t n) { loop(x, alpha, beta, y, n); });
  });
}

void hard_sigmoid_backward_cpu(const HardSigmoidParams& p, KernelContext& context) {
  map_pairs<kFloating>("hard_sigmoid", context.in(0), context.in(1), context.out(0),
                       [p]<class C>(C dy, C x) {
                         return parametric::hard_sigmoid_slope(dy, x, static_cast<C>(p.alpha),
                                                               static_cast<C>(p.beta));
                       });
}

OpBuilder<HardSigmoidParams> with_line(OpBuilder<HardSigmoidParams> op) {
  op.dtypes(kFloating);
  op.param("alpha", &HardSigmoidParams::alpha, 0.2f, "Slope of the middle part.");
  op.param("beta", &HardSigmoidParams::beta, 0.5f, "Value at zero.");
  return op;
}

[[maybe_unused]] const auto hard_sigmoid =
    with_line(one_input<HardSigmoidParams>("hard_sigmoid", "alpha * x + beta within [0, 1]."))
        .cpu(hard_sigmoid_cpu)
        .grad([](const HardSigmoidParams&, Grad& grad) {
          return Gradients{
              apply("_backward_hard_sigmoid", {grad.dout(0), grad.in(0)}, grad.attrs())};
        });
[[maybe_unused]] const auto hard_sigmoid_backward =
    with_line(backward<HardSigmoidParams>("_backward_hard_sigmoid")).cpu(hard_sigmoid_backward_cpu);

void quadratic_cpu(const QuadraticParams& p, KernelContext& context) {
  map_elements<kNumeric>("_contrib_quadratic", context.in(0), context.out(0), [p]<class C>(C x) {
    return parametric::quadratic<C>(x, double{p.a}, double{p.b}, double{p.c});
  });
}

[[maybe_unused]] const auto quadratic =
    one_input<QuadraticParams>("_contrib_quadratic", "a * x^2 + b * x + c.")
        .param("a", &QuadraticParams::a, 0.0f, "Coefficient of the square.")
        .param("b", &QuadraticParams::b, 0.0f, "Coefficient of x.")
        .param("c", &QuadraticParams::c, 0.0f, "Constant.")
        .cpu(quadratic_cpu)
        .grad([](const QuadraticParams& p, Grad& grad) {
          return Gradients{grad.dout(0) * (grad.in(0) * (2.0 * double{p.a}) + double{p.b})};
        });

// Integers are whole, and no NaN.
void copy_elements(KernelContext& context) {
  convert_tensor(context.in(0), context.out(0), context);
}

void around_cpu(const AroundParams& p, KernelContext& context) {
  if (!is_floating(context.in(0).dtype) && p.decimals >= 0) return copy_elements(context);
  if (p.decimals == 0 && is_floating(context.in(0).dtype)) {  // nothing is scaled
    return dispatch_dtype<kFloating>(context.in(0).dtype, "_npi_around", [&]<class T>(TypeTag<T>) {
      using C = ComputeType<T>;
      if constexpr (kIsHalf<T>) {
        if (rounds_halves()) return along<T, T>(context.in(0), context.out(0), round_halves<T>);
      }
      along<T, C>(context.in(0), context.out(0), [](const C* x, C* y, int64_t n) {
        MX_INDEPENDENT_STEPS
// Step by step, so short a loop is fast or slow by where in its lines of code it comes to lie.
#pragma GCC unroll 4
        for (int64_t i = 0; i < n; ++i) y[i] = std::nearbyint(x[i]);
      });
    });
  }
  map_elements<kNumeric>("_npi_around", context.in(0), context.out(0),
                         [scale = p.scale(), whole = p.whole_digits()]<class C>(C x) {
                           return parametric::around(x, scale, whole);
                         });
}

[[maybe_unused]] const auto around =
    one_input<AroundParams>("_npi_around", "Rounds to a number of decimals.", "x")
        .param("decimals", &AroundParams::decimals, 0,
               "Decimals; negative ones round whole digits.")
        .cpu(around_cpu)
        .zero_grad();

void nan_to_num_cpu(const NanToNumParams& p, KernelContext& context) {
  const DType dtype = context.in(0).dtype;
  if (!is_floating(dtype)) return copy_elements(context);
  dispatch_dtype<kFloating>(dtype, "_npi_nan_to_num", [&]<class T>(TypeTag<T>) {
    const auto number = [](double value) { return T(static_cast<ComputeType<T>>(value)); };
    const T nan = number(p.nan), high = number(p.high(dtype)), low = number(p.low(dtype));
    along<T, T>(context.in(0), context.out(0),
                [=, loop = finite_loop<T>()](const T* x, T* y, int64_t n) {
                  loop(x, nan, high, low, y, n);
                });
  });
}

void nan_to_num_backward_cpu(const NoParams&, KernelContext& context) {
  map_pairs<kFloating>("_npi_nan_to_num", context.in(0), context.in(1), context.out(0),
                       []<class C>(C dy, C x) { return parametric::nan_to_num_slope(dy, x); });
}

[[maybe_unused]] const auto nan_to_num =
    one_input<NanToNumParams>("_npi_nan_to_num", "Replaces NaN and infinities by numbers.")
        .dtypes(kAllTypes)
        .param("copy", &NanToNumParams::copy, true, "Front ends write into the input without it.")
        .param("nan", &NanToNumParams::nan, 0.0, "For NaN.")
        .param("posinf", &NanToNumParams::posinf, std::optional<double>(),
               "For infinity; None: the largest number.")
        .param("neginf", &NanToNumParams::neginf, std::optional<double>(),
               "For -infinity; None: the smallest number.")
        .cpu(nan_to_num_cpu)
        .grad([](const NanToNumParams&, Grad& grad) {
          return Gradients{apply("_backward_nan_to_num", {grad.dout(0), grad.in(0)})};
        });
[[maybe_unused]] const auto nan_to_num_backward =
    backward<NoParams>("_backward_nan_to_num").cpu(nan_to_num_backward_cpu);

[[maybe_unused]] const bool pointwise = [] {
  for (const char* name : {"clip", "smooth_l1", "hard_sigmoid", "_backward_clip",
                           "_backward_smooth_l1", "_backward_hard_sigmoid", "_contrib_quadratic"})
    mark_pointwise(name);
  return mark_portable({"clip", "_backward_clip"});
}();

void div_sqrt_dim_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const double root = std::sqrt(static_cast<double>(in.ndim() > 0 ? in.dim(in.ndim() - 1) : 1));
  map_elements<kNumeric>("_contrib_div_sqrt_dim", in, context.out(0), [=]<class C>(C x) {
    return parametric::divided(x, static_cast<C>(root));
  });
}

[[maybe_unused]] const auto div_sqrt_dim =
    one_input<NoParams>("_contrib_div_sqrt_dim",
                        "Divides by the square root of the last dimension.")
        .lenient()
        .cpu(div_sqrt_dim_cpu)
        .grad([](const NoParams&, Grad& grad) {
          return Gradients{apply("_contrib_div_sqrt_dim", {grad.dout(0)})};
        });

}  // namespace
}  // namespace mxnet

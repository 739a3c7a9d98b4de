// SPDX-License-Identifier: Apache-2.0
// Kernels of elementwise functions with parameters (op/elemwise/parametric_functions.h). They wait
// for memory, so that all share one kernel a type, which branches alike in all threads.
#include "op/elemwise/parametric_functions.h"

#include "plugin/cuda/families.h"
#include "plugin/cuda/map.cuh"

namespace mxnet {
namespace cuda {
namespace {

enum class Function : uint8_t {
  kSmoothL1,
  kHardSigmoid,
  kQuadratic,
  kAround,
  kNanToNum,
  kDivided,
};

// What each function is given, before it is converted to the elements' type.
struct Given {
  Function function;
  double a = 0, b = 0, c = 0;
};

template <class C>
struct Value {
  Given given;
  C a, b;

  explicit Value(const Given& numbers)
      : given(numbers), a(narrow<C>(numbers.a)), b(narrow<C>(numbers.b)) {}
  MX_DEVICE C operator()(C x) const {
    switch (given.function) {
      case Function::kSmoothL1:
        return parametric::smooth_l1(x, row_words::multiply(a, a));
      case Function::kHardSigmoid:
        if constexpr (row_words::Kind<C>::kReal) return parametric::hard_sigmoid(x, a, b);
        break;
      case Function::kQuadratic:
        return parametric::quadratic<C>(x, given.a, given.b, given.c);
      case Function::kAround:
        return parametric::around(x, given.a, given.b != 0);
      case Function::kNanToNum:
        return parametric::nan_to_num(x, given.a, given.b, given.c);
      case Function::kDivided:
        return parametric::divided(x, a);
    }
    return x;
  }
};

template <class C>
struct Slope {
  Function function;
  C a, b;

  explicit Slope(const Given& numbers)
      : function(numbers.function), a(narrow<C>(numbers.a)), b(narrow<C>(numbers.b)) {}
  MX_DEVICE C operator()(C dy, C x) const {
    switch (function) {
      case Function::kSmoothL1:
        return parametric::smooth_l1_slope(dy, x, a * a);
      case Function::kHardSigmoid:
        return parametric::hard_sigmoid_slope(dy, x, a, b);
      default:
        return parametric::nan_to_num_slope(dy, x);
    }
  }
};

void run_value(KernelContext& context, const Given& given) {
  const Tensor &x = context.in(0), &y = context.out(0);
  for_dtype(x.dtype, "function", [&](auto type) {
    using T = decltype(type);
    map_unary<T, T>(context.stream()->native(), "parametric", Value<Compute<T>>(given), x.data,
                    y.data, x.size());
  });
}

void run_slope(KernelContext& context, const Given& given) {
  const Tensor &dy = context.in(0), &x = context.in(1), &dx = context.out(0);
  for_dtype<kFloating.bits_>(dy.dtype, "gradient", [&](auto type) {
    using T = decltype(type);
    map_binary<T, T>(context.stream()->native(), "parametric_slope", Slope<Compute<T>>(given),
                     dy.data, x.data, dx.data, dx.size());
  });
}

void smooth_l1(const SmoothL1Params& p, KernelContext& context) {
  run_value(context, {Function::kSmoothL1, p.scalar});
}
void smooth_l1_slope(const SmoothL1Params& p, KernelContext& context) {
  run_slope(context, {Function::kSmoothL1, p.scalar});
}
void hard_sigmoid(const HardSigmoidParams& p, KernelContext& context) {
  run_value(context, {Function::kHardSigmoid, p.alpha, p.beta});
}
void hard_sigmoid_slope(const HardSigmoidParams& p, KernelContext& context) {
  run_slope(context, {Function::kHardSigmoid, p.alpha, p.beta});
}
void quadratic(const QuadraticParams& p, KernelContext& context) {
  run_value(context, {Function::kQuadratic, p.a, p.b, p.c});
}
void around(const AroundParams& p, KernelContext& context) {
  run_value(context, {Function::kAround, p.scale(), p.whole_digits() ? 1.0 : 0.0});
}
void nan_to_num(const NanToNumParams& p, KernelContext& context) {
  const DType dtype = context.in(0).dtype;
  run_value(context, {Function::kNanToNum, p.nan, p.high(dtype), p.low(dtype)});
}
void nan_to_num_slope(const void*, KernelContext& context) {
  run_slope(context, {Function::kNanToNum});
}
void div_sqrt_dim(const void*, KernelContext& context) {
  const Tensor& x = context.in(0);
  const int64_t dim = x.ndim() > 0 ? x.dim(x.ndim() - 1) : 1;
  run_value(context, {Function::kDivided, std::sqrt(static_cast<double>(dim))});
}

}  // namespace

void add_parametric(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<SmoothL1Params, smooth_l1>("smooth_l1"));
  rows->push_back(kernel_row<SmoothL1Params, smooth_l1_slope>("_backward_smooth_l1"));
  rows->push_back(kernel_row<HardSigmoidParams, hard_sigmoid>("hard_sigmoid"));
  rows->push_back(kernel_row<HardSigmoidParams, hard_sigmoid_slope>("_backward_hard_sigmoid"));
  rows->push_back(kernel_row<QuadraticParams, quadratic>("_contrib_quadratic"));
  rows->push_back(kernel_row<AroundParams, around>("_npi_around"));
  rows->push_back(kernel_row<NanToNumParams, nan_to_num>("_npi_nan_to_num"));
  // These have no parameters.
  rows->push_back({"_backward_nan_to_num", nan_to_num_slope, nullptr});
  rows->push_back({"_contrib_div_sqrt_dim", div_sqrt_dim, nullptr});
}

}  // namespace cuda
}  // namespace mxnet

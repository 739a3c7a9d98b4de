// SPDX-License-Identifier: Apache-2.0
// Polynomials with the coefficients in an array (op/elemwise/polyval.cc), highest power first.
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {
namespace {

// Horner's rule.
template <class T>
struct Polynomial {
  const T *p, *x;
  T* y;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const {
    const Compute<T> at = widen(x[i]);
    Compute<T> sum(0);
    for (int64_t k = 0; k < n; ++k)
      sum = row_words::plus(row_words::multiply(sum, at), widen(p[k]));
    y[i] = narrow<T>(sum);
  }
};
void polyval(const void*, KernelContext& context) {
  const Tensor &p = context.in(0), &x = context.in(1);
  for_dtype<kNumeric.bits_>(x.dtype, "_npi_polyval", [&](auto type) {
    using T = decltype(type);
    for_each(context.stream()->native(), "_npi_polyval", x.size(),
             Polynomial<T>{p.as<T>(), x.as<T>(), context.out(0).as<T>(), p.size()});
  });
}

// The same for the value and its derivative.
template <class T>
struct PolynomialSlope {
  const T *dy, *p, *x;
  T* dx;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const {
    const Compute<T> at = widen(x[i]);
    Compute<T> value(0), slope(0);
    for (int64_t k = 0; k < n; ++k) {
      slope = slope * at + value;
      value = value * at + widen(p[k]);
    }
    dx[i] = narrow<T>(widen(dy[i]) * slope);
  }
};
// Of coefficient k: the sum of dy * x^(n - 1 - k).
template <class T>
struct CoefficientSlope {
  const T *dy, *x;
  T* dp;
  int64_t n, count;
  MX_DEVICE double part(int64_t k, int lane, int lanes) const {
    double sum = 0;
    for (int64_t i = lane; i < count; i += lanes) {
      double power = 1, base = static_cast<double>(widen(x[i]));
      for (int64_t e = n - 1 - k; e > 0; e /= 2, base *= base)
        if (e % 2 != 0) power *= base;
      sum += static_cast<double>(widen(dy[i])) * power;
    }
    return sum;
  }
  MX_DEVICE double merge(double a, double b) const { return a + b; }
  MX_DEVICE void finish(int64_t k, double sum) const { dp[k] = narrow<T>(sum); }
};
// Inputs: gradient, coefficients, x.
void polyval_slope(const void*, KernelContext& context) {
  const Tensor &dy = context.in(0), &p = context.in(1), &x = context.in(2);
  NativeStream* const stream = context.stream()->native();
  for_dtype<kFloating.bits_>(x.dtype, "_npi_polyval", [&](auto type) {
    using T = decltype(type);
    for_each(
        stream, "_npi_polyval", x.size(),
        PolynomialSlope<T>{dy.as<T>(), p.as<T>(), x.as<T>(), context.out(1).as<T>(), p.size()});
    for_each_group(
        stream, "_npi_polyval", p.size(), true,
        CoefficientSlope<T>{dy.as<T>(), x.as<T>(), context.out(0).as<T>(), p.size(), x.size()});
  });
}

}  // namespace

void add_polynomials(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_npi_polyval", polyval, nullptr});
  rows->push_back({"_backward_npi_polyval", polyval_slope, nullptr});
}

}  // namespace cuda
}  // namespace mxnet

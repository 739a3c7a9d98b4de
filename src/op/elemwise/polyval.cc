// SPDX-License-Identifier: Apache-2.0
// Polynomials with the coefficients in an array, and whether two arrays share memory.
#include <algorithm>
#include <concepts>
#include <type_traits>
#include <vector>

#include "base/simd.h"
#include "op/elemwise/map.h"
#include "op/op_builder.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/elemwise/polyval_loops.inc"
#include "base/simd_targets.h"

// sums = the polynomial at each number of `at`, by Horner's rule.
template <class C>
void polynomials(const std::vector<C>& p, const C* at, C* sums, int64_t n) {
  if constexpr (std::floating_point<C>) {
    MX_SIMD_CALL_FOR_TRAFFIC(horner<C>)(p.data(), static_cast<int64_t>(p.size()), at, sums, n);
  } else {
    std::fill_n(sums, n, C{0});
    for (const C coefficient : p) {
#pragma omp simd
      for (int64_t j = 0; j < n; ++j)
        sums[j] = row_math::plus(row_math::multiply(sums[j], at[j]), coefficient);
    }
  }
}

// Coefficients begin with that of the highest power.
void polyval_cpu(const NoParams&, KernelContext& context) {
  const Tensor &p = context.in(0), &x = context.in(1), &y = context.out(0);
  dispatch_dtype<kNumeric>(x.dtype, "_npi_polyval", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    constexpr int64_t kBlock = 256;
    std::vector<C> factors(static_cast<std::size_t>(p.size()));
    std::transform(p.as<T>(), p.as<T>() + p.size(), factors.begin(), convert<C, T>);
    parallel_for(x.size(), static_cast<double>(p.size()), [&](int64_t first, int64_t last) {
      if constexpr (std::is_same_v<C, T>)
        return polynomials<C>(factors, x.as<T>() + first, y.as<T>() + first, last - first);
      C at[kBlock], sums[kBlock];
      for (int64_t i = first; i < last; i += kBlock) {
        const int64_t n = std::min(kBlock, last - i);
        for (int64_t j = 0; j < n; ++j) at[j] = convert<C>(x.as<T>()[i + j]);
        polynomials<C>(factors, at, sums, n);
        for (int64_t j = 0; j < n; ++j) y.as<T>()[i + j] = convert<T>(sums[j]);
      }
    });
  });
}

// dp[k] = sum of dy * x^(n-1-k); dx = dy * the derivative's value, by Horner's rule for both.
void polyval_backward_cpu(const NoParams&, KernelContext& context) {
  const Tensor &dy = context.in(0), &p = context.in(1), &x = context.in(2);
  const Tensor &dp = context.out(0), &dx = context.out(1);
  dispatch_dtype<kFloating>(x.dtype, "_npi_polyval", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const int64_t n = p.size();
    std::vector<double> sums(static_cast<std::size_t>(n));
    for (int64_t i = 0; i < x.size(); ++i) {
      const C at = convert<C>(x.as<T>()[i]), head = convert<C>(dy.as<T>()[i]);
      C value{0}, slope{0};
      for (int64_t k = 0; k < n; ++k) {
        slope = slope * at + value;
        value = value * at + convert<C>(p.as<T>()[k]);
      }
      dx.as<T>()[i] = convert<T>(head * slope);
      double power = static_cast<double>(head);
      for (int64_t k = n - 1; k >= 0; --k, power *= static_cast<double>(at))
        sums[static_cast<std::size_t>(k)] += power;
    }
    for (int64_t k = 0; k < n; ++k) dp.as<T>()[k] = convert<T>(sums[static_cast<std::size_t>(k)]);
  });
}

void infer_polyval(const NoParams&, Infer& infer) {
  if (infer.in(0).rank_known() && infer.in(0).ndim() != 1) infer.in(0).fail("one dimension");
  infer.in(1).same_shape(infer.out(0));
  infer.one_dtype();
}

MX_OP(_npi_polyval, NoParams)
.doc("The polynomial with coefficients p, highest power first, at every element of x.")
    .input("p", "Coefficients, one dimension.")
    .input("x", "Where it is computed.")
    .lenient()
    .dtypes(kNumeric)
    .infer(infer_polyval)
    .cpu(polyval_cpu)
    .grad([](const NoParams&, Grad& grad) {
      const Value both = apply("_backward_npi_polyval", {grad.dout(0), grad.in(0), grad.in(1)});
      return Gradients{both, output(both, 1)};
    });

MX_OP(_backward_npi_polyval, NoParams)
.doc("Gradients of _npi_polyval.")
    .input("head_grad", "Gradient of the output.")
    .input("p", "Coefficients.")
    .input("x", "Where it was computed.")
    .outputs([](const NoParams&) { return 2; })
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) {
      infer.follow(infer_polyval, NoParams(), {infer.in(1), infer.in(2)}, {infer.in(0)});
      for (int i = 0; i < 2; ++i) infer.out(i).same_shape(infer.in(i + 1));
      infer.one_dtype();
    })
    .cpu(polyval_backward_cpu);

}  // namespace
}  // namespace mxnet

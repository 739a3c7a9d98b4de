// SPDX-License-Identifier: Apache-2.0
// An output again, element by element: squares of what is left of the largest one's power of two.
#include "op/reducing/scaled_roots.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mxnet {
namespace {

// Below, squares that a double rounds to fewer bits might count. (The least normal one is 2e-308.)
constexpr double kLeastExact = 1e-290;

// fn(x) of each element of an output.
template <class Fn>
void for_elements(const double* x, const ReducePlan& plan, int64_t output, Fn fn) {
  const bool inner = plan.inner_reduced();
  const int64_t run = inner ? plan.run() : 1;
  x += inner ? plan.kept().offset(output)
             : plan.kept().offset(output / plan.run()) + output % plan.run();
  for (int64_t r = 0; r < plan.reduced().positions(); ++r) {
    const double* from = x + plan.reduced().offset(r);
    for (int64_t i = 0; i < run; ++i) fn(from[i]);
  }
}

double scaled_root(const double* x, const ReducePlan& plan, int64_t output) {
  double largest = 0;
  for_elements(x, plan, output,
               [&](double element) { largest = std::max(largest, std::abs(element)); });
  if (largest == 0 || std::isinf(largest)) return largest;
  const int exponent = std::ilogb(largest);
  double sum = 0;
  for_elements(x, plan, output, [&](double element) {
    const double scaled = std::scalbn(element, -exponent);
    sum += scaled * scaled;
  });
  return std::scalbn(std::sqrt(sum), exponent);
}

}  // namespace

void scale_roots(const Tensor& in, const ReducePlan& plan, int64_t first, const double* sums,
                 int64_t n, double* roots) {
  if (in.dtype != DType::kFloat64) return;
  for (int64_t i = 0; i < n; ++i) {
    if (sums[i] < kLeastExact || sums[i] > std::numeric_limits<double>::max())  // not NaN
      roots[i] = scaled_root(in.as<double>(), plan, first + i);
  }
}

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Outputs again, of which each has a power of two that its elements are multiplied by: the largest
// of them has a square then that a double holds, and those of the others count for nothing where
// they vanish.
#include "op/reducing/scaled_roots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "op/reducing/reduce_blocks.h"

namespace mxnet {
namespace {

// Below, squares that a double rounds to fewer bits might count. (The least normal one is 2e-308.)
constexpr double kLeastExact = 1e-290;
bool is_inexact(double sum) {
  return sum < kLeastExact || sum > std::numeric_limits<double>::max();  // not NaN
}

// Numbers of outputs that lie side by side, or of the lanes that make up one.
using Lanes = std::array<double, reduce_units::kMostValues>;
constexpr int64_t kLanesOfOne = 16;

void raise(const double* x, int64_t n, double* most) {
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(x[i]);
    most[i] = most[i] < size ? size : most[i];
  }
}
void add_squares(const double* x, int64_t n, const double* factors, double* sums) {
  for (int64_t i = 0; i < n; ++i) {
    const double scaled = x[i] * factors[i];
    sums[i] += scaled * scaled;
  }
}

// Outputs [output, output + n), of one kept position.
class SideBySide {
 public:
  SideBySide(const double* x, const ReducePlan& plan, int64_t output, int64_t n)
      : x_(x), plan_(plan), n_(n), lanes_(plan.inner_reduced() ? kLanesOfOne : n) {
    x_ += plan.inner_reduced() ? plan.kept().offset(output)
                               : plan.kept().offset(output / plan.run()) + output % plan.run();
  }

  // The roots of those whose sums are inexact.
  void take(const double* sums, double* roots) const {
    Lanes most, factors, squares;
    std::fill_n(most.begin(), lanes_, 0.0);
    each_run([&](const double* x, int64_t n) { raise(x, n, most.data()); });
    if (plan_.inner_reduced()) most[0] = *std::max_element(most.begin(), most.begin() + lanes_);
    bool scales = false;
    for (int64_t i = 0; i < n_; ++i) {
      const double largest = at(most, i);
      scales = scales || (is_inexact(sums[i]) && largest > 0 && !std::isinf(largest));
      at(factors, i) = std::scalbn(1.0, -exponent_of(largest));
    }
    std::fill_n(squares.begin(), lanes_, 0.0);
    if (scales) {
      if (plan_.inner_reduced()) std::fill_n(factors.begin(), lanes_, double{factors[0]});
      each_run(
          [&](const double* x, int64_t n) { add_squares(x, n, factors.data(), squares.data()); });
      if (plan_.inner_reduced())
        for (int64_t i = 1; i < lanes_; ++i) squares[0] += at(squares, i);
    }
    for (int64_t i = 0; i < n_; ++i) {
      const double largest = at(most, i);
      if (!is_inexact(sums[i])) continue;
      roots[i] = largest == 0 || std::isinf(largest)
                     ? largest
                     : std::scalbn(std::sqrt(at(squares, i)), exponent_of(largest));
    }
  }

 private:
  static double& at(Lanes& lanes, int64_t i) { return lanes[static_cast<std::size_t>(i)]; }
  // One whose power of two is a normal number, and that of its negative.
  static int exponent_of(double largest) {
    constexpr int kMost = 1000;
    if (largest == 0 || !std::isfinite(largest)) return 0;
    return std::clamp(std::ilogb(largest), -kMost, kMost);
  }
  // fn(x, n): elements of the first n lanes.
  template <class Fn>
  void each_run(const Fn& fn) const {
    const int64_t length = plan_.inner_reduced() ? plan_.run() : n_;
    for (int64_t r = 0; r < plan_.reduced().positions(); ++r) {
      const double* from = x_ + plan_.reduced().offset(r);
      for (int64_t i = 0; i < length; i += lanes_) fn(from + i, std::min(lanes_, length - i));
    }
  }

  const double* x_;
  const ReducePlan& plan_;
  int64_t n_, lanes_;
};

}  // namespace

void scale_roots(const Tensor& in, const ReducePlan& plan, int64_t first, const double* sums,
                 int64_t n, double* roots) {
  if (in.dtype != DType::kFloat64) return;
  int64_t inexact = 0;  // (a loop that has an end is one of vectors)
  for (int64_t i = 0; i < n; ++i) inexact += is_inexact(sums[i]) ? 1 : 0;
  if (inexact == 0) return;
  for (int64_t i = 0, count; i < n; i += count) {
    const int64_t output = first + i;
    count = plan.inner_reduced() ? 1 : std::min(n - i, plan.run() - output % plan.run());
    if (std::any_of(sums + i, sums + i + count, is_inexact))
      SideBySide(in.as<double>(), plan, output, count).take(sums + i, roots + i);
  }
}

}  // namespace mxnet

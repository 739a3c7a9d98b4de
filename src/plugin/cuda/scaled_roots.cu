// SPDX-License-Identifier: Apache-2.0
// Norms of float64 again whose squares a double does not hold (op/reducing/scaled_roots.h): what
// they are depends on numbers that the host does not see, so each output asks for itself.
#include <cfloat>

#include "op/kernel.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

// Whether a root is of a sum that has overflown, or is too small to be exact; not NaN.
MX_DEVICE bool is_odd(double root) { return root < 1e-145 || root > DBL_MAX; }

// The largest element of each odd output.
struct Largest {
  Reduced elements;
  const double* x;
  const double* roots;
  double* largest;

  MX_DEVICE double part(int64_t o, int lane, int lanes) const {
    double value = 0;
    if (!is_odd(roots[o])) return value;
    for (int64_t k = lane; k < elements.count; k += lanes)
      value = merge(value, ::fabs(x[elements.at(o, k)]));
    return value;
  }
  MX_DEVICE double merge(double a, double b) const { return a < b ? b : a; }
  MX_DEVICE void finish(int64_t o, double value) const { largest[o] = value; }
};

struct ScaledRoots {
  Reduced elements;
  const double* x;
  const double* largest;
  double* roots;

  MX_DEVICE bool has_number(double most) const { return most != 0 && most <= DBL_MAX; }
  MX_DEVICE double part(int64_t o, int lane, int lanes) const {
    const double most = largest[o];
    double sum = 0;
    if (!is_odd(roots[o]) || !has_number(most)) return sum;
    for (int64_t k = lane; k < elements.count; k += lanes) {
      const double scaled = x[elements.at(o, k)] / most;
      sum += scaled * scaled;
    }
    return sum;
  }
  MX_DEVICE double merge(double a, double b) const { return a + b; }
  MX_DEVICE void finish(int64_t o, double sum) const {
    if (!is_odd(roots[o])) return;
    const double most = largest[o];
    roots[o] = has_number(most) ? most * ::sqrt(sum) : most;
  }
};

}  // namespace

void scale_roots(NativeStream* stream, const char* name, const Tensor& in, uint32_t axes,
                 const Tensor& out, KernelContext& context) {
  const Reduced elements(in.shape(), axes);
  const bool wide = elements.count >= kLongLine;
  auto* const largest = context.workspace_of<double>(elements.outputs);
  const auto* const x = in.as<double>();
  auto* const roots = out.as<double>();
  for_each_group(stream, name, elements.outputs, wide, Largest{elements, x, roots, largest});
  for_each_group(stream, name, elements.outputs, wide, ScaledRoots{elements, x, largest, roots});
}

}  // namespace cuda
}  // namespace mxnet

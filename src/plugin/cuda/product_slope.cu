// SPDX-License-Identifier: Apache-2.0
// The gradient of products along axes.
#include "op/reduce/spread.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/reals.cuh"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

// The product of the elements that are not zero, and how many are.
struct Factors {
  double product;
  int64_t zeros;
};
struct FactorsOf {
  Reduced elements;
  Reals x;
  Factors* factors;
  MX_DEVICE Factors part(int64_t o, int lane, int lanes) const {
    Factors result{1, 0};
    for (int64_t k = lane; k < elements.count; k += lanes) {
      const double value = x(elements.at(o, k));
      result = merge(result, value == 0 ? Factors{1, 1} : Factors{value, 0});
    }
    return result;
  }
  MX_DEVICE Factors merge(const Factors& a, const Factors& b) const {
    return {a.product * b.product, a.zeros + b.zeros};
  }
  MX_DEVICE void finish(int64_t o, const Factors& found) const { factors[o] = found; }
};
struct ProductSlope {
  Reduced elements;
  Reals dy, y, x;
  const Factors* factors;
  Stored dx;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t o = i / elements.count, at = elements.at(o, i - o * elements.count);
    const double value = x(at), product = y(o);
    const Factors& all = factors[o];
    // A product of numbers other than zero may be too small for its type.
    const double rest = product != 0                     ? product / value
                        : all.zeros == 0                 ? all.product / value
                        : all.zeros == 1 && value == 0.0 ? all.product
                                                         : 0.0;
    dx(at, dy(o) * rest);
  }
};
// Inputs: gradient of the output, output, input.
void product_slope(const SpreadParams& params, KernelContext& context) {
  const Tensor& x = context.in(2);
  if (x.size() == 0) return;
  const Reduced elements(x.shape(), params.axes(x.ndim(), "_backward_prod"));
  NativeStream* const stream = context.stream()->native();
  Factors* const factors = context.workspace_of<Factors>(elements.outputs);
  for_each_group(stream, "_backward_prod", elements.outputs, elements.count >= kLongLine,
                 FactorsOf{elements, reals(x), factors});
  for_each(stream, "_backward_prod", x.size(),
           ProductSlope{elements, reals(context.in(0)), reals(context.in(1)), reals(x), factors,
                        stored(context.out(0))});
}

}  // namespace

void add_product_slopes(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<SpreadParams, product_slope>("_backward_prod"));
}

}  // namespace cuda
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Norms of vectors, of any order (op/reduce/np_norm.h).
#include "op/reduce/np_norm.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reals.cuh"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

struct VectorNorm {
  Reduced elements;
  Reals x;
  Stored out;
  double order;

  MX_DEVICE double part(int64_t o, int lane, int lanes) const {
    // The smallest begins with what is larger than all.
    double sum = order == -static_cast<double>(INFINITY) ? -order : 0;
    for (int64_t k = lane; k < elements.count; k += lanes)
      sum = merge(sum, powered(::fabs(x(elements.at(o, k)))));
    return sum;
  }
  MX_DEVICE double powered(double size) const {
    if (order == 0) return size != 0 ? 1 : 0;
    if (order == 1 || ::fabs(order) == static_cast<double>(INFINITY)) return size;
    return order == 2 ? size * size : row_words::power(size, order);
  }
  MX_DEVICE double merge(double a, double b) const {
    if (::fabs(order) != static_cast<double>(INFINITY)) return a + b;
    return order > 0 ? row_words::larger(a, b) : row_words::smaller(a, b);
  }
  MX_DEVICE void finish(int64_t o, double sum) const {
    const bool is_sum = order == 0 || order == 1 || ::fabs(order) == static_cast<double>(INFINITY);
    out(o, is_sum ? sum : order == 2 ? ::sqrt(sum) : row_words::power(sum, 1.0 / order));
  }
};

// Matrices' norms are numbers of decompositions, which run on the host.
bool is_vector_norm(const void* params, const Signature&) {
  return kind_of(*static_cast<const NumpyNormParams*>(params)) == NormKind::kVector;
}

void norm(const void* given, KernelContext& context) {
  const auto& params = *static_cast<const NumpyNormParams*>(given);
  const Tensor& in = context.in(0);
  const AxisSet axes = params.choice().axes(in.ndim(), "_npi_norm");
  const Reduced elements(in.shape(), axes);
  const double order = vector_order(params);
  for_each_group(context.stream()->native(), "_npi_norm", elements.outputs,
                 elements.count >= kLongLine,
                 VectorNorm{elements, reals(in), stored(context.out(0)), order});
  if (order == 2 && in.dtype == DType::kFloat64)
    scale_roots(context.stream()->native(), "_npi_norm", in, axes, context.out(0), context);
}

struct VectorNormSlope {
  Reduced elements;
  Reals dy, y, x;
  Stored dx;
  double order;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t o = i / elements.count, at = elements.at(o, i - o * elements.count);
    const double value = x(at), norm = y(o);
    double slope = 0;
    if (::fabs(order) == static_cast<double>(INFINITY))
      slope = ::fabs(value) == norm ? ::copysign(1.0, value) : 0.0;
    else if (order != 0 && value != 0 && norm != 0)
      slope = ::copysign(row_words::power(::fabs(value) / norm, order - 1.0), value);
    dx(at, dy(o) * slope);
  }
};
// Inputs: gradient of the output, output, input.
void norm_slope(const void* given, KernelContext& context) {
  const auto& params = *static_cast<const NumpyNormParams*>(given);
  const Tensor& x = context.in(2);
  for_each(context.stream()->native(), "_npi_norm", x.size(),
           VectorNormSlope{Reduced(x.shape(), params.choice().axes(x.ndim(), "_npi_norm")),
                           reals(context.in(0)), reals(context.in(1)), reals(x),
                           stored(context.out(0)), vector_order(params)});
}

}  // namespace

void add_vector_norms(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_npi_norm", norm, is_vector_norm});
  rows->push_back({"_backward_npi_norm", norm_slope, is_vector_norm});
}

}  // namespace cuda
}  // namespace mxnet

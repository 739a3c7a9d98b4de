// SPDX-License-Identifier: Apache-2.0
// Weighted means (op/reduce/average.h).
#include "op/reduce/average.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reals.cuh"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

// The weight of each element: an array like the elements, a list along one axis, or none.
struct Weights {
  Reals weights;
  int64_t size, inner;  // of a list

  Weights(const AverageParams& params, const Tensor& a, const Tensor* w)
      : weights{nullptr, DType::kUnknown}, size(0), inner(1) {
    if (w == nullptr) return;
    weights = reals(*w);
    if (!is_list(a.shape(), w->shape())) return;
    const int axis = normalize_axis((*params.axis)[0], a.ndim(), "_npi_average");
    size = a.dim(axis);
    inner = a.shape().size(axis + 1, a.ndim());
  }
  MX_DEVICE double operator()(int64_t element) const {
    if (weights.data == nullptr) return 1;
    return weights(size == 0 ? element : element / inner % size);
  }
};

struct WeightedSum {
  double values, weights;
};
struct Average {
  Reduced elements;
  Reals a;
  Weights weight;
  Stored mean, sum_of_weights;
  int64_t sums;  // of weights that are written

  MX_DEVICE WeightedSum part(int64_t o, int lane, int lanes) const {
    WeightedSum sum{0, 0};
    for (int64_t k = lane; k < elements.count; k += lanes) {
      const int64_t at = elements.at(o, k);
      const double w = weight(at);
      sum = {sum.values + a(at) * w, sum.weights + w};
    }
    return sum;
  }
  MX_DEVICE WeightedSum merge(const WeightedSum& x, const WeightedSum& y) const {
    return {x.values + y.values, x.weights + y.weights};
  }
  MX_DEVICE void finish(int64_t o, const WeightedSum& sum) const {
    mean(o, sum.values / sum.weights);
    if (o < sums) sum_of_weights(o, sum.weights);
  }
};

void average(const AverageParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &sums = context.out(1);
  const Reduced elements(a.shape(), params.choice().axes(a.ndim(), "_npi_average"));
  const Weights weight(params, a, params.weighted ? &context.in(1) : nullptr);
  NativeStream* const stream = context.stream()->native();
  if (!params.weighted) fill(stream, sums, static_cast<double>(elements.count));
  for_each_group(stream, "_npi_average", elements.outputs, elements.count >= kLongLine,
                 Average{elements, reals(a), weight, stored(context.out(0)), stored(sums),
                         params.weighted ? sums.size() : 0});
}

// With w the weight of an element: da = dy w / sum, dw = dy (a - average) / sum + dsum.
struct AverageSlope {
  Reduced elements;
  Reals dy, mean, sums, a, dsum;
  Weights weight;
  Stored da, dw;
  bool list;

  MX_DEVICE double slope(int64_t o) const { return dy(o) / sums(list ? 0 : o); }
  MX_DEVICE double of_weight(int64_t o, int64_t at) const { return slope(o) * (a(at) - mean(o)); }
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t o = i / elements.count, at = elements.at(o, i - o * elements.count);
    da(at, slope(o) * weight(at));
    if (!list) dw(at, of_weight(o, at) + (dsum.data == nullptr ? 0 : dsum(o)));
  }
};
// Of a list: output o has one element for each weight.
struct ListSlope {
  AverageSlope all;
  MX_DEVICE double part(int64_t w, int lane, int lanes) const {
    double sum = 0;
    for (int64_t o = lane; o < all.elements.outputs; o += lanes)
      sum += all.of_weight(o, all.elements.at(o, w));
    return sum;
  }
  MX_DEVICE double merge(double x, double y) const { return x + y; }
  MX_DEVICE void finish(int64_t w, double sum) const {
    all.dw(w, sum + (all.dsum.data == nullptr ? 0 : all.dsum(0)));
  }
};

// Inputs: gradients of average and sum of weights, both outputs, a, weights.
void average_slope(const AverageParams& params, KernelContext& context) {
  const Tensor &a = context.in(3), &w = context.in(4);
  const AverageSlope slope{Reduced(a.shape(), params.choice().axes(a.ndim(), "_npi_average")),
                           reals(context.in(0)),
                           reals(context.in(1)),
                           reals(context.in(2)),
                           reals(a),
                           params.returned ? reals(context.in(5)) : Reals{nullptr, DType::kUnknown},
                           Weights(params, a, &w),
                           stored(context.out(0)),
                           stored(context.out(1)),
                           is_list(a.shape(), w.shape())};
  NativeStream* const stream = context.stream()->native();
  for_each(stream, "_npi_average", a.size(), slope);
  if (slope.list)
    for_each_group(stream, "_npi_average", w.size(), slope.elements.outputs >= kLongLine,
                   ListSlope{slope});
}

}  // namespace

void add_averages(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<AverageParams, average>("_npi_average"));
  rows->push_back(kernel_row<AverageParams, average_slope>("_backward_np_average"));
}

}  // namespace cuda
}  // namespace mxnet

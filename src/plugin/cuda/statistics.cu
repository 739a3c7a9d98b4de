// SPDX-License-Identifier: Apache-2.0
// Reductions that no row of reduce/ is: weighted means, norms of any order, the gradient of
// products, histograms, and whether two arrays are close. Sums are double, and come in one order.
#include "op/reduce/average.h"
#include "op/reduce/finite.h"
#include "op/reduce/histogram.h"
#include "op/reduce/np_norm.h"
#include "op/reduce/spread.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

using Reals = Numbers<double>;
Reals reals(const Tensor& tensor) { return {tensor.data, tensor.dtype}; }
Stored stored(const Tensor& tensor) { return {tensor.data, tensor.dtype}; }

// --- average -------------------------------------------------------------------------------------

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

// --- norms of vectors ----------------------------------------------------------------------------

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
  const Reduced elements(in.shape(), params.choice().axes(in.ndim(), "_npi_norm"));
  for_each_group(context.stream()->native(), "_npi_norm", elements.outputs,
                 elements.count >= kLongLine,
                 VectorNorm{elements, reals(in), stored(context.out(0)), vector_order(params)});
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

// --- the gradient of products --------------------------------------------------------------------

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

// --- histograms ----------------------------------------------------------------------------------

struct WriteEdges {
  EqualBins bins;
  Stored edges;
  MX_DEVICE void operator()(int64_t i) const { edges(i, bins.edge(i)); }
};
// Elements are compared with the edges that are returned, in the type of the data.
template <class T>
struct Count {
  EqualBins equal;  // without bins: any edges decide
  const T *x, *edges;
  int64_t* counts;
  int64_t bins;
  MX_DEVICE void operator()(int64_t i) const {
    const auto edge_at = [this](int64_t k) { return widen(edges[k]); };
    const auto value = widen(x[i]);
    const int64_t bin =
        equal.bins > 0 ? equal.bin_of(value, edge_at) : bin_between(value, bins, edge_at);
    if (bin >= 0) atomic_add(counts + bin, int64_t{1});
  }
};
void histogram(const HistogramParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &counts = context.out(0), &edges = context.out(1);
  NativeStream* const stream = context.stream()->native();
  EqualBins equal{0, 0, 0};
  if (params.bin_cnt) {
    equal = {params.range[0], params.range[1], counts.size()};
    for_each(stream, "_histogram", edges.size(), WriteEdges{equal, stored(edges)});
  } else {
    convert(stream, context.in(1), edges);
  }
  fill(stream, counts, 0);
  for_dtype<kNumeric.bits_>(in.dtype, "_histogram", [&](auto type) {
    using T = decltype(type);
    for_each(stream, "_histogram", in.size(),
             Count<T>{equal, in.as<T>(), edges.as<T>(), counts.as<int64_t>(), counts.size()});
  });
}

// --- allclose ------------------------------------------------------------------------------------

// Whoever meets a difference writes the same zero.
struct ClearUnlessClose {
  CloseParams params;
  Reals a, b;
  uint8_t* flag;
  MX_DEVICE void operator()(int64_t i) const {
    if (!params.are_close(a(i), b(i))) *flag = 0;
  }
};
void all_close(const CloseParams& params, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1), &flag = context.out(0);
  NativeStream* const stream = context.stream()->native();
  fill(stream, flag, 1);
  for_each(stream, "_contrib_allclose", a.size(),
           ClearUnlessClose{params, reals(a), reals(b), flag.as<uint8_t>()});
}

}  // namespace

void add_statistics(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<AverageParams, average>("_npi_average"));
  rows->push_back(kernel_row<AverageParams, average_slope>("_backward_np_average"));
  rows->push_back({"_npi_norm", norm, is_vector_norm});
  rows->push_back({"_backward_npi_norm", norm_slope, is_vector_norm});
  rows->push_back(kernel_row<SpreadParams, product_slope>("_backward_prod"));
  rows->push_back(kernel_row<HistogramParams, histogram>("_histogram"));
  rows->push_back(kernel_row<CloseParams, all_close>("_contrib_allclose"));
}

}  // namespace cuda
}  // namespace mxnet

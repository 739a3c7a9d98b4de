// SPDX-License-Identifier: Apache-2.0
// Histograms (op/reduce/histogram.h).
#include "op/reduce/histogram.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reals.cuh"

namespace mxnet {
namespace cuda {
namespace {

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

}  // namespace

void add_histograms(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<HistogramParams, histogram>("_histogram"));
}

}  // namespace cuda
}  // namespace mxnet

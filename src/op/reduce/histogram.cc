// SPDX-License-Identifier: Apache-2.0
// Counts of elements: between edges (_histogram).
#include "op/reduce/histogram.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reduce/edge_search.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr DTypeSet kTypes = kNumeric;

// count(first, last, counts) for parts of n elements, each into a table of its own, and their sums
// into `sums`. Parts have at least as many elements as a table.
template <class Count>
void count_apart(int64_t n, int64_t bins, KernelContext& context, int64_t* sums,
                 const Count& count) {
  constexpr double kCost = 8.0;  // elementary operations an element
  std::fill_n(sums, bins, 0);
  const int64_t parts = std::clamp<int64_t>(n / (2 * bins), 1, threads_for(n, kCost));
  int64_t* const others = context.workspace_of<int64_t>(std::max<int64_t>((parts - 1) * bins, 1));
  std::fill_n(others, (parts - 1) * bins, 0);
  parallel_for(
      parts, kCost * static_cast<double>(n) / static_cast<double>(parts),
      [&](int64_t first, int64_t last) {
        count(n * first / parts, n * last / parts, first == 0 ? sums : others + (first - 1) * bins);
      },
      1);
  for (int64_t part = 0; part + 1 < parts; ++part)
    for (int64_t bin = 0; bin < bins; ++bin) sums[bin] += others[part * bins + bin];
}

// Elements of `in` between edges, of which there are at most kMostSearched.
template <class T>
void count_between(const Tensor& in, const T* edge, int64_t bins, KernelContext& context,
                   int64_t* sums) {
  using C = ComputeType<T>;
  using Searched = std::conditional_t<sizeof(C) == 1, int32_t, C>;
  auto* const edges = context.workspace_of<Searched>(bins + 1);
  convert_array(edge, edges, bins + 1);
  count_apart(in.size(), bins, context, sums, [&](int64_t first, int64_t last, int64_t* counts) {
    std::array<Searched, kSearched> x;
    std::array<BinOf<Searched>, kSearched> bin;
    for (int64_t start = first; start < last; start += kSearched) {
      const int64_t n = std::min(kSearched, last - start);
      convert_array(in.as<T>() + start, x.data(), n);
      search_edges(x.data(), n, edges, bins, bin.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        if (bin[i] >= 0) ++counts[bin[i]];
    }
  });
}

void histogram_cpu(const HistogramParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &edges = context.out(1);
  const int64_t bins = out.size();
  dispatch_dtype<kTypes>(in.dtype, "_histogram", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    T* edge = edges.as<T>();
    const auto count = [&](const auto& bin_of) {
      const auto edge_at = [edge](int64_t i) { return static_cast<C>(edge[i]); };
      count_apart(in.size(), bins, context, out.as<int64_t>(),
                  [&](int64_t first, int64_t last, int64_t* counts) {
                    // What is counted may be what describes the arrays, as far as the compiler
                    // knows.
                    const T* const from = in.as<T>();
                    for (int64_t i = first; i < last; ++i) {
                      const int64_t bin = bin_of(static_cast<C>(from[i]), edge_at);
                      if (bin >= 0) ++counts[bin];
                    }
                  });
    };
    if (params.bin_cnt) {
      const EqualBins equal{params.range[0], params.range[1], bins};
      for (int64_t i = 0; i <= bins; ++i) edge[i] = convert<T>(equal.edge(i));
      count([equal](C x, const auto& edge_at) { return equal.bin_of(x, edge_at); });
    } else {
      std::copy_n(context.in(1).as<T>(), bins + 1, edge);
      if (bins <= kMostSearched) return count_between(in, edge, bins, context, out.as<int64_t>());
      count([bins](C x, const auto& edge_at) { return bin_between(x, bins, edge_at); });
    }
  });
}

void infer_histogram(const HistogramParams& params, Infer& infer) {
  const InferArg data = infer.in(0);
  infer.out(0).set_dtype(DType::kInt64);
  infer.out(1).same_dtype(data);
  if (params.bin_cnt) {
    const int32_t bins = *params.bin_cnt;
    if (bins < 1) infer.fail("given bin_cnt=" + std::to_string(bins) + ", expected 1 or more");
    if (params.range.size() != 2 || !(params.range[0] < params.range[1]))
      infer.fail("expected range=(low, high) with low < high beside bin_cnt");
    infer.out(0).set_shape({bins});
    infer.out(1).set_shape({bins + 1});
    return;
  }
  infer.in(1).same_dtype(data);
  infer.in(1).same_shape(infer.out(1));
  if (!infer.in(1).known()) return;
  if (infer.in(1).ndim() != 1 || infer.in(1).dim(0) < 2)
    infer.in(1).fail("a list of two edges or more");
  infer.out(0).set_shape({infer.in(1).dim(0) - 1});
}

MX_OP(_histogram, HistogramParams)
.doc("Numbers of elements between edges, and the edges. The last bin has both its edges.")
    .alias("_npi_histogram")
    .input("data", "The array.")
    .input("bins", "Edges in ascending order; absent where `bin_cnt` is given.")
    .param("bin_cnt", &HistogramParams::bin_cnt, std::optional<int32_t>(),
           "Number of equal bins over `range`.")
    .param("range", &HistogramParams::range, std::vector<double>(),
           "Lowest and highest edge of equal bins.")
    .type_text(", optional, default=None")
    .num_inputs([](const HistogramParams& params) { return params.bin_cnt ? 1 : 2; })
    .outputs([](const HistogramParams&) { return 2; })
    .dtypes(kTypes)
    .infer(infer_histogram)
    .cpu(histogram_cpu);

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Counts of elements: between edges (_histogram).
#include <algorithm>
#include <vector>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

constexpr DTypeSet kTypes = kNumeric;

struct HistogramParams {
  std::optional<int32_t> bin_cnt;
  std::vector<double> range;
};

// Equal bins over a range, in the type of the data. The edges that are returned decide: rounding
// moves an element by no more than one bin. (Edges of integers, which are cut off, can be several
// bins apart from where they should be: there, as ever, one step is all.) The last bin has both its
// edges.
template <class T>
void count_equal_bins(const T* x, int64_t n, const T* edges, int64_t bins, double low, double high,
                      int64_t* counts) {
  using C = ComputeType<T>;
  const double scale = static_cast<double>(bins) / (high - low);
  for (int64_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    if (!(value >= low && value <= high)) continue;
    int64_t bin = std::min(bins - 1, static_cast<int64_t>((value - low) * scale));
    const C element = static_cast<C>(x[i]);
    if (bin > 0 && element < static_cast<C>(edges[bin])) --bin;
    if (bin + 1 < bins && element >= static_cast<C>(edges[bin + 1])) ++bin;
    ++counts[bin];
  }
}

template <class T>
void count_bins(const T* x, int64_t n, const T* edges, int64_t bins, int64_t* counts) {
  using C = ComputeType<T>;
  const C low = static_cast<C>(edges[0]), high = static_cast<C>(edges[bins]);
  for (int64_t i = 0; i < n; ++i) {
    const C value = static_cast<C>(x[i]);
    if (!(value >= low && value <= high)) continue;
    const T* above = std::upper_bound(edges, edges + bins, value, [](C element, T edge) {
      return element < static_cast<C>(edge);
    });
    ++counts[std::min<int64_t>(above - edges - 1, bins - 1)];
  }
}

void histogram_cpu(const HistogramParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &edges = context.out(1);
  const int64_t bins = out.size();
  int64_t* counts = out.as<int64_t>();
  std::fill_n(counts, bins, 0);
  dispatch_dtype<kTypes>(in.dtype, "_histogram", [&]<class T>(TypeTag<T>) {
    T* edge = edges.as<T>();
    if (params.bin_cnt) {
      const double low = params.range[0], high = params.range[1];
      for (int64_t i = 0; i <= bins; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(bins);
        edge[i] = convert<T>(low + part * (high - low));
      }
      count_equal_bins(in.as<T>(), in.size(), edge, bins, low, high, counts);
    } else {
      std::copy_n(context.in(1).as<T>(), bins + 1, edge);
      count_bins(in.as<T>(), in.size(), edge, bins, counts);
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

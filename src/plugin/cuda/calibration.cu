// SPDX-License-Identifier: Apache-2.0
// The range to quantize a distribution with (op/quantize/calibrate.cc): a thread for each range,
// then the best of them.
#include <cstdint>
#include <limits>

#include "op/quantize/entropy.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {
namespace {

using quantize::EntropyParams;

struct Divergences {
  const float* hist;
  int64_t n, levels, least;
  double* found;
  MX_DEVICE void operator()(int64_t i) const {
    found[i] = quantize::QuantizedRange(hist, n, least + i, levels).divergence();
  }
};

// The first of the smallest.
struct PickRange {
  struct Best {
    double value;
    int64_t at;
  };
  const double* found;
  int64_t count;
  const float* edges;  // of the first range
  float *threshold, *divergence;

  MX_DEVICE Best part(int64_t, int lane, int lanes) const {
    Best best{std::numeric_limits<double>::infinity(), INT64_MAX};
    for (int64_t i = lane; i < count; i += lanes) best = merge(best, {found[i], i});
    return best;
  }
  MX_DEVICE Best merge(const Best& a, const Best& b) const {
    return b.value < a.value || (b.value == a.value && b.at < a.at) ? b : a;
  }
  MX_DEVICE void finish(int64_t, const Best& best) const {
    *threshold = edges[best.at];
    *divergence = static_cast<float>(best.value);
  }
};

void calibrate(const EntropyParams& params, KernelContext& context) {
  const Tensor &hist = context.in(0), &edges = context.in(1);
  NativeStream* const stream = context.stream()->native();
  const int64_t n = hist.size(), middle = n / 2, levels = params.num_quantized_bins;
  const int64_t least = levels / 2, count = middle - least + 1;
  auto* const found = context.workspace_of<double>(count);
  for_each(stream, "_contrib_calibrate_entropy", count,
           Divergences{hist.as<float>(), n, levels, least, found});
  for_each_group(stream, "_contrib_calibrate_entropy", 1, true,
                 PickRange{found, count, edges.as<float>() + middle + least + 1,
                           context.out(0).as<float>(), context.out(1).as<float>()});
}

}  // namespace

void add_calibration(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<EntropyParams, calibrate>("_contrib_calibrate_entropy"));
}

}  // namespace cuda
}  // namespace mxnet

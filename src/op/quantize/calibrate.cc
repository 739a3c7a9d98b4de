// SPDX-License-Identifier: Apache-2.0
// The range to quantize a distribution with: of all symmetrical ranges around zero the one whose
// quantized histogram says least different things from the original (Kullback and Leibler).
#include <algorithm>
#include <vector>

#include "op/op_builder.h"
#include "op/quantize/entropy.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

void entropy_cpu(const EntropyParams& params, KernelContext& context) {
  const float *hist = context.in(0).as<float>(), *edges = context.in(1).as<float>();
  const int64_t n = context.in(0).size(), middle = n / 2;
  const int64_t levels = params.num_quantized_bins, least = levels / 2;
  std::vector<double> found(static_cast<std::size_t>(middle - least + 1));
  parallel_for(
      middle - least + 1, 4.0 * static_cast<double>(n),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          found[static_cast<std::size_t>(i)] =
              QuantizedRange(hist, n, least + i, levels).divergence();
      },
      1);
  const auto best = std::min_element(found.begin(), found.end());
  *context.out(0).as<float>() = edges[middle + least + (best - found.begin()) + 1];
  *context.out(1).as<float>() = static_cast<float>(*best);
}

MX_OP(_contrib_calibrate_entropy, EntropyParams)
.doc("The largest number of the range to quantize a histogram with, and what is lost by it.")
    .input("hist", "Counts of an odd number of bins around zero, float32.")
    .input("hist_edges", "Edges of the bins, one more.")
    .param("num_quantized_bins", &EntropyParams::num_quantized_bins, 255,
           "Number of different integers, odd.")
    .at_least<int32_t>(1)
    .outputs([](const EntropyParams&) { return 2; })
    .output("threshold")
    .output("divergence")
    .infer([](const EntropyParams& params, Infer& infer) {
      InferArg hist = infer.in(0), edges = infer.in(1);
      hist.set_dtype(DType::kFloat32).set_shape({-1});
      edges.set_dtype(DType::kFloat32).set_shape({-1});
      for (int i = 0; i < 2; ++i) infer.out(i).set_dtype(DType::kFloat32).set_shape({1});
      if (params.num_quantized_bins % 2 == 0)
        infer.fail("given an even num_quantized_bins, expected an odd number");
      if (!hist.known()) return;
      if (hist.dim(0) % 2 == 0 || hist.dim(0) < params.num_quantized_bins)
        hist.fail("an odd number of bins, num_quantized_bins or more");
      edges.set_shape({hist.dim(0) + 1});
    })
    .cpu(entropy_cpu)
    .never_inline();

}  // namespace
}  // namespace mxnet::quantize

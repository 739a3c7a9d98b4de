// SPDX-License-Identifier: Apache-2.0
// The range to quantize a distribution with: of all symmetrical ranges around zero the one whose
// quantized histogram says least different things from the original (Kullback and Leibler).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/quantize/range.h"

namespace mxnet::quantize {
namespace {

struct EntropyParams {
  int32_t num_quantized_bins;
};

// A divergence needs bins that are not empty: each empty one gets a little, which the others pay
// in equal parts. False where they could not.
bool smooth(std::vector<double>& bins) {
  constexpr double kLittle = 1e-4;
  const auto empty = std::count(bins.begin(), bins.end(), 0.0);
  const auto full = static_cast<std::ptrdiff_t>(bins.size()) - empty;
  if (full == 0) return false;
  const double pays = kLittle * static_cast<double>(empty) / static_cast<double>(full);
  if (pays >= 1.0) return false;
  for (double& bin : bins) bin = bin == 0.0 ? kLittle : bin - pays;
  return true;
}

double divergence(const std::vector<double>& p, const std::vector<double>& q) {
  double p_sum = 0, q_sum = 0, sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    p_sum += p[i];
    q_sum += q[i];
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double from = p[i] / p_sum, to = q[i] / q_sum;
    if (from > 0) sum += from * std::log(from / to);
  }
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

// Of the range of `half` bins to each side of the middle one, with what lies outside of it in its
// outermost bins, quantized to `levels`.
double divergence_of(const float* hist, int64_t n, int64_t half, int64_t levels) {
  const int64_t first = n / 2 - half, last = n / 2 + half + 1;
  std::vector<double> p(hist + first, hist + last), q(p.size());
  for (int64_t i = 0; i < first; ++i) p.front() += hist[i];
  for (int64_t i = last; i < n; ++i) p.back() += hist[i];
  const int64_t size = last - first, merged = size / levels;
  for (int64_t level = 0; level < levels; ++level) {
    const int64_t begin = level * merged, end = level == levels - 1 ? size : begin + merged;
    double sum = 0;
    int64_t full = 0;
    for (int64_t i = begin; i < end; ++i) {
      sum += hist[first + i];
      full += p[static_cast<std::size_t>(i)] != 0;
    }
    for (int64_t i = begin; i < end && full > 0; ++i) {
      const auto at = static_cast<std::size_t>(i);
      q[at] = p[at] != 0 ? sum / static_cast<double>(full) : 0.0;
    }
  }
  if (!smooth(p) || !smooth(q)) return std::numeric_limits<double>::infinity();
  return divergence(p, q);
}

void entropy_cpu(const EntropyParams& params, KernelContext& context) {
  const float *hist = context.in(0).as<float>(), *edges = context.in(1).as<float>();
  const int64_t n = context.in(0).size(), middle = n / 2;
  const int64_t levels = params.num_quantized_bins, least = levels / 2;
  std::vector<double> found(static_cast<std::size_t>(middle - least + 1));
  parallel_for(
      middle - least + 1, 4.0 * static_cast<double>(n),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          found[static_cast<std::size_t>(i)] = divergence_of(hist, n, least + i, levels);
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

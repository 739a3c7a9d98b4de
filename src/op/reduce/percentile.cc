// SPDX-License-Identifier: Apache-2.0
// _npi_percentile: elements at fractions of the sorted order.
#include "op/reduce/percentile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/read_back.h"
#include "op/sorting/key_loops.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_npi_percentile";

std::vector<double> percents(const PercentileParams& params, KernelContext& context) {
  if (params.q_scalar) return {*params.q_scalar};
  const Tensor& q = context.in(1);
  std::vector<double> result(static_cast<std::size_t>(q.size()));
  dispatch_dtype(q.dtype, kTag, [&]<class T>(TypeTag<T>) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<double>(q.as<T>()[i]);
      if (!(result[i] >= 0.0 && result[i] <= 100.0)) {
        throw Error(ErrorCode::kValue, kTag,
                    "given a percentage of " + std::to_string(result[i]) + ", expected 0 to 100");
      }
    }
  });
  return result;
}

// The elements of each of `count` neighbouring outputs from `first` on, a line an output.
template <class T>
void gather(const ReducePlan& plan, const T* in, int64_t first, int64_t count, T* lines) {
  const int64_t run = plan.run(), n = plan.extent();
  if (plan.inner_reduced()) {
    for (int64_t o = 0; o < count; ++o) {
      const T* base = in + plan.kept().offset(first + o);
      for (int64_t at = 0; at < n; at += run)
        std::copy_n(base + plan.reduced().offset(at / run), run, lines + o * n + at);
    }
    return;
  }
  const T* base = in + plan.kept().offset(first / run) + first % run;
  for (int64_t i = 0; i < n; ++i) {
    const T* row = base + plan.reduced().offset(i);
    for (int64_t o = 0; o < count; ++o) lines[o * n + i] = row[o];
  }
}

// One output's percentiles of a sorted line, each `outputs` further on.
template <class T>
void store_percentiles(const T* line, int64_t n, const std::vector<double>& wanted, Between how,
                       const Tensor& out, int64_t output, int64_t outputs) {
  // A NaN among the elements is the last of them, and the result.
  const auto greatest = static_cast<double>(line[n - 1]);
  for (std::size_t q = 0; q < wanted.size(); ++q) {
    const double value = std::isnan(greatest) ? greatest : at_percent(line, n, wanted[q], how);
    const int64_t at = static_cast<int64_t>(q) * outputs + output;
    if (out.dtype == DType::kFloat64)
      out.as<double>()[at] = value;
    else
      out.as<float>()[at] = static_cast<float>(value);
  }
}

void percentile_cpu(const PercentileParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const ReducePlan plan(in.shape(), params.choice().axes(in.ndim(), kTag));
  const std::vector<double> wanted = percents(params, context);
  const int64_t outputs = plan.outputs(), n = plan.extent();
  // Outputs whose elements are neighbours, too: as many as a line of the cache has room for.
  constexpr int64_t kTogether = 16;
  const auto together = [&](int64_t first, int64_t last) {
    return plan.inner_reduced()
               ? 1
               : std::min({kTogether, last - first, plan.run() - first % plan.run()});
  };
  dispatch_dtype(in.dtype, kTag, [&]<class T>(TypeTag<T>) {
    parallel_for(
        outputs, 20.0 * static_cast<double>(n),
        [&](int64_t first, int64_t last) {
          // Sorting by vectors is faster than looking for single elements without.
          std::vector<SortKey<T>> memory, spare(static_cast<std::size_t>(n));
          int64_t count;
          for (int64_t start = first; start < last; start += count) {
            count = together(start, last);
            memory.resize(static_cast<std::size_t>(count * n));
            T* const lines = reinterpret_cast<T*>(memory.data());
            gather(plan, in.as<T>(), start, count, lines);
            for (int64_t o = 0; o < count; ++o) {
              T* const line = lines + o * n;
              sort_values<T>(line, line, spare.data(), n, 0);
              store_percentiles(line, n, wanted, params.interpolation, out, start + o, outputs);
            }
          }
        },
        1);
  });
}

void infer_percentile(const PercentileParams& params, Infer& infer) {
  const InferArg a = infer.in(0);
  if (a.dtype() != DType::kUnknown)
    infer.out(0).set_dtype(a.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
  if (params.q_scalar && !(*params.q_scalar >= 0.0 && *params.q_scalar <= 100.0)) {
    infer.fail("given q_scalar=" + std::to_string(*params.q_scalar) + ", expected 0 to 100");
  }
  if (!a.known()) return;
  if (reduces_nothing(a.shape(), params.choice().axes(a.ndim(), kTag)))
    a.fail("at least one element to choose from");
  Shape shape = Shape::scalar();
  if (!params.q_scalar) {
    if (!infer.in(1).known()) return;
    shape = infer.in(1).shape();
  }
  const Shape reduced = params.choice().shape(a.shape(), kTag);
  for (const int64_t dim : reduced.dims()) shape.push_back(dim);
  infer.out(0).set_shape(shape);
}

MX_OP(_npi_percentile, PercentileParams)
.doc("The elements below which given percentages of all lie.")
    .input("a", "The array.")
    .input("q", "Percentages, 0 to 100; absent where `q_scalar` is given.")
    .param("axis", &PercentileParams::axis, std::optional<Shape>(),
           "Axes to reduce; all, if none is given.")
    .choice<Between>("interpolation", &PercentileParams::interpolation,
                     {{"linear", Between::kLinear},
                      {"lower", Between::kLower},
                      {"higher", Between::kHigher},
                      {"midpoint", Between::kMidpoint},
                      {"nearest", Between::kNearest}},
                     "linear", "What stands for a place between two elements.")
    .param("keepdims", &PercentileParams::keepdims, false,
           "Whether reduced axes stay as dimensions of size one.")
    .param("q_scalar", &PercentileParams::q_scalar, std::optional<double>(), "The one percentage.")
    .num_inputs([](const PercentileParams& params) { return params.q_scalar ? 1 : 2; })
    .infer(infer_percentile)
    .cpu(percentile_cpu)
    .zero_grad();
// Percentages out of range are an error.
[[maybe_unused]] const bool waits = mark_waiting({"_npi_percentile"});

}  // namespace
}  // namespace mxnet

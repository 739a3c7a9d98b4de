// SPDX-License-Identifier: Apache-2.0
// Reductions that need more than sums: how often each integer occurs, and elements at fractions of
// the sorted order. The host sees the extremes and the percentages: a negative number has no bin,
// and a percentage beyond 100 no place.
#include <string>

#include "op/reduce/bincount.h"
#include "op/reduce/percentile.h"
#include "plugin/cuda/extremes.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/reduced.cuh"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// --- bins ----------------------------------------------------------------------------------------

template <class Sum>
struct CountInto {
  Integers bins;
  Numbers<Sum> weights;  // data may be null: 1 each
  Sum* sums;
  MX_DEVICE void operator()(int64_t i) const {
    atomic_add(sums + bins(i), weights.data == nullptr ? Sum(1) : weights(i));
  }
};
template <class Sum>
void count_into(const Tensor& in, const Tensor* weights, const Tensor& out,
                KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  const Tensor sums{context.workspace_of<Sum>(out.size() + 1), &out.shape(), dtype_of<Sum>};
  fill(stream, sums, 0);
  const Numbers<Sum> of_each{weights == nullptr ? nullptr : weights->data, out.dtype};
  const CountInto<Sum> count{{in.data, in.dtype}, of_each, sums.as<Sum>()};
  // Sums of integers are the same in any order: nobody's thread has to make all of them alone.
  if constexpr (std::is_integral_v<Sum>)
    for_each(stream, "_npi_bincount", in.size(), count);
  else
    scatter(stream, "_npi_bincount", 1, in.size(), count);
  convert(stream, sums, out);
}

// Throws where so many bins do not fit the device; `given` is what asked for them.
void check_fits(uint64_t bins, DType dtype, const std::string& given,
                const KernelContext& context) {
  constexpr uint64_t kFewBins = uint64_t{1} << 24;  // below this nobody asks for the memory
  if (bins <= kFewBins) return;
  const uint64_t bytes = sizeof(int64_t) + dtype_size(dtype);
  const uint64_t most = context.stream()->api().memory_info(context.device().id).total / bytes;
  if (bins <= most) return;
  throw Error(ErrorCode::kValue, "_npi_bincount",
              "given " + given + ", expected at most " + std::to_string(most) + " bins: with " +
                  std::to_string(bytes) + " bytes each, more do not fit the device");
}

void bincount(const BincountParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const DType dtype = params.has_weights ? context.in(1).dtype : in.dtype;
  int64_t bins = params.minlength;
  check_fits(static_cast<uint64_t>(bins), dtype, "minlength=" + std::to_string(bins), context);
  for_dtype<kIntegers.bits_>(in.dtype, "_npi_bincount", [&](auto type) {
    using T = decltype(type);
    if (in.size() == 0) return;
    const std::vector<T> ends = host_values(context, extremes<T>(in, context), 2);
    const int64_t least{ends[0]}, most{ends[1]};
    if (least < 0)
      throw Error(ErrorCode::kValue, "_npi_bincount",
                  "given " + std::to_string(least) + " in 'data', expected no negative numbers");
    check_fits(static_cast<uint64_t>(most) + 1, dtype, std::to_string(most) + " in 'data'",
               context);
    if (bins <= most) bins = most + 1;
  });
  const Tensor out = context.make_out(0, {bins});
  const Tensor* weights = params.has_weights ? &context.in(1) : nullptr;
  if (is_integer(out.dtype))
    count_into<int64_t>(in, weights, out, context);
  else
    count_into<double>(in, weights, out, context);
}

// --- percentages ---------------------------------------------------------------------------------

// Lines of the elements of each output.
struct GatherLines {
  Reduced elements;
  Numbers<double> in;
  double* lines;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t output = i / elements.count;
    lines[i] = in(elements.at(output, i - output * elements.count));
  }
};
struct PickPercent {
  const double* sorted;
  int64_t count;
  double percent;
  Between between;
  Stored out;
  int64_t first;  // of the results for this percentage
  MX_DEVICE void operator()(int64_t i) const {
    const double *line = sorted + i * count, *last = line + count - 1;
    // A NaN among the elements is the result: in order it comes first or last.
    const bool has_nan = *line != *line || *last != *last;
    out(first + i, has_nan ? static_cast<double>(NAN) : at_percent(line, count, percent, between));
  }
};

std::vector<double> percents(const PercentileParams& params, KernelContext& context) {
  if (params.q_scalar) return {*params.q_scalar};
  const Tensor& q = context.in(1);
  auto* const numbers = context.workspace_of<double>(q.size());
  convert(context.stream()->native(), q, {numbers, &q.shape(), DType::kFloat64});
  std::vector<double> wanted = host_values(context, numbers, q.size());
  for (const double percent : wanted) {
    if (!(percent >= 0.0 && percent <= 100.0))
      throw Error(ErrorCode::kValue, "_npi_percentile",
                  "given a percentage of " + std::to_string(percent) + ", expected 0 to 100");
  }
  return wanted;
}

void percentile(const PercentileParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const std::vector<double> wanted = percents(params, context);
  AxisSet axes = params.axis ? 0 : (AxisSet{1} << in.ndim()) - 1;
  if (params.axis) {
    for (const int64_t axis : params.axis->dims())
      axes |= AxisSet{1} << (axis < 0 ? axis + in.ndim() : axis);  // inferred: in range
  }
  const Reduced elements(in.shape(), axes);
  const int64_t size = elements.outputs * elements.count;
  if (out.size() == 0) return;
  const Shape lines{elements.outputs, elements.count};
  const Tensor gathered{context.workspace_of<double>(size), &lines, DType::kFloat64};
  const Tensor sorted{context.workspace_of<double>(size), &lines, DType::kFloat64};
  for_each(stream, "_npi_percentile", size,
           GatherLines{elements, {in.data, in.dtype}, gathered.as<double>()});
  GpuOrder call{elements.outputs, elements.count, 1, elements.count, true, gathered};
  call.from = &gathered;
  call.taken = &sorted;
  order(stream, call, context);
  for (std::size_t q = 0; q < wanted.size(); ++q) {
    for_each(stream, "_npi_percentile", elements.outputs,
             PickPercent{sorted.as<double>(),
                         elements.count,
                         wanted[q],
                         params.interpolation,
                         {out.data, out.dtype},
                         static_cast<int64_t>(q) * elements.outputs});
  }
}

}  // namespace

void add_counts(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<BincountParams, bincount>("_npi_bincount"));
  rows->push_back(kernel_row<PercentileParams, percentile>("_npi_percentile"));
}

}  // namespace cuda
}  // namespace mxnet

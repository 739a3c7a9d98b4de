// SPDX-License-Identifier: Apache-2.0
// _npi_choice: indices below a, equally likely or by weights, with or without repetition; and
// _npi_multinomial: how often each category comes in n draws.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_key.h"
#include "op/generators/random_streams.h"
#include "op/op_builder.h"
#include "op/random/categories.h"
#include "op/random/distinct_places.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct ChoiceParams {
  std::optional<int64_t> a;  // None: as many as an array has elements, the first input
  std::optional<Shape> size;
  std::string ctx;
  bool replace, weighted;
};

// Those with the largest u^(1 / weight): Efraimidis and Spirakis 2006.
void weighted_without_repetition(Draws& draws, const std::vector<float>& weights, int64_t* out,
                                 int64_t n) {
  std::vector<std::pair<float, int64_t>> keys;
  keys.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    keys.emplace_back(-std::log(draws.uniform<float>()) / weights[i], static_cast<int64_t>(i));
  std::partial_sort(keys.begin(), keys.begin() + n, keys.end());
  for (int64_t i = 0; i < n; ++i) out[i] = keys[static_cast<std::size_t>(i)].second;
}

int64_t count_of(const ChoiceParams& params, const KernelContext& context) {
  return params.a ? *params.a : context.in(0).size();
}
const Tensor& weights_in(const KernelContext& context) { return context.in(context.num_in() - 1); }

std::vector<float> weights_of(const Tensor& tensor) {
  std::vector<float> weights(static_cast<std::size_t>(tensor.size()));
  dispatch_dtype<kFloating>(tensor.dtype, "_npi_choice", [&]<class T>(TypeTag<T>) {
    convert_array(tensor.as<T>(), weights.data(), tensor.size());
  });
  return weights;
}

// Without repetition these are the places of the n smallest of as many numbers as there are to
// choose from: alike distributed, or, by weights, exponential with the weights as rates, which
// gives the distribution of Efraimidis and Spirakis.
void choice_on_gpu(const GpuTable& gpu, const ChoiceParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const int64_t count = count_of(params, context);
  NativeStream* const stream = context.stream()->native();
  const uint64_t key = draw_key(context.device());
  if (!params.weighted && params.replace)
    return gpu.draw_integers(stream, key, 0, static_cast<uint64_t>(count), out);
  if (out.size() == 0) return;
  const Shape all{count}, taken{out.size()};
  const auto scratch = [&](DType dtype) {
    return Tensor{context.workspace(static_cast<std::size_t>(count) * dtype_size(dtype)), &all,
                  dtype};
  };
  const Tensor keys = scratch(params.weighted ? DType::kFloat32 : DType::kInt64);
  if (params.weighted) {
    Tensor weights = weights_in(context);
    if (weights.dtype != DType::kFloat32) {
      const Tensor converted = scratch(DType::kFloat32);
      gpu.convert(stream, weights, converted);
      weights = converted;
    }
    if (params.replace) {
      gpu.running_sum(stream, weights, count, 1, false, false, keys, context);
      return gpu.draw_categories(stream, key, keys, weights, out, nullptr);
    }
    gpu.random(stream, GpuDistribution::kExponential, key, 1, 0, keys);
    gpu.binary(stream, gpu.divide, keys, weights, keys);
  } else {
    gpu.draw_integers(stream, key, 0, uint64_t{1} << 63, keys);
  }
  const Tensor places{out.data, &taken, out.dtype};
  GpuOrder order{
      .outer = 1, .n = count, .inner = 1, .k = out.size(), .ascending = true, .in = keys};
  order.positions = &places;
  gpu.order(stream, order, context);
}

void choice_cpu(const ChoiceParams& params, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) return choice_on_gpu(*gpu, params, context);
  Mt19937& stream = RandomStreams::of(context.device()).sequential();
  int64_t* const out = context.out(0).as<int64_t>();
  const int64_t n = context.out(0).size(), count = count_of(params, context);
  if (!params.weighted && !params.replace) return choose_places(stream, count, out, n);
  Draws draws(stream);
  if (!params.weighted) {
    for (int64_t i = 0; i < n; ++i) out[i] = int64_t{draws.word()} % count;
    return;
  }
  const std::vector<float> weights = weights_of(weights_in(context));
  if (!params.replace) return weighted_without_repetition(draws, weights, out, n);
  std::vector<float> sums(weights.size());
  running_sums(weights.data(), count, sums.data());
  for (int64_t i = 0; i < n; ++i) out[i] = category(sums.data(), count, draws.uniform<float>());
}

MX_OP(_npi_choice, ChoiceParams)
.doc("Random indices below a, or of an array's elements.")
    .input("input1", "The array, of which only the size matters, if a is None; else weights.")
    .input("input2", "Weights, if a is None.")
    .param("a", &ChoiceParams::a, "Number of indices to choose from.")
    .type_text(", required")
    .param("size", &ChoiceParams::size, "Shape of the result.")
    .type_text(", required")
    .param("ctx", &ChoiceParams::ctx, std::string("cpu"), "Device of the result.")
    .param("replace", &ChoiceParams::replace, true, "Whether an index may come more than once.")
    .param("weighted", &ChoiceParams::weighted, false, "Whether weights are given.")
    .num_inputs([](const ChoiceParams& p) { return (p.a ? 0 : 1) + (p.weighted ? 1 : 0); })
    .uses_random()
    .infer([](const ChoiceParams& params, Infer& infer) {
      const Shape shape = params.size.value_or(Shape::scalar());
      infer.out(0).set_shape(shape).set_dtype(DType::kInt64);
      if (!params.a && !infer.in(0).known()) return;
      const int64_t count = params.a ? *params.a : infer.in(0).shape().size();
      if (params.weighted) infer.in(infer.num_in() - 1).set_shape({count});
      if (count < 1) infer.fail(fmt::format("given a = {}, expected at least 1", count));
      if (!params.replace && shape.known() && shape.size() > count)
        infer.fail(
            fmt::format("given {} different indices out of {}, expected no more than there are",
                        shape.size(), count));
    })
    .cpu(choice_cpu)
    .zero_grad();

struct CountsParams {
  int32_t n;
  std::string pvals;  // a tuple, or None where an array gives them
  std::optional<Shape> size;
};

bool given(const CountsParams& params) { return params.pvals != "None"; }

std::vector<double> parsed_pvals(const CountsParams& params) {
  try {
    return ParamText<std::vector<double>>::parse(params.pvals);
  } catch (const ParamError& error) {
    throw Error(ErrorCode::kValue, "_npi_multinomial",
                fmt::format("given pvals '{}' ({}), expected a tuple of numbers", params.pvals,
                            error.detail));
  }
}

// `slack`: what rounding to the type of the numbers may leave above 1.
void check_pvals(const std::vector<double>& pvals, double slack) {
  const double sum = std::accumulate(pvals.begin(), pvals.end(), 0.0);
  const auto outside = std::find_if(pvals.begin(), pvals.end(), [](double p) { return !(p >= 0); });
  if (outside != pvals.end()) {
    throw Error(
        ErrorCode::kValue, "_npi_multinomial",
        fmt::format("given {} in pvals, expected probabilities, which are 0 or more", *outside));
  }
  if (sum > 1 + slack) {
    throw Error(ErrorCode::kValue, "_npi_multinomial",
                fmt::format("given pvals whose sum is {}, expected at most 1", sum));
  }
}

void counts_cpu(const CountsParams& params, KernelContext& context) {
  std::vector<double> pvals;
  if (given(params)) {
    pvals = parsed_pvals(params);
  } else {
    const HostCopy host(context, context.in(0));
    const Tensor& in = host.tensor();
    pvals.resize(static_cast<std::size_t>(in.size()));
    dispatch_dtype<kFloating>(in.dtype, "_npi_multinomial", [&]<class T>(TypeTag<T>) {
      convert_array(in.as<T>(), pvals.data(), in.size());
    });
    check_pvals(pvals, 1e-6);
  }
  const auto categories = static_cast<int64_t>(pvals.size());
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  std::vector<double> sums(pvals.size());
  running_sums(pvals.data(), categories, sums.data());
  if (const GpuTable* gpu = gpu_table(context)) {
    const HostNumbers bits(context, categories);
    for (int64_t i = 0; i < categories; ++i)
      bits.data()[i] = std::bit_cast<int64_t>(sums[static_cast<std::size_t>(i)]);
    const void* const on_device = bits.on_device(context, categories);
    return gpu->count_categories(context.stream()->native(), draw_key(context.device()),
                                 static_cast<const double*>(on_device), params.n, out);
  }
  std::fill_n(out.as<int64_t>(), out.size(), int64_t{0});
  Draws draws(RandomStreams::of(context.device()).sequential());
  for (int64_t row = 0; row < out.size() / categories; ++row) {
    int64_t* counts = out.as<int64_t>() + row * categories;
    for (int32_t i = 0; i < params.n; ++i)
      ++counts[category(sums.data(), categories, draws.uniform<double>())];
  }
  // Under a seed the release draws one number more for each probability that is a parameter.
  for (int64_t i = 0; given(params) && i < categories; ++i) draws.uniform<double>();
}

MX_OP(_npi_multinomial, CountsParams)
.doc("How often each category comes in n draws.")
    .input("a", "Probabilities, if pvals is None.")
    .param("n", &CountsParams::n, "Number of draws.")
    .at_least<int32_t>(0)
    .param("pvals", &CountsParams::pvals, std::string("None"), "Probabilities.")
    .type_text(", optional, default=None")
    .param("size", &CountsParams::size, std::nullopt, "Shape of the result without categories.")
    .num_inputs([](const CountsParams& p) { return given(p) ? 0 : 1; })
    .dtypes(kFloating)
    .uses_random()
    .infer([](const CountsParams& params, Infer& infer) {
      Shape shape = params.size.value_or(Shape::scalar());
      infer.out(0).set_dtype(DType::kInt64);
      if (given(params)) {
        const std::vector<double> pvals = parsed_pvals(params);
        check_pvals(pvals, 1e-12);
        shape.push_back(static_cast<int64_t>(pvals.size()));
      } else {
        if (!infer.in(0).rank_known()) return;
        if (infer.in(0).ndim() != 1) infer.in(0).fail("one dimension");
        shape.push_back(infer.in(0).dim(0));
      }
      infer.out(0).set_shape(shape);
    })
    .cpu(counts_cpu)
    .zero_grad();

// Probabilities are looked at on the host.
[[maybe_unused]] const bool portable =
    mark_portable({"_npi_choice"}) && mark_portable_waiting({"_npi_multinomial"});

}  // namespace
}  // namespace mxnet

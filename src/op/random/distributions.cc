// SPDX-License-Identifier: Apache-2.0
// Each distribution three times: numbers of a given shape (_random_), as many as an array has
// (_random_ ... _like), and some for each element of arrays of parameters (_sample_).
#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

#include "op/generators/random_key.h"
#include "op/generators/random_streams.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/random/distribution_words.h"
#include "op/random/fill.h"
#include "op/random/samplers.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

using namespace samplers;  // NOLINT(google-build-using-namespace): the rows below

// So many numbers of the same parameters are worth a loop of their own.
constexpr int64_t kManyEach = 64;
// Elementary operations a number.
constexpr double kDrawCost = 32.0;

struct RandomParams {
  float first, second;
  int32_t k;  // the first parameter where it is an integer
  Shape shape;
  std::string ctx;
  DType dtype;
};

// Distributions of which a GPU's thread makes several numbers at once.
template <class Dist>
constexpr std::optional<GpuDistribution> kOnGpu = std::is_same_v<Dist, Uniform>
                                                      ? std::optional(GpuDistribution::kUniform)
                                                  : std::is_same_v<Dist, Normal>
                                                      ? std::optional(GpuDistribution::kNormal)
                                                  : std::is_same_v<Dist, Exponential>
                                                      ? std::optional(GpuDistribution::kExponential)
                                                      : std::nullopt;

template <class Dist>
void random_cpu(const RandomParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  if constexpr (kOnGpu<Dist>.has_value()) {
    if (const GpuTable* gpu = gpu_table(context)) {
      return gpu->random(context.stream()->native(), *kOnGpu<Dist>, draw_key(context.device()),
                         params.first, params.second, out);
    }
  }
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->draw(context.stream()->native(), {GpuDraw::Family::kSampler,
                                                  static_cast<int>(kRow<Dist>),
                                                  draw_key(context.device()),
                                                  {},
                                                  {params.first, params.second},
                                                  out});
  }
  dispatch_dtype<kFloating>(out.dtype, "random", [&]<class T>(TypeTag<T>) {
    RandomStreams::of(context.device())
        .deal(out.size(), kDrawCost, [&](Mt19937& stream, int64_t first, int64_t last) {
          fill<Dist>(stream, out.as<T>() + first, last - first, params.first, params.second);
        });
  });
}

// Parameters of any type as double, so that sampling is compiled for the type of the result alone.
const double* as_doubles(const Tensor& tensor, const KernelContext& context) {
  double* const values = context.workspace_of<double>(std::max(tensor.size(), int64_t{1}));
  dispatch_dtype<kNumeric>(tensor.dtype, "sample", [&]<class P>(TypeTag<P>) {
    convert_array(tensor.as<P>(), values, tensor.size());
  });
  return values;
}

template <class Dist>
void sample_on_gpu(const GpuTable& gpu, KernelContext& context) {
  const Tensor& out = context.out(0);
  // Parameters broadcast along the dimensions of what is drawn for each.
  Shape shape = context.in(0).shape();
  while (shape.ndim() < out.ndim()) shape.push_back(1);
  Tensor first = context.in(0), second = context.in(context.num_in() - 1);
  first.shape_ptr = second.shape_ptr = &shape;
  gpu.draw(context.stream()->native(), {GpuDraw::Family::kSampler,
                                        static_cast<int>(kRow<Dist>),
                                        draw_key(context.device()),
                                        {&first, &second},
                                        {},
                                        out});
}

// Element i belongs to the parameters at i / (numbers a parameter).
template <class Dist>
void sample_cpu(const RandomParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context)) return sample_on_gpu<Dist>(*gpu, context);
  const double* const a = as_doubles(context.in(0), context);
  const double* const b = as_doubles(context.in(context.num_in() - 1), context);
  const int64_t sets = context.in(0).size();
  const int64_t each = sets == 0 ? 1 : std::max(out.size() / sets, int64_t{1});
  dispatch_dtype<kFloating>(out.dtype, "sample", [&]<class T>(TypeTag<T>) {
    using F = DrawType<Dist, T>;
    RandomStreams::of(context.device())
        .deal(out.size(), kDrawCost, [&](Mt19937& stream, int64_t first, int64_t last) {
          if constexpr (kCounts<Dist>) {
            // Up to the first parameters that no loop is for.
            while (each >= kManyEach && first < last) {
              const int64_t at = first / each, end = std::min(last, (at + 1) * each);
              if (!fill_counts<Dist>(stream, out.as<T>() + first, end - first,
                                     static_cast<F>(a[at]), static_cast<F>(b[at])))
                break;
              first = end;
            }
          }
          if constexpr (kOfStandard<Dist>) {
            draw_as<F>(out.as<T>(), first, last, [&](F* part, int64_t from, int64_t to) {
              fill_of_standard<Dist>(stream, part, from, to, a, b, each);
            });
          } else if constexpr (std::is_same_v<Dist, Poisson>) {
            draw_as<float>(out.as<T>(), first, last, [&](float* part, int64_t from, int64_t to) {
              fill_poisson_of_means(stream, part, from, to, a, each);
            });
          } else {
            Draws draws(stream);
            for (int64_t i = first; i < last; ++i) {
              const int64_t at = i / each;
              out.as<T>()[i] = static_cast<T>(
                  Dist::template draw<F>(draws, static_cast<F>(a[at]), static_cast<F>(b[at])));
            }
          }
        });
  });
}

DType type_or_float(DType given) { return given == DType::kUnknown ? DType::kFloat32 : given; }

// Numbers that are no parameters of the distribution are refused at the call. Arrays of parameters
// are not looked at: there such elements give NaN.
template <class Dist>
void check_numbers(const RandomParams& params, Infer& infer) {
  const float numbers[] = {
      std::string_view(Dist::kParams[0].name) == "k" ? static_cast<float>(params.k) : params.first,
      params.second};
  for (std::size_t i = 0; i < Dist::kParams.size(); ++i) {
    const ParamFacts& facts = Dist::kParams[i];
    if (!samplers::holds(facts.domain, numbers[i]))
      infer.fail(samplers::refusal(facts.name, numbers[i], facts.domain));
  }
  if (std::is_same_v<Dist, samplers::Uniform> && params.first > params.second) {
    infer.fail(
        fmt::format("given low {} and high {}, expected low <= high", params.first, params.second));
  }
}

template <class Dist>
void infer_random(const RandomParams& params, Infer& infer) {
  check_numbers<Dist>(params, infer);
  InferArg out = infer.out(0);
  out.set_shape(params.shape);
  if (params.dtype != DType::kUnknown || out.dtype() == DType::kUnknown)
    out.set_dtype(type_or_float(params.dtype));
}

template <class Dist>
void infer_like(const RandomParams& params, Infer& infer) {
  check_numbers<Dist>(params, infer);
  infer.in(0).same_as(infer.out(0));
}

void infer_sample(const RandomParams& params, Infer& infer) {
  InferArg in = infer.in(0);
  const Shape made = infer.out(0).shape();
  // The dimensions of the parameters stand in front of those of each element's numbers.
  if (!in.known() && made.ndim() > params.shape.ndim()) {
    Shape shape = Shape::scalar();
    for (int i = 0; i < made.ndim() - params.shape.ndim(); ++i) shape.push_back(made[i]);
    in.set_shape(shape);
  }
  for (int i = 1; i < infer.num_in(); ++i) in.same_as(infer.in(i));
  if (in.rank_known()) {
    Shape shape = in.shape();
    for (int64_t dim : params.shape) shape.push_back(dim);
    infer.out(0).set_shape(shape);
  }
  if (params.dtype != DType::kUnknown) {
    infer.out(0).set_dtype(params.dtype);
  } else if (infer.out(0).dtype() == DType::kUnknown) {
    infer.out(0).set_dtype(DType::kFloat32);  // whatever the parameters' type
  }
}

using Op = OpBuilder<RandomParams>;
constexpr DTypeSet kDrawn = DTypeSet::of(DType::kFloat32, DType::kFloat64, DType::kFloat16);
// None in quotes, unlike in other enumerations.
constexpr const char* kTypeText =
    "{'None', 'float16', 'float32', 'float64'},optional, default='None'";

template <class Dist>
void numbers(Op& op) {
  constexpr float RandomParams::*kFields[] = {&RandomParams::first, &RandomParams::second};
  for (std::size_t i = 0; i < Dist::kParams.size(); ++i) {
    const ParamFacts& facts = Dist::kParams[i];
    if (std::string_view(facts.name) == "k") {
      op.param("k", &RandomParams::k, 1, "Parameter of the distribution.");
    } else {
      op.param(facts.name, kFields[i], facts.initial, "Parameter of the distribution.");
    }
  }
}

// `k` is parsed as an integer and used as a number.
void negative_binomial_cpu(const RandomParams& params, KernelContext& context) {
  RandomParams numbers = params;
  numbers.first = static_cast<float>(params.k);
  random_cpu<NegativeBinomial>(numbers, context);
}

template <class Dist>
constexpr auto kernel_of() {
  if constexpr (std::is_same_v<Dist, NegativeBinomial>)
    return &negative_binomial_cpu;
  else
    return &random_cpu<Dist>;
}

template <class Dist>
void define(const std::string& name, std::initializer_list<const char*> more_aliases = {}) {
  const auto doc = [&name](Op& op, const char* rest) {
    doc_of_distribution(op, "Random numbers of", name, rest);
  };
  Op random(("_random_" + name).c_str());
  doc(random, ".");
  random.alias(("random_" + name).c_str());
  for (const char* alias : more_aliases) random.alias(alias);
  numbers<Dist>(random);
  random.param("shape", &RandomParams::shape, Shape(), "Shape of the result.")
      .param("ctx", &RandomParams::ctx, std::string(), "Device of the result.")
      .dtype_param("dtype", &RandomParams::dtype, kDrawn, true, "None", "Type of the result.")
      .type_text(kTypeText)
      .uses_random()
      .infer(infer_random<Dist>)
      .cpu(kernel_of<Dist>());

  Op like(("_random_" + name + "_like").c_str());
  doc(like, ", as many as there are elements in an array.");
  like.input("data", "The array.");
  numbers<Dist>(like);
  like.type_only(0)
      .dtypes(kFloating)
      .uses_random()
      .infer(infer_like<Dist>)
      .cpu(kernel_of<Dist>())
      .zero_grad();
  mark_portable("_random_" + name);
  mark_portable("_random_" + name + "_like");

  Op sample(("_sample_" + name).c_str());
  doc(sample, " for each element of arrays of its parameters.");
  sample.alias(("sample_" + name).c_str());
  for (const ParamFacts& facts : Dist::kParams)
    sample.input(facts.arg, "Parameter of the distribution.");
  sample
      .param("shape", &RandomParams::shape, Shape::scalar(),
             "Shape of the numbers for each element.")
      .dtype_param("dtype", &RandomParams::dtype, kDrawn, true, "None", "Type of the result.")
      .type_text(kTypeText)
      .dtypes(kNumeric)
      .uses_random()
      .infer(infer_sample)
      .cpu(sample_cpu<Dist>)
      .zero_grad();
  mark_portable("_sample_" + name);
}

[[maybe_unused]] const bool defined = [] {
  define<Uniform>("uniform", {"uniform"});
  define<Normal>("normal", {"normal"});
  define<Gamma>("gamma");
  define<Exponential>("exponential");
  define<Poisson>("poisson");
  define<NegativeBinomial>("negative_binomial");
  define<GeneralizedNegativeBinomial>("generalized_negative_binomial");
  return true;
}();

}  // namespace
}  // namespace mxnet

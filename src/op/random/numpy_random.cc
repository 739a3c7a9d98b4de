// SPDX-License-Identifier: Apache-2.0
// Distributions of the NumPy front end: parameters are numbers or arrays that broadcast, numbers
// come out of the sequential stream, and what can be written as a function of a parameter and of
// noise has a gradient: the slope is a hidden second output.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "op/generators/random_draws.h"
#include "op/generators/random_key.h"
#include "op/generators/random_streams.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/random/broadcast_walk.h"
#include "op/random/bulk.h"
#include "op/random/domain.h"
#include "op/random/numpy_gamma.h"
#include "op/random/numpy_samplers.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

using samplers::Domain;

struct NumpyParams {
  std::optional<float> first, second;
  std::optional<Shape> size;
  std::string ctx;
  DType dtype = DType::kFloat32;  // of operators that have no such parameter
  bool is_logit;
};
using namespace numpy_samplers;  // NOLINT(google-build-using-namespace): the rows below
using Op = OpBuilder<NumpyParams>;

// What the numbers that are given for the two parameters must be.
struct Rule {
  const char* name = "";
  Domain domain = Domain::kAny;
};
using Rules = std::array<Rule, 2>;
constexpr Rule kFree, kScale{"scale", Domain::kNotNegative}, kShape{"a", Domain::kPositive};

template <class Dist>
constexpr Rules kRules{};
template <>
constexpr Rules kRules<Normal>{kFree, kScale};
template <>
constexpr Rules kRules<Gumbel>{kFree, kScale};
template <>
constexpr Rules kRules<Logistic>{kFree, kScale};
template <>
constexpr Rules kRules<Exponential>{kScale};
template <>
constexpr Rules kRules<Rayleigh>{kScale};
template <>
constexpr Rules kRules<Weibull>{kShape};
template <>
constexpr Rules kRules<Pareto>{kShape};
template <>
constexpr Rules kRules<Power>{kShape};
template <>
constexpr Rules kRules<Gamma>{Rule{"shape", Domain::kPositive}, Rule{"scale", Domain::kPositive}};

// A parameter as floats: the number given, or the array.
class ParamValues {
 public:
  ParamValues(const std::optional<float>& number, const KernelContext& context, int* next_input)
      : number_(number.value_or(0)) {
    if (number) return;
    const Tensor& in = context.in((*next_input)++);
    shape_ = &in.shape();
    float* floats = context.workspace_of<float>(in.size());
    dispatch_dtype<kNumeric>(in.dtype, "random", [&]<class T>(TypeTag<T>) {
      convert_array(in.as<T>(), floats, in.size());
    });
    values_ = floats;
  }
  const Shape& shape() const { return shape_ != nullptr ? *shape_ : scalar_; }
  float operator[](int64_t i) const { return values_ != nullptr ? values_[i] : number_; }

 private:
  const Shape scalar_ = Shape::scalar();
  const Shape* shape_ = nullptr;
  const float* values_ = nullptr;
  const float number_;
};

template <class Dist>
void draw_on_gpu(const GpuTable& gpu, const std::optional<float>& first,
                 const std::optional<float>& second, KernelContext& context) {
  int next_input = 0;
  const Tensor* const a = first ? nullptr : &context.in(next_input++);
  const Tensor* const b = second || Dist::kParams == 1 ? nullptr : &context.in(next_input);
  gpu.draw(context.stream()->native(), {GpuDraw::Family::kNumpy,
                                        static_cast<int>(kRow<Dist>),
                                        draw_key(context.device()),
                                        {a, b},
                                        {first.value_or(0), second.value_or(0)},
                                        context.out(0),
                                        Dist::kSlope ? &context.out(1) : nullptr});
}

constexpr int64_t kBlock = 512;

// What a number is made of, in blocks: a uniform number; for Normal that is noise already.
template <class Dist>
void fill_noise(Mt19937& stream, float* noise, int64_t n) {
  if constexpr (std::is_same_v<Dist, Normal>)
    fill_normal_pairs(stream, noise, n);
  else
    stream.fill_uniform(noise, n, 0.0f, 1.0f);
}

struct Drawn {
  float number;
  template <class F>
  F uniform() const {
    static_assert(std::is_same_v<F, float>);
    return number;
  }
};

// Numbers as elements [start, start + n) of an array of any type.
void store(const float* numbers, int64_t n, const Tensor& out, int64_t start) {
  dispatch_dtype(out.dtype, "random",
                 [&]<class T>(TypeTag<T>) { convert_array(numbers, out.as<T>() + start, n); });
}

template <class Dist>
void draw_cpu(const std::optional<float>& first, const std::optional<float>& second,
              KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return draw_on_gpu<Dist>(*gpu, first, second, context);
  int next_input = 0;
  const ParamValues a(first, context, &next_input);
  const ParamValues b(Dist::kParams == 2 ? second : std::optional<float>(0.0f), context,
                      &next_input);
  const Tensor& out = context.out(0);
  Mt19937& stream = RandomStreams::of(context.device()).sequential();
  Dist dist;
  std::array<float, kBlock> noise, values, slopes;
  BroadcastWalk walk(a.shape(), b.shape(), out.shape());
  const bool fixed = a.shape().ndim() == 0 && b.shape().ndim() == 0;
  for (int64_t start = 0; start < out.size(); start += kBlock) {
    const int64_t n = std::min(kBlock, out.size() - start);
    if (std::is_same_v<Dist, Uniform> && fixed) {
      stream.fill_uniform(values.data(), n, a[0], b[0] - a[0]);
      store(values.data(), n, out, start);
      continue;
    }
    fill_noise<Dist>(stream, noise.data(), n);
    const auto draw = [&](std::size_t i, float first_param, float second_param) {
      const Drawn drawn{noise[i]};
      Sample sample;
      if constexpr (std::is_same_v<Dist, Normal>)
        sample = scaled(drawn.number, first_param, second_param);
      else
        sample = dist(drawn, first_param, second_param);
      values[i] = sample.value;
      if constexpr (Dist::kSlope) slopes[i] = sample.slope;
    };
    const auto count = static_cast<std::size_t>(n);
    if (fixed) {
      const float first_param = a[0], second_param = b[0];
      for (std::size_t i = 0; i < count; ++i) draw(i, first_param, second_param);
    } else {
      for (std::size_t i = 0; i < count; ++i, walk.next()) draw(i, a[walk.a()], b[walk.b()]);
    }
    store(values.data(), n, out, start);
    if constexpr (Dist::kSlope) store(slopes.data(), n, context.out(1), start);
  }
}

template <>
void draw_cpu<Gamma>(const std::optional<float>& first, const std::optional<float>& second,
                     KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return draw_on_gpu<Gamma>(*gpu, first, second, context);
  int next_input = 0;
  const ParamValues shape(first, context, &next_input), scale(second, context, &next_input);
  const Tensor& out = context.out(0);
  const int64_t size = out.size();
  float* const shapes = context.workspace_of<float>(size);
  BroadcastWalk to_shapes(shape.shape(), scale.shape(), out.shape());
  for (int64_t i = 0; i < size; ++i, to_shapes.next()) shapes[i] = shape[to_shapes.a()];
  double* const numbers = context.workspace_of<double>(size);
  draw_gamma_in_rounds(RandomStreams::of(context.device()).sequential(), shapes, size,
                       context.workspace_of<uint32_t>(4 * size),
                       context.workspace_of<int64_t>(size), numbers);
  dispatch_dtype(out.dtype, "random", [&]<class T>(TypeTag<T>) {
    BroadcastWalk to_scales(shape.shape(), scale.shape(), out.shape());
    for (int64_t i = 0; i < size; ++i, to_scales.next())
      out.as<T>()[i] = convert<T>(numbers[i] * scale[to_scales.b()]);
  });
}

template <class Dist>
void numpy_cpu(const NumpyParams& params, KernelContext& context) {
  draw_cpu<Dist>(params.first, params.second, context);
  // Under a seed the release draws one number more after those of this distribution.
  if constexpr (std::is_same_v<Dist, Power>) {
    if (gpu_table(context) == nullptr)
      Draws(RandomStreams::of(context.device()).sequential()).uniform<float>();
  }
}

void bernoulli_cpu(const NumpyParams& params, KernelContext& context) {
  if (params.is_logit) return draw_cpu<BernoulliLogit>(params.second, {}, context);
  draw_cpu<Bernoulli>(params.first, {}, context);
}

template <int kParams>
int arrays(const NumpyParams& params) {
  return (params.first ? 0 : 1) + (kParams == 2 && !params.second ? 1 : 0);
}

// kBefore: `size` counts draws for each element, in dimensions before the parameters' own;
// otherwise it is the shape of the result.
template <bool kBefore>
void infer_numpy(const NumpyParams& params, Infer& infer) {
  Shape shape = Shape::scalar();
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).rank_known()) return;
    Shape joint;
    if (!broadcast_shapes(shape, infer.in(i).shape(), &joint))
      infer.in(i).fail("a shape that broadcasts with " + to_string(shape));
    shape = joint;
  }
  if (params.size && kBefore) {
    Shape all = *params.size;
    for (int64_t dim : shape) all.push_back(dim);
    shape = all;
  } else if (params.size && params.size->ndim() > 0) {  // () asks for the parameters' own shape
    Shape joint;
    if (!broadcast_shapes(shape, *params.size, &joint) || !(joint == *params.size))
      infer.fail("given parameters of shape " + to_string(shape) +
                 ", expected one that broadcasts to size " + to_string(*params.size));
    shape = *params.size;
  }
  for (int o = 0; o < infer.num_out(); ++o) infer.out(o).set_shape(shape);
  for (int o = 0; o < infer.num_out(); ++o) infer.out(o).set_dtype(params.dtype);
}

// Numbers that are no parameters of the distribution are refused at the call; elements of arrays
// are not looked at.
template <class Dist, bool kBefore>
void infer_drawn(const NumpyParams& params, Infer& infer) {
  const std::array<std::optional<float>, 2> numbers{params.first, params.second};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [name, domain] = kRules<Dist>[i];
    if (!numbers[i] || samplers::holds(domain, *numbers[i])) continue;
    infer.fail(samplers::refusal(name, *numbers[i], domain));
  }
  infer_numpy<kBefore>(params, infer);
}

void infer_bernoulli(const NumpyParams& params, Infer& infer) {
  const bool given = !params.is_logit && params.first.has_value();
  if (given && !(*params.first >= 0 && *params.first <= 1))
    infer.fail(fmt::format("given prob = {}, expected a number from 0 to 1", *params.first));
  infer_numpy<false>(params, infer);
}

// The last parameter multiplies the slope; a location before it has slope 1.
template <int kParams>
Gradients slope_gradient(const NumpyParams& params, Grad& grad) {
  Gradients gradients;
  if (kParams == 2 && !params.first)
    gradients.push_back(apply("_sum_to_like", {grad.dout(0), grad.in(0)}));
  if (kParams == 1 ? !params.first : !params.second) {
    gradients.push_back(
        apply("_sum_to_like", {grad.dout(0) * grad.out(1), grad.in(grad.num_in() - 1)}));
  }
  return gradients;
}

constexpr DTypeSet kDrawn = DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64);
constexpr const char* kParamDoc = "Parameter of the distribution; None: the next input gives it.";

template <class Dist, bool kBefore = false>
Op define(const char* name, const char* doc) {
  Op op(name);
  op.doc(doc).input("input1", "First parameter that is an array.");
  if (Dist::kParams == 2) op.input("input2", "Second parameter that is an array.");
  op.num_inputs(arrays<Dist::kParams>)
      .dtypes(kNumeric)
      .uses_random()
      .infer(infer_drawn<Dist, kBefore>)
      .cpu(numpy_cpu<Dist>);
  if (Dist::kSlope) {
    op.outputs([](const NumpyParams&) { return 2; }).visible_outputs([](const NumpyParams&) {
      return 1;
    });
    op.grad(slope_gradient<Dist::kParams>);
  } else {
    op.zero_grad();
  }
  return op;
}

Op& size_and_device(Op& op) {
  return op
      .param("size", &NumpyParams::size, std::nullopt,
             "Shape of the result; None: that of the parameters.")
      .param("ctx", &NumpyParams::ctx, std::string("cpu"), "Device of the result.");
}

template <class Dist, bool kBefore = false>
void define_two(const char* name, const char* doc, const char* first, const char* second,
                bool typed) {
  Op op = define<Dist, kBefore>(name, doc);
  op.param(first, &NumpyParams::first, kParamDoc).param(second, &NumpyParams::second, kParamDoc);
  size_and_device(op);
  if (typed)
    op.dtype_param("dtype", &NumpyParams::dtype, kDrawn, false, "float32", "Type of the result.");
}

template <class Dist>
void define_one(const char* name, const char* doc, const char* param,
                std::optional<float> initial) {
  Op op = define<Dist>(name, doc);
  op.param(param, &NumpyParams::first, initial, kParamDoc);
  size_and_device(op);
}

[[maybe_unused]] const bool defined = [] {
  define_two<Uniform>("_npi_uniform", "Uniform numbers in [low, high).", "low", "high", true);
  define_two<Uniform, true>("_npi_uniform_n",
                            "Uniform numbers in [low, high), `size` for each element.", "low",
                            "high", true);
  define_two<Normal>("_npi_normal", "Normal numbers.", "loc", "scale", true);
  define_two<Normal, true>("_npi_normal_n", "Normal numbers, `size` for each element.", "loc",
                           "scale", true);
  define_two<Gamma>("_npi_gamma", "Gamma distributed numbers.", "shape", "scale", true);
  define_two<Gumbel>("_npi_gumbel", "Gumbel distributed numbers.", "loc", "scale", false);
  define_two<Logistic>("_npi_logistic", "Logistic numbers.", "loc", "scale", false);
  define_one<Exponential>("_npi_exponential", "Exponential numbers.", "scale", 1.0f);
  define_one<Rayleigh>("_npi_rayleigh", "Rayleigh distributed numbers.", "scale", 1.0f);
  define_one<Weibull>("_npi_weibull", "Weibull distributed numbers.", "a", std::nullopt);
  define_one<Pareto>("_npi_pareto", "Pareto (Lomax) distributed numbers.", "a", std::nullopt);
  Op power = define<Power>("_npi_powerd", "Numbers in [0, 1] with density a x^(a - 1).");
  power.param("a", &NumpyParams::first, std::nullopt, kParamDoc)
      .param("size", &NumpyParams::size, std::nullopt,
             "Shape of the result; None: that of the parameters.");

  Op bernoulli("_npi_bernoulli");
  bernoulli.doc("Ones with a given probability, else zeros.")
      .input("input1", "Probabilities or logits.")
      .param("prob", &NumpyParams::first, "Probability; None: the input gives it.")
      .param("logit", &NumpyParams::second, "Logarithm of the odds; None: the input gives it.");
  size_and_device(bernoulli)
      .dtype_param("dtype", &NumpyParams::dtype,
                   kDrawn | DTypeSet::of(DType::kBool, DType::kInt32, DType::kUInt8), false,
                   "float32", "Type of the result.")
      .param("is_logit", &NumpyParams::is_logit, "Whether logits are given.")
      .num_inputs([](const NumpyParams& p) { return (p.is_logit ? p.second : p.first) ? 0 : 1; })
      .dtypes(kNumeric)
      .uses_random()
      .infer(infer_bernoulli)
      .cpu(bernoulli_cpu)
      .zero_grad();
  return mark_portable({"_npi_uniform", "_npi_uniform_n", "_npi_normal", "_npi_normal_n",
                        "_npi_gamma", "_npi_gumbel", "_npi_logistic", "_npi_exponential",
                        "_npi_rayleigh", "_npi_weibull", "_npi_pareto", "_npi_powerd",
                        "_npi_bernoulli"});
}();

}  // namespace
}  // namespace mxnet

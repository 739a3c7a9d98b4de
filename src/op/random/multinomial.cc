// SPDX-License-Identifier: Apache-2.0
// _sample_multinomial: categories by the probabilities along the last axis, and on request the
// logarithms of their probabilities, through which gradients flow (REINFORCE).
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_key.h"
#include "op/generators/random_streams.h"
#include "op/loops/row_io.h"
#include "op/op_builder.h"
#include "op/random/categories.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

struct MultinomialParams {
  Shape shape;
  bool get_prob;
  DType dtype;
};
constexpr DTypeSet kDrawn =
    DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUInt8);

struct Rows {
  explicit Rows(const Tensor& data, const Tensor& out)
      : categories(data.shape().back()),
        count(categories == 0 ? 0 : data.size() / categories),
        each(count == 0 ? 0 : out.size() / count) {}
  const int64_t categories, count, each;
};

void multinomial_on_gpu(const GpuTable& gpu, const Rows& rows, const Tensor* logs,
                        KernelContext& context) {
  const Tensor& data = context.in(0);
  NativeStream* const stream = context.stream()->native();
  Tensor numbers = data;
  if (data.dtype != DType::kFloat32) {
    numbers = {context.workspace_of<float>(data.size()), data.shape_ptr, DType::kFloat32};
    gpu.convert(stream, data, numbers);
  }
  const Tensor sums{context.workspace_of<float>(data.size()), data.shape_ptr, DType::kFloat32};
  gpu.running_sum(stream, numbers, rows.categories, 1, false, false, sums, context);
  gpu.draw_categories(stream, draw_key(context.device()), sums, data, context.out(0), logs);
}

void multinomial_cpu(const MultinomialParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  const Tensor& out = context.out(0);
  const Rows rows(data, out);
  if (const GpuTable* gpu = gpu_table(context))
    return multinomial_on_gpu(*gpu, rows, params.get_prob ? &context.out(1) : nullptr, context);
  float* const sums = context.workspace_of<float>(rows.categories);
  Draws draws(RandomStreams::of(context.device()).sequential());
  dispatch_dtype<kFloating>(data.dtype, "_sample_multinomial", [&]<class P>(TypeTag<P>) {
    dispatch_dtype<kDrawn>(out.dtype, "_sample_multinomial", [&]<class T>(TypeTag<T>) {
      for (int64_t row = 0; row < rows.count; ++row) {
        const P* probabilities = data.as<P>() + row * rows.categories;
        running_sums(probabilities, rows.categories, sums);
        for (int64_t i = row * rows.each; i < (row + 1) * rows.each; ++i) {
          const int64_t drawn = category(sums, rows.categories, draws.uniform<float>());
          if constexpr (std::is_arithmetic_v<T>) {
            out.as<T>()[i] = static_cast<T>(drawn);
          } else {
            out.as<T>()[i] = static_cast<T>(static_cast<float>(drawn));
          }
          if (!params.get_prob) continue;
          using C = ComputeType<P>;
          context.out(1).as<P>()[i] =
              static_cast<P>(std::log(static_cast<C>(probabilities[drawn])));
        }
      }
    });
  });
}

// Inputs: gradient of the logarithms, probabilities, categories.
void multinomial_backward_cpu(const MultinomialParams&, KernelContext& context) {
  const Tensor& data = context.in(1);
  const Tensor& drawn = context.in(2);
  const Rows rows(data, drawn);
  dispatch_dtype<kFloating>(data.dtype, "_sample_multinomial", [&]<class P>(TypeTag<P>) {
    using C = ComputeType<P>;
    P* const out = context.out(0).as<P>();
    std::fill_n(out, data.size(), P(0.0f));
    for (int64_t i = 0; i < rows.count * rows.each; ++i) {
      const auto category = static_cast<int64_t>(read_element(drawn, i));
      if (category < 0 || category >= rows.categories) {
        throw Error(ErrorCode::kIndex, fmt::format("given category {} in 'drawn', expected one "
                                                   "from 0 to {}",
                                                   category, rows.categories - 1));
      }
      const int64_t at = i / rows.each * rows.categories + category;
      const C slope = static_cast<C>(context.in(0).as<P>()[i]) / static_cast<C>(data.as<P>()[at]);
      out[at] = static_cast<P>(static_cast<C>(out[at]) + slope);
    }
  });
}

// How many categories a type tells apart, from 0 on.
int64_t most_categories(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return 256;
    case DType::kFloat16:
      return 2049;
    case DType::kFloat32:
      return (int64_t{1} << 24) + 1;
    default:
      return int64_t{1} << 31;
  }
}

void infer_multinomial(const MultinomialParams& params, Infer& infer) {
  const Shape& data = infer.in(0).shape();
  infer.out(0).set_dtype(params.dtype);
  if (params.get_prob) infer.in(0).same_dtype(infer.out(1));
  if (!data.rank_known()) return;
  if (data.ndim() == 0 || data.back() == 0) infer.in(0).fail("probabilities along the last axis");
  if (data.back() > most_categories(params.dtype)) {
    infer.in(0).fail(
        fmt::format("at most {} probabilities along the last axis, whose places {} "
                    "tells apart",
                    most_categories(params.dtype), dtype_name(params.dtype)));
  }
  Shape shape(data.dims().first(static_cast<std::size_t>(data.ndim() - 1)));
  for (int64_t dim : params.shape) shape.push_back(dim);
  if (shape.ndim() == 0) shape = Shape({1});
  infer.out(0).set_shape(shape);
  if (params.get_prob) infer.out(1).set_shape(shape);
}

MX_OP(_sample_multinomial, MultinomialParams)
.doc("Categories by the probabilities along the last axis.")
    .alias("sample_multinomial")
    .input("data", "Probabilities, which sum to 1 along the last axis.")
    .param("shape", &MultinomialParams::shape, Shape::scalar(), "Shape of the draws for each row.")
    .param("get_prob", &MultinomialParams::get_prob, false,
           "Logarithms of probabilities as a second output.")
    .dtype_param("dtype", &MultinomialParams::dtype, kDrawn, false, "int32",
                 "Type of the categories.")
    .outputs([](const MultinomialParams& p) { return p.get_prob ? 2 : 1; })
    .dtypes(kFloating)
    .uses_random()
    .infer(infer_multinomial)
    .cpu(multinomial_cpu)
    .grad([](const MultinomialParams& params, Grad& grad) {
      if (!params.get_prob || !grad.has_dout(1)) return Gradients(1);
      return Gradients{apply("_backward_sample_multinomial",
                             {grad.dout(1), grad.in(0), grad.out(0)}, grad.attrs())};
    });

MX_OP(_backward_sample_multinomial, MultinomialParams)
.doc("Gradient of the probabilities by the logarithms of those drawn.")
    .input("head_grad", "Gradient of the logarithms.")
    .input("data", "Probabilities.")
    .input("drawn", "Categories.")
    .param("shape", &MultinomialParams::shape, Shape::scalar(), "As in the forward call.")
    .param("get_prob", &MultinomialParams::get_prob, false, "As in the forward call.")
    .dtype_param("dtype", &MultinomialParams::dtype, kDrawn, false, "int32",
                 "As in the forward call.")
    .infer([](const MultinomialParams& params, Infer& infer) {
      MultinomialParams forward = params;
      forward.get_prob = true;
      infer.follow(infer_multinomial, forward, {infer.in(1)}, {infer.in(2), infer.in(0)});
      infer.in(1).same_as(infer.out(0)).same_dtype(infer.in(0));
    })
    .cpu(multinomial_backward_cpu);
[[maybe_unused]] const bool portable = mark_portable({"_sample_multinomial"});

}  // namespace
}  // namespace mxnet

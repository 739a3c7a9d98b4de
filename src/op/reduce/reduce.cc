// SPDX-License-Identifier: Apache-2.0
// Reductions of the array front end: a row of the list below is an operator.
#include <initializer_list>

#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/reduce/gradients.h"
#include "op/reducing/evaluate.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

AxisChoice choice(const ReduceParams& params) {
  return {params.axis, params.keepdims, params.exclude, AxisStyle::kArray};
}

// clang-format off
// Columns: name, aliases, reduction, finish, gradient, doc.
#define MX_ARRAY_REDUCTIONS(ROW) \
  ROW(sum,         ({"_sparse_sum", "sum_axis"}), sum,         kValue, sum_gradient,        "Sum over axes.") \
  ROW(mean,        ({"_sparse_mean"}),            sum,         kMean,  mean_gradient,       "Mean over axes; that of integers is truncated.") \
  ROW(prod,        ({}),                          prod,        kValue, prod_gradient,       "Product over axes.") \
  ROW(nansum,      ({}),                          nansum,      kValue, nansum_gradient,     "Sum over axes; NaN counts as zero.") \
  ROW(nanprod,     ({}),                          nanprod,     kValue, nanprod_gradient,    "Product over axes; NaN counts as one.") \
  ROW(max,         ({"max_axis"}),                max,         kValue, extremum_gradient,   "Largest element over axes; NaN where there is one.") \
  ROW(min,         ({"min_axis"}),                min,         kValue, extremum_gradient,   "Smallest element over axes; NaN where there is one.") \
  ROW(_square_sum, ({}),                          sum_squares, kValue, square_sum_gradient, "Sum of squares over axes.")
// clang-format on

#define MX_ENUM(name, aliases, reduction, finish, gradient, doc) name,
enum class Row { MX_ARRAY_REDUCTIONS(MX_ENUM) };
#undef MX_ENUM

template <Row row>
constexpr const char* kName = "";
#define MX_NAME(name, aliases, reduction, finish, gradient, doc) \
  template <>                                                    \
  constexpr const char* kName<Row::name> = #name;
MX_ARRAY_REDUCTIONS(MX_NAME)
#undef MX_NAME

template <Row row>
void infer(const ReduceParams& params, Infer& infer) {
  infer.one_dtype();
  if (!infer.in(0).rank_known()) return;
  infer.out(0).set_shape(choice(params).shape(infer.in(0).shape(), kName<row>));
}

template <Row row>
void run_cpu(const ReduceParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const AxisSet axes = choice(params).axes(in.ndim(), kName<row>);
#define MX_RUN(name, aliases, reduction, finish, gradient, doc) \
  if constexpr (row == Row::name) {                             \
    ReduceCall call{Reduction::reduction, Finish::finish};      \
    if (row == Row::prod && in.size() == 0) call.initial = 1;   \
    return reduce_to(call, in, axes, context.out(0), context);  \
  }
  MX_ARRAY_REDUCTIONS(MX_RUN)
#undef MX_RUN
}

template <Row row>
Gradients gradient_of(const ReduceParams& params, Grad& grad) {
#define MX_GRADIENT(name, aliases, reduction, finish, gradient, doc) \
  if constexpr (row == Row::name) return gradient(choice(params), grad);
  MX_ARRAY_REDUCTIONS(MX_GRADIENT)
#undef MX_GRADIENT
}

template <Row row>
bool define(std::initializer_list<const char*> aliases, const char* doc) {
  OpBuilder<ReduceParams> op(kName<row>);
  for (const char* alias : aliases) op.alias(alias);
  op.doc(doc)
      .input("data", "The input array.")
      .param(
          "axis", &ReduceParams::axis, std::optional<Shape>(),
          "Axes to reduce; all, if none or an empty tuple is given. Negative ones count from the "
          "end.")
      .param("keepdims", &ReduceParams::keepdims, false,
             "Whether reduced axes stay as dimensions of size one.")
      .param("exclude", &ReduceParams::exclude, false,
             "Whether to reduce all axes but those of `axis`.")
      .dtypes(kAllTypes)
      .infer(infer<row>)
      .cpu(run_cpu<row>)
      .grad(gradient_of<row>);
  mark_portable(kName<row>);
  return true;
}

#define MX_STRIP(...) __VA_ARGS__
#define MX_DEFINE(name, aliases, reduction, finish, gradient, doc) \
  [[maybe_unused]] const bool defined_##name = define<Row::name>(MX_STRIP aliases, doc);
MX_ARRAY_REDUCTIONS(MX_DEFINE)
#undef MX_DEFINE

}  // namespace
}  // namespace mxnet

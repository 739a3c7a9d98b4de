// SPDX-License-Identifier: Apache-2.0
// Reductions of the NumPy front end: sum, prod and mean (with a result type), max and min, any and
// all.
#include "op/op_builder.h"
#include "op/reduce/gradients.h"
#include "op/reducing/evaluate.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

struct NumpyParams {
  std::optional<Shape> axis;
  DType dtype = DType::kUnknown;
  bool keepdims;
  std::optional<double> initial;
  AxisChoice choice() const { return {axis, keepdims, false, AxisStyle::kNumpy}; }
};

enum class Row { kSum, kProd, kMean, kMax, kMin, kAny, kAll };

struct RowFacts {
  const char* name;
  Reduction reduction;
  Finish finish;
};
constexpr RowFacts kRows[] = {
    {"_np_sum", Reduction::sum, Finish::kValue},  {"_np_prod", Reduction::prod, Finish::kValue},
    {"_npi_mean", Reduction::sum, Finish::kMean}, {"_np_max", Reduction::max, Finish::kValue},
    {"_np_min", Reduction::min, Finish::kValue},  {"_np_any", Reduction::any, Finish::kValue},
    {"_np_all", Reduction::all, Finish::kValue},
};
template <Row row>
constexpr RowFacts kFacts = kRows[static_cast<int>(row)];

// Sums and products of bool are int64, means of integers and bool float32.
template <Row row>
DType result_type(const NumpyParams& params, DType in) {
  if (row == Row::kAny || row == Row::kAll) return DType::kBool;
  if (row == Row::kMax || row == Row::kMin) return in;
  if (params.dtype != DType::kUnknown) return params.dtype;
  if (row == Row::kMean) return in == DType::kUnknown || is_floating(in) ? in : DType::kFloat32;
  return in == DType::kBool ? DType::kInt64 : in;
}

template <Row row>
void infer_row(const NumpyParams& params, Infer& infer) {
  // Of an array of which nothing else is known: only sums of bool would have another type.
  const bool keeps_type = row <= Row::kMin && row != Row::kMean && params.dtype == DType::kUnknown;
  if (keeps_type && infer.in(0).dtype() == DType::kUnknown)
    infer.in(0).set_dtype(infer.out(0).dtype());
  infer.out(0).set_dtype(result_type<row>(params, infer.in(0).dtype()));
  if (!infer.in(0).rank_known()) return;
  const Shape& shape = infer.in(0).shape();
  infer.out(0).set_shape(params.choice().shape(shape, kFacts<row>.name));
  if ((row == Row::kMax || row == Row::kMin) && !params.initial && shape.known() &&
      reduced_count(shape, params.choice().axes(shape.ndim(), kFacts<row>.name)) == 0) {
    infer.in(0).fail("at least one element to choose from, or `initial`");
  }
}

template <Row row>
void run_cpu(const NumpyParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  reduce_to({kFacts<row>.reduction, kFacts<row>.finish, params.initial}, in,
            params.choice().axes(in.ndim(), kFacts<row>.name), context.out(0), context);
}

template <Row row>
OpBuilder<NumpyParams> declare(const char* argument, const char* doc) {
  OpBuilder<NumpyParams> op(kFacts<row>.name);
  op.doc(doc)
      .input(argument, "The input array.")
      .param("axis", &NumpyParams::axis, std::optional<Shape>(),
             "Axes to reduce; all, if none is given.");
  if (row <= Row::kMean) {
    op.dtype_param("dtype", &NumpyParams::dtype,
                   DTypeSet::of(DType::kBool, DType::kFloat16, DType::kFloat32, DType::kFloat64,
                                DType::kInt8, DType::kInt32, DType::kInt64),
                   true, "None", "Type of the result.");
  }
  op.param("keepdims", &NumpyParams::keepdims, false,
           "Whether reduced axes stay as dimensions of size one.");
  if (row <= Row::kMin) {
    op.param("initial", &NumpyParams::initial, std::optional<double>(),
             "A value that meets the elements as one more of them.");
  }
  op.infer(infer_row<row>).cpu(run_cpu<row>);
  mark_portable(kFacts<row>.name);
  return op;
}

template <Gradients (*rule)(const AxisChoice&, Grad&)>
Gradients by(const NumpyParams& params, Grad& grad) {
  return rule(params.choice(), grad);
}

[[maybe_unused]] const bool defined = [] {
  declare<Row::kSum>("a", "Sum over axes.").grad(by<sum_gradient>);
  declare<Row::kProd>("a", "Product over axes.").alias("_np_product").grad(by<prod_gradient>);
  declare<Row::kMean>("a", "Mean over axes.").grad(by<mean_gradient>);
  declare<Row::kMax>("a", "Largest element over axes; NaN where there is one.")
      .alias("_np_amax")
      .grad(by<extremum_gradient>);
  declare<Row::kMin>("a", "Smallest element over axes; NaN where there is one.")
      .alias("_np_amin")
      .grad(by<extremum_gradient>);
  declare<Row::kAny>("data", "Whether any element over axes is not zero.")
      .alias("_np_sometrue")
      .zero_grad();
  declare<Row::kAll>("data", "Whether no element over axes is zero.").zero_grad();
  return true;
}();

}  // namespace
}  // namespace mxnet

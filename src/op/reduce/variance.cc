// SPDX-License-Identifier: Apache-2.0
// Mean and variance together: moments, _npi_var and _npi_std. Two passes, the second about the
// mean: exact also where the mean is large and the variance small.
#include <array>
#include <cmath>
#include <vector>

#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reduce/gradients.h"
#include "op/reducing/evaluate.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/reduce_engine.h"
#include "op/rows/binary_loops.h"
#include "op/rows/unary_loops.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

// mean_and_variance() on a GPU, by primitives: the array as double, the mean, what is left without
// it, and the mean of the squares of that.
void mean_and_variance_on_gpu(const GpuTable& gpu, const Tensor& in, AxisSet axes, int64_t ddof,
                              bool root, const Tensor& mean, const Tensor& variance,
                              KernelContext& context) {
  NativeStream* stream = context.stream()->native();
  Shape kept = in.shape();
  for (int i = 0; i < kept.ndim(); ++i)
    if ((axes >> i & 1) != 0) kept[i] = 1;
  const auto scratch = [&](const Shape& shape) {
    return Tensor{context.workspace_of<double>(shape.size() + 1), &shape, DType::kFloat64};
  };
  const bool whole = kIntegers.contains(mean.dtype);
  const Tensor x = scratch(in.shape()), middle = scratch(kept);
  gpu.convert(stream, in, x);
  reduce_to({.reduction = Reduction::sum, .finish = Finish::kMean}, x, axes, middle, context);
  gpu.convert(stream, middle, mean);
  // Integer results are what integer arithmetic gives: about the truncated mean.
  if (whole) gpu.convert(stream, mean, middle);
  gpu.binary(stream, static_cast<int>(BinaryRow::subtract), x, middle, x);
  reduce_to({.reduction = Reduction::sum_squares, .finish = Finish::kMean, .ddof = ddof}, x, axes,
            middle, context);
  if (whole) gpu.unary(stream, static_cast<int>(UnaryRow::trunc), middle, middle);
  if (root) gpu.unary(stream, static_cast<int>(UnaryRow::sqrt), middle, middle);
  gpu.convert(stream, middle, variance);
}

// Writes the mean, and the mean square distance from it (its root, if `root`), both of one type.
// Always in double.
void mean_and_variance(const Tensor& in, AxisSet axes, int64_t ddof, bool root, const Tensor& mean,
                       const Tensor& variance, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return mean_and_variance_on_gpu(*gpu, in, axes, ddof, root, mean, variance, context);
  const ReducePlan plan(in.shape(), axes);
  const double n = static_cast<double>(plan.extent());
  double* means = context.workspace_of<double>(std::max<int64_t>(plan.outputs(), 1));
  const double divisor = std::max(0.0, n - static_cast<double>(ddof));
  dispatch_dtype(mean.dtype, "variance", [&]<class T>(TypeTag<T>) {
    reduce<double>(Reduction::sum, in, plan, [&](int64_t first, const double* sums, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const T value = convert<T>(sums[i] / n);
        mean.as<T>()[first + i] = value;
        // Integer results are what integer arithmetic gives: about the truncated mean.
        means[first + i] = std::is_integral_v<T> ? static_cast<double>(value) : sums[i] / n;
      }
    });
    const auto store = [&](int64_t first, const double* squares, int64_t count) {
      std::array<double, reduce_units::kMostValues> values;
      for (int64_t i = 0; i < count; ++i) {
        const double value = squares[i] / divisor;
        values[static_cast<std::size_t>(i)] = std::is_integral_v<T> ? std::trunc(value) : value;
      }
      if (root) unary_loop<double>(UnaryRow::sqrt).value(values.data(), values.data(), count);
      for (int64_t i = 0; i < count; ++i)
        variance.as<T>()[first + i] = convert<T>(values[static_cast<std::size_t>(i)]);
    };
    reduce<double>(Reduction::sum_squares_about, in, plan, store, means);
  });
}

struct MomentsParams {
  std::optional<Shape> axes;
  bool keepdims;
  AxisChoice choice() const { return {axes, keepdims, false, AxisStyle::kArray}; }
};

// d mean / dx = 1 / n; d var / dx = 2 (x - mean) / n.
Value variance_gradient(const AxisChoice& choice, const Value& dvar, const Value& x,
                        const Value& mean) {
  const Value centred = x - spread_value(choice, mean, x);
  return spread_mean(choice, dvar * 2.0, x) * centred;
}

MX_OP(moments, MomentsParams)
.doc("Mean and variance over axes.")
    .input("data", "The input array.")
    .param("axes", &MomentsParams::axes, std::optional<Shape>(),
           "Axes to reduce; all, if none is given.")
    .param("keepdims", &MomentsParams::keepdims, false,
           "Whether reduced axes stay as dimensions of size one.")
    .outputs([](const MomentsParams&) { return 2; })
    .dtypes(kNumeric)
    .infer([](const MomentsParams& params, Infer& infer) {
      infer.one_dtype();
      if (!infer.in(0).rank_known()) return;
      const Shape shape = params.choice().shape(infer.in(0).shape(), "moments");
      infer.out(0).set_shape(shape);
      infer.out(1).set_shape(shape);
    })
    .cpu([](const MomentsParams& params, KernelContext& context) {
      const Tensor& in = context.in(0);
      mean_and_variance(in, params.choice().axes(in.ndim(), "moments"), 0, false, context.out(0),
                        context.out(1), context);
    })
    .grad([](const MomentsParams& params, Grad& grad) {
      const AxisChoice choice = params.choice();
      const Value x = grad.in(0);
      Value dx;
      if (grad.has_dout(0)) dx = spread_mean(choice, grad.dout(0), x);
      if (grad.has_dout(1)) dx = dx + variance_gradient(choice, grad.dout(1), x, grad.out(0));
      return Gradients{dx};
    });

struct VarianceParams {
  std::optional<Shape> axis;
  DType dtype = DType::kUnknown;
  int32_t ddof;
  bool keepdims;
  AxisChoice choice() const { return {axis, keepdims, false, AxisStyle::kNumpy}; }
};

// Output 0 is the result, output 1 the mean, which only the gradient sees.
template <bool root>
bool define(const char* name, const char* output) {
  OpBuilder<VarianceParams>(name)
      .doc(root ? "Standard deviation over axes." : "Variance over axes.")
      .input("a", "The input array.")
      .param("axis", &VarianceParams::axis, std::optional<Shape>(),
             "Axes to reduce; all, if none is given.")
      .dtype_param("dtype", &VarianceParams::dtype,
                   DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt8,
                                DType::kInt32, DType::kInt64),
                   true, "None", "Type of the result; that of the input, if none is given.")
      .param("ddof", &VarianceParams::ddof, 0,
             "The sum of squares is divided by the number of elements less this.")
      .param("keepdims", &VarianceParams::keepdims, false,
             "Whether reduced axes stay as dimensions of size one.")
      .output(output)
      .output("mean")
      .outputs([](const VarianceParams&) { return 2; })
      .visible_outputs([](const VarianceParams&) { return 1; })
      .infer([](const VarianceParams& params, Infer& infer) {
        // Of truth values as of a mean's: there is hardly one that a truth value could hold.
        if (params.dtype == DType::kUnknown && infer.in(0).dtype() == DType::kUnknown)
          infer.in(0).set_dtype(infer.out(0).dtype());
        const DType given = infer.in(0).dtype();
        const DType in = given == DType::kBool ? DType::kFloat32 : given;
        for (int i = 0; i < 2; ++i) {
          infer.out(i).set_dtype(params.dtype == DType::kUnknown ? in : params.dtype);
          if (!infer.in(0).rank_known()) continue;
          infer.out(i).set_shape(params.choice().shape(infer.in(0).shape(), "_npi_var"));
        }
      })
      .cpu([](const VarianceParams& params, KernelContext& context) {
        const Tensor& in = context.in(0);
        mean_and_variance(in, params.choice().axes(in.ndim(), "_npi_var"), params.ddof, root,
                          context.out(1), context.out(0), context);
      })
      .grad([](const VarianceParams& params, Grad& grad) {
        // d var = 2 (x - mean) / (n - ddof), d std = (x - mean) / ((n - ddof) std), 0 of constants.
        const AxisChoice choice = params.choice();
        const Value x = grad.in(0);
        Value dx;
        if (grad.has_dout(0)) {
          const Value centred = x - spread_value(choice, grad.out(1), x);
          const Value dy = root ? over_root(grad.dout(0), grad.out(0)) : grad.dout(0) * 2.0;
          Attrs attrs = spread_attrs(choice);
          attrs.emplace_back("ddof", std::to_string(params.ddof));
          dx = apply("_backward_mean", {dy, x}, std::move(attrs)) * centred;
        }
        // The mean's, where this gradient, which reads it, is differentiated itself.
        if (grad.has_dout(1)) dx = dx + spread_mean(choice, grad.dout(1), x);
        return Gradients{dx};
      });
  return true;
}

[[maybe_unused]] const bool defined = define<false>("_npi_var", "var") &&
                                      define<true>("_npi_std", "std") &&
                                      mark_portable({"moments", "_npi_var", "_npi_std"});

}  // namespace
}  // namespace mxnet

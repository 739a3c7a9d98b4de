// SPDX-License-Identifier: Apache-2.0
// Makes operators of the binary rows: on equal shapes, on broadcast shapes, and with a scalar on
// either side.
#include <string>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/elemwise/binary_kernel.h"
#include "op/elemwise/binary_names.h"
#include "op/elemwise/expr.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

struct ScalarParams {
  double scalar;
  bool is_int;
};

// Slopes as graphs, for gradients that are differentiated again and for broadcast shapes.
Expr slope_expr(BinaryRow row, bool left, const Expr& a, const Expr& b) {
  using T = Expr;
  switch (row) {
#define MX_SLOPE_CASE(name, doc, value, slope_a, slope_b) \
  case BinaryRow::name:                                   \
    return left ? (slope_a) : (slope_b);
    MX_BINARY_ROWS(MX_SLOPE_CASE)
#undef MX_SLOPE_CASE
    default:
      return T(0);
  }
}

const char* row_doc(BinaryRow row) {
  static constexpr const char* kDocs[] = {
#define MX_ROW_DOC(name, doc, ...) doc,
      MX_BINARY_ROWS(MX_ROW_DOC) MX_COMPARE_ROWS(MX_ROW_DOC)
#undef MX_ROW_DOC
  };
  return kDocs[static_cast<int>(row)];
}

std::string slope_op(BinaryRow row, bool left) {
  static constexpr const char* kNames[] = {
#define MX_ROW_NAME(name, ...) #name,
      MX_BINARY_ROWS(MX_ROW_NAME)
#undef MX_ROW_NAME
  };
  return std::string("_backward_") + kNames[static_cast<int>(row)] + (left ? "_lhs" : "_rhs");
}

template <BinaryRow row>
void binary_cpu(const NoParams&, KernelContext& context) {
  run_binary(row, context.in(0), context.in(1), context.out(0));
}

template <BinaryRow row, bool left>
void slope_cpu(const NoParams&, KernelContext& context) {
  run_binary_slope(row, left, context.in(0), context.in(1), context.in(2), context.out(0));
}

// The array in the type of the result: integers meet a fractional scalar as float64.
Tensor widened(const Tensor& in, DType dtype, KernelContext& context) {
  if (in.dtype == dtype) return in;
  double* wide = context.workspace_of<double>(in.size());
  dispatch_dtype(in.dtype, "scalar",
                 [&]<class T>(TypeTag<T>) { convert_array(in.as<T>(), wide, in.size()); });
  return {wide, in.shape_ptr, DType::kFloat64};
}

template <BinaryRow row, bool scalar_left>
void scalar_cpu(const ScalarParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  run_binary_scalar(row, widened(context.in(0), out.dtype, context), params.scalar, scalar_left,
                    out);
}

void infer_equal(const NoParams&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.one_dtype();
}

void infer_broadcast(const NoParams&, Infer& infer) {
  infer.broadcast(0, 1);
  infer.one_dtype();
}

void infer_scalar(const ScalarParams& params, Infer& infer) {
  infer.in(0).same_shape(infer.out(0));
  if (infer.in(0).dtype() == DType::kUnknown) {
    infer.in(0).set_dtype(infer.out(0).dtype());
  }
  const DType in = infer.in(0).dtype();
  infer.out(0).set_dtype(
      params.is_int || in == DType::kUnknown || is_floating(in) ? in : DType::kFloat64);
}

// The gradient of one argument at equal shapes.
template <BinaryRow row>
Value equal_gradient(Grad& grad, bool left) {
  const Expr dy(grad.dout(0));
  const bool linear = row == BinaryRow::add || row == BinaryRow::subtract;
  if (grad.differentiable() || linear)
    return (dy * slope_expr(row, left, Expr(grad.in(0)), Expr(grad.in(1)))).value();
  return apply(slope_op(row, left), {grad.dout(0), grad.in(0), grad.in(1)});
}

template <BinaryRow row>
Gradients gradient_elementwise(const NoParams&, Grad& grad) {
  Gradients result(2);
  if constexpr (!is_comparison(row)) {
    for (int i = 0; i < 2; ++i) {
      if (grad.wants(i)) result[static_cast<std::size_t>(i)] = equal_gradient<row>(grad, i == 0);
    }
  }
  return result;
}

// As above for shapes that broadcast; what a dimension of one has spread is summed up again.
template <BinaryRow row>
Gradients gradient_broadcast(const NoParams&, Grad& grad) {
  Gradients result(2);
  if constexpr (!is_comparison(row)) {
    for (int i = 0; i < 2; ++i) {
      if (!grad.wants(i)) continue;
      const Expr full =
          Expr(grad.dout(0)) * slope_expr(row, i == 0, Expr(grad.in(0)), Expr(grad.in(1)));
      result[static_cast<std::size_t>(i)] = apply("_sum_to_like", {full.value(), grad.in(i)});
    }
  }
  return result;
}

template <BinaryRow row, bool scalar_left>
Gradients gradient_scalar(const ScalarParams& params, Grad& grad) {
  if constexpr (is_comparison(row)) {
    return {Value()};
  } else {
    const Expr array(grad.in(0)), scalar(params.scalar);
    const Expr slope =
        scalar_left ? slope_expr(row, false, scalar, array) : slope_expr(row, true, array, scalar);
    return {(Expr(grad.dout(0)) * slope).value()};
  }
}

template <class P>
void set_names(OpBuilder<P>& op, const NameList& names) {
  for (std::size_t i = 1; i < names.size(); ++i) op.alias(names[i]);
}

template <BinaryRow row>
void define_arrays(const NameList& names, void (*infer)(const NoParams&, Infer&),
                   Gradients (*gradient)(const NoParams&, Grad&)) {
  OpBuilder<NoParams> op(names[0]);
  set_names(op, names);
  op.doc(row_doc(row)).input("lhs", "First argument.").input("rhs", "Second argument.").lenient();
  op.dtypes(kNumeric).inplace(0, 0).inplace(1, 0).infer(infer).cpu(binary_cpu<row>).grad(gradient);
}

template <BinaryRow row, bool scalar_left>
void define_scalar(const NameList& names) {
  if (names.empty()) return;
  OpBuilder<ScalarParams> op(names[0]);
  set_names(op, names);
  op.doc(row_doc(row)).input("data", "The array.");
  op.param("scalar", &ScalarParams::scalar, 1.0, "The number.");
  op.param("is_int", &ScalarParams::is_int, true,
           "Whether the number is an integer; a fractional one makes integer arrays float64.");
  op.dtypes(kNumeric)
      .inplace(0, 0)
      .infer(infer_scalar)
      .cpu(scalar_cpu<row, scalar_left>)
      .grad(gradient_scalar<row, scalar_left>);
}

template <BinaryRow row, bool left>
void define_slope() {
  OpBuilder<NoParams>(slope_op(row, left).c_str())
      .doc("Gradient of one argument of the operator after whose row it is called.")
      .input("head_grad", "Gradient of the output.")
      .input("lhs", "First argument.")
      .input("rhs", "Second argument.")
      .dtypes(kNumeric)
      .inplace(0, 0)
      .inplace(1, 0)
      .inplace(2, 0)
      .infer(infer_equal)
      .cpu(slope_cpu<row, left>);
}

template <BinaryRow row>
bool define() {
  const BinaryNames& names = binary_names()[static_cast<std::size_t>(row)];
  MX_ASSERT(names.row == row);
  define_arrays<row>(names.elementwise, infer_equal, gradient_elementwise<row>);
  define_arrays<row>(names.broadcast, infer_broadcast, gradient_broadcast<row>);
  define_scalar<row, false>(names.scalar);
  define_scalar<row, true>(names.scalar_left);
  if constexpr (!is_comparison(row)) {
    define_slope<row, true>();
    define_slope<row, false>();
  }
  return true;
}

#define MX_DEFINE_ROW(name, ...) \
  [[maybe_unused]] const bool defined_##name = define<BinaryRow::name>();
MX_BINARY_ROWS(MX_DEFINE_ROW)
MX_COMPARE_ROWS(MX_DEFINE_ROW)
#undef MX_DEFINE_ROW

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Makes operators of the binary rows with a number on one side, under the names of both front ends.

#include <cmath>

#include "op/elemwise/binary_names.h"
#include "op/elemwise/binary_slope.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/pointwise.h"
#include "op/rows/binary_kernel.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

// A fractional number makes integers float64, an integer one makes bool int64.
DType widened(DType in, bool is_int) {
  if (in == DType::kUnknown || is_floating(in)) return in;
  if (!is_int) return DType::kFloat64;
  return in == DType::kBool ? DType::kInt64 : in;
}

bool fits(double scalar, DType dtype) {
  return dispatch_dtype(dtype, "scalar", [&]<class T>(TypeTag<T>) {
    return static_cast<double>(convert<T>(scalar)) == scalar;
  });
}

// The type in which a NumPy comparison is made: half types as float, and what the type of the array
// cannot hold in float64, so that an int8 array is below 300. A number beside bool is a bool too.
DType compared(DType in, const ScalarParams& params) {
  if (in == DType::kFloat16 || in == DType::kBFloat16) return DType::kFloat32;
  if (in == DType::kBool) return in;
  const DType wide = widened(in, params.is_int);
  return is_floating(wide) || fits(params.scalar, wide) ? wide : DType::kFloat64;
}

DType result_type(BinaryRow row, bool numpy, DType in, bool is_int) {
  if (in == DType::kUnknown) return in;
  if (numpy && is_comparison(row)) return DType::kBool;
  if (numpy && row == BinaryRow::divide) return is_floating(in) ? in : DType::kFloat32;
  return is_integer_only(row) ? in : widened(in, is_int);
}

// A number beside half-precision elements has their precision, as an element would.
double rounded(double scalar, DType dtype) {
  if (dtype == DType::kFloat16) return static_cast<double>(convert<float16>(scalar));
  if (dtype == DType::kBFloat16) return static_cast<double>(convert<bfloat16>(scalar));
  return scalar;
}

void run_scalar(BinaryRow row, bool scalar_left, bool numpy, const ScalarParams& params,
                KernelContext& context) {
  const Tensor& in = context.in(0);
  Tensor out = context.out(0);
  double scalar = params.scalar;
  DType type = out.dtype;
  if (numpy && is_comparison(row)) {
    type = compared(in.dtype, params);
    scalar = rounded(scalar, in.dtype);
  } else if (type == DType::kBool) {  // bit operations: 0 and 1 are what uint8 has
    type = out.dtype = DType::kUInt8;
    scalar = scalar != 0.0 ? 1.0 : 0.0;
  }
  run_binary_scalar(row, as_type(in, type, context), scalar, scalar_left, out, context);
}

template <BinaryRow row, bool scalar_left, bool numpy>
void scalar_cpu(const ScalarParams& params, KernelContext& context) {
  run_scalar(row, scalar_left, numpy, params, context);
}

void infer_row(BinaryRow row, bool numpy, const ScalarParams& params, Infer& infer) {
  InferArg in = infer.in(0), out = infer.out(0);
  in.same_shape(out);
  if (in.dtype() == DType::kUnknown && !(numpy && is_comparison(row))) in.set_dtype(out.dtype());
  if (is_integer_only(row) && is_floating(in.dtype())) in.fail("integers");
  out.set_dtype(result_type(row, numpy, in.dtype(), params.is_int));
}

template <BinaryRow row, bool numpy>
void infer_scalar(const ScalarParams& params, Infer& infer) {
  infer_row(row, numpy, params, infer);
}

Gradients row_gradient(BinaryRow row, bool scalar_left, const ScalarParams& params, Grad& grad) {
  if (!has_slope(row)) return {Value()};
  // x to the power of 0 is 1 everywhere, while the slope's x to the power of -1 may be infinite.
  if (row == BinaryRow::power && !scalar_left && params.scalar == 0)
    return {apply("zeros_like", {grad.in(0)})};
  const Expr array(grad.in(0));
  const bool cut = !grad.floating() && params.is_int &&
                   std::trunc(params.scalar) != params.scalar && has_fractions(row, !scalar_left);
  const Expr scalar = cut ? Expr(zeros_like(grad.in(0)) + params.scalar) : Expr(params.scalar);
  // Not by the inverse, which no integer is.
  if (row == BinaryRow::divide && !scalar_left) return {(Expr(grad.dout(0)) / scalar).value()};
  // The sign costs nothing where it is the number's, which integers without signs have not.
  if (row == BinaryRow::divide && grad.floating())
    return {(Expr(grad.dout(0)) * (Expr(-params.scalar) / array / array)).value()};
  return {scalar_left ? times_slope(row, false, grad, scalar, array)
                      : times_slope(row, true, grad, array, scalar)};
}
template <BinaryRow row, bool scalar_left>
Gradients gradient(const ScalarParams& params, Grad& grad) {
  return row_gradient(row, scalar_left, params, grad);
}

// What an operator takes as functions; all else is the same code for each row.
struct OpFunctions {
  void (*infer)(const ScalarParams&, Infer&);
  void (*cpu)(const ScalarParams&, KernelContext&);
  Gradients (*gradient)(const ScalarParams&, Grad&);
};
template <BinaryRow row, bool scalar_left, bool numpy>
constexpr OpFunctions kFunctions = {infer_scalar<row, numpy>, scalar_cpu<row, scalar_left, numpy>,
                                    gradient<row, scalar_left>};

void define_one(BinaryRow row, const OpFunctions& functions, const NameList& names) {
  if (names.empty() || names[0] == nullptr) return;
  OpBuilder<ScalarParams> op(names[0]);
  for (std::size_t i = 1; i < names.size(); ++i) op.alias(names[i]);
  op.doc(row_doc(row)).input("data", "The array.");
  op.param("scalar", &ScalarParams::scalar, 1.0, "The number.");
  op.param("is_int", &ScalarParams::is_int, true,
           "Whether the number is an integer; a fractional one makes integer arrays float64.");
  op.dtypes(kAllTypes).inplace(0, 0);
  op.infer(functions.infer).cpu(functions.cpu).grad(functions.gradient);
  mark_pointwise(names[0]);
  mark_portable(names[0]);
}

// The number on the right and on the left, for each front end.
struct RowFunctions {
  OpFunctions right, left, numpy_right, numpy_left;
};

void define(BinaryRow row, const RowFunctions& functions) {
  const BinaryNames& names = binary_names()[static_cast<std::size_t>(row)];
  define_one(row, functions.right, names.scalar);
  define_one(row, functions.left, names.scalar_left);
  define_one(row, functions.numpy_right, {names.numpy_scalar});
  define_one(row, functions.numpy_left, {names.numpy_scalar_left});
  // On dense arrays these are what their names say; sparse ones change only what they store.
  if (row == BinaryRow::add) define_one(row, functions.right, {"_scatter_plus_scalar"});
  if (row == BinaryRow::subtract) define_one(row, functions.right, {"_scatter_minus_scalar"});
}

[[maybe_unused]] const bool defined = for_each_row([](auto row) {
  static constexpr RowFunctions kAll = {kFunctions<row, false, false>, kFunctions<row, true, false>,
                                        kFunctions<row, false, true>, kFunctions<row, true, true>};
  define(row, kAll);
});

}  // namespace
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Makes operators of the binary rows: on equal shapes, on broadcast shapes, as well as their
// fused gradients.
#include <string>

#include "base/error.h"
#include "op/elemwise/binary_names.h"
#include "op/elemwise/binary_slope.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/rows/binary_kernel.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

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
  run_binary(row, context.in(0), context.in(1), context.out(0), context);
}

template <BinaryRow row, bool left>
void slope_cpu(const NoParams&, KernelContext& context) {
  run_binary_slope(row, left, context.in(0), context.in(1), context.in(2), context.out(0), context);
}

// Nearly each call: inputs of one shape and type, known in full, and an output that has them too or
// gets them. False: the rule is to be followed argument by argument.
bool inputs_tell_all(Infer& infer) {
  const InferArg first = infer.in(0);
  const Shape& shape = first.shape();
  const DType dtype = first.dtype();
  if (dtype == DType::kUnknown) return false;
  for (int i = 1; i < infer.num_in(); ++i) {
    const InferArg arg = infer.in(i);
    if (arg.dtype() != dtype || arg.shape() != shape) return false;
  }
  InferArg out = infer.out(0);
  const Shape& known = out.shape();
  if (known == shape) {
    if (out.dtype() == dtype) return true;
  } else if (known.rank_known() || !shape.known()) {
    return false;
  } else {
    out.set_shape(shape);
  }
  out.set_dtype(dtype);
  return true;
}

void infer_equal(const NoParams&, Infer& infer) {
  if (inputs_tell_all(infer)) return;
  const bool all_told = infer.in(0).known();
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  // What the first had to learn the others have to hear.
  for (int i = 1; !all_told && i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.one_dtype();
}

void infer_broadcast(const NoParams&, Infer& infer) {
  infer.broadcast(0, 1);
  infer.one_dtype();
}

// The gradient of one argument at equal shapes.
Value equal_gradient(BinaryRow row, Grad& grad, bool left) {
  const bool linear = row == BinaryRow::add || row == BinaryRow::subtract;
  if (grad.differentiable() || linear)
    return times_slope(row, left, grad, Expr(grad.in(0)), Expr(grad.in(1)));
  return apply(slope_op(row, left), {grad.dout(0), grad.in(0), grad.in(1)});
}

// As above for shapes that broadcast; what a dimension of one has spread is summed up again.
Value broadcast_gradient(BinaryRow row, Grad& grad, bool left) {
  const Value full = times_slope(row, left, grad, Expr(grad.in(0)), Expr(grad.in(1)));
  const int i = left ? 0 : 1;
  return grad.same_shape(i) ? full : apply("_sum_to_like", {full, grad.in(i)});
}

Gradients row_gradients(BinaryRow row, Grad& grad, Value (*of_one)(BinaryRow, Grad&, bool left)) {
  Gradients result(2);
  for (int i = 0; i < 2 && has_slope(row); ++i) {
    if (grad.wants(i)) result[static_cast<std::size_t>(i)] = of_one(row, grad, i == 0);
  }
  return result;
}
template <BinaryRow row>
Gradients gradient_elementwise(const NoParams&, Grad& grad) {
  return row_gradients(row, grad, equal_gradient);
}
template <BinaryRow row>
Gradients gradient_broadcast(const NoParams&, Grad& grad) {
  return row_gradients(row, grad, broadcast_gradient);
}

using Kernel = void (*)(const NoParams&, KernelContext&);

void define_arrays(BinaryRow row, const NameList& names, void (*infer)(const NoParams&, Infer&),
                   Kernel cpu, Gradients (*gradient)(const NoParams&, Grad&)) {
  if (names.empty()) return;
  OpBuilder<NoParams> op(names[0]);
  for (std::size_t i = 1; i < names.size(); ++i) op.alias(names[i]);
  op.doc(row_doc(row)).input("lhs", "First argument.").input("rhs", "Second argument.").lenient();
  // Networks that were read from ONNX ask questions of bool too.
  op.dtypes(is_comparison(row) ? kAllTypes : kNumeric).inplace(0, 0).inplace(1, 0);
  op.infer(infer).cpu(cpu).grad(gradient);
  mark_pointwise(names[0]);
  mark_portable(names[0]);
}

void define_slope(BinaryRow row, bool left, Kernel cpu) {
  const std::string name = slope_op(row, left);
  OpBuilder<NoParams>(name.c_str())
      .doc("Gradient of one argument of the operator after whose row it is called.")
      .input("head_grad", "Gradient of the output.")
      .input("lhs", "First argument.")
      .input("rhs", "Second argument.")
      .dtypes(kNumeric)
      .inplace(0, 0)
      .inplace(1, 0)
      .inplace(2, 0)
      .infer(infer_equal)
      .cpu(cpu);
  mark_pointwise(name);
  mark_portable(name);
}

// What the operators of a row take as functions; all else is the same code for each row.
struct RowFunctions {
  Kernel cpu;
  Gradients (*elementwise)(const NoParams&, Grad&);
  Gradients (*broadcast)(const NoParams&, Grad&);
  Kernel left_slope, right_slope;
};

void define(BinaryRow row, const RowFunctions& of_row) {
  const BinaryNames& names = binary_names()[static_cast<std::size_t>(row)];
  MX_ASSERT(names.row == row);
  const auto equal = [&](const NameList& list) {
    define_arrays(row, list, infer_equal, of_row.cpu, of_row.elementwise);
  };
  equal(names.elementwise);
  define_arrays(row, names.broadcast, infer_broadcast, of_row.cpu, of_row.broadcast);
  // Sums of gradients, and a quotient that on sparse arrays changes only what they store.
  if (row == BinaryRow::add) equal({"_grad_add"});
  if (row == BinaryRow::divide) equal({"_scatter_elemwise_div"});
  if (has_slope(row)) {
    define_slope(row, true, of_row.left_slope);
    define_slope(row, false, of_row.right_slope);
  }
}

[[maybe_unused]] const bool defined = for_each_row([](auto row) {
  define(row, {binary_cpu<row>, gradient_elementwise<row>, gradient_broadcast<row>,
               slope_cpu<row, true>, slope_cpu<row, false>});
});

}  // namespace
}  // namespace mxnet

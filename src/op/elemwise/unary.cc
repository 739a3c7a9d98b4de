// SPDX-License-Identifier: Apache-2.0
// Makes operators of the unary rows: each under its own name, again under _npi_ for the NumPy front
// end, and its fused gradient.
#include <string>
#include <vector>

#include "op/elemwise/expr.h"
#include "op/loops/blockwise.h"
#include "op/moving/past_caches.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/rows/byte_table.h"
#include "op/rows/unary_loops.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr DTypeSet kTypes = kNumeric;
// Elementary operations an element, for the decision about threads: a row of the maths library is
// several, one that is exact is one.
double cost_of(UnaryRow row, DType dtype) {
  switch (row) {
#define MX_EXACT_CASE(name, ...) case UnaryRow::name:
    MX_UNARY_EXACT_ROWS(MX_EXACT_CASE)
#undef MX_EXACT_CASE
    return 1.0;
    default:
      return tuned_cost(dtype, 8.0);
  }
}

struct RowFacts {
  const char* name;
  const char* doc;
  std::vector<const char*> aliases;
  SlopeUses uses;
};

const RowFacts& facts(UnaryRow row) {
#define MX_STRIP(...) __VA_ARGS__
#define MX_ROW_FACTS(name, aliases, doc, value, slope, uses) \
  {#name, doc, {MX_STRIP aliases}, SlopeUses::uses},
  // Kept for ever: threads may be at work while the program ends.
  static const auto& all =
      *new std::vector<RowFacts>{MX_UNARY_ROWS(MX_ROW_FACTS) MX_UNARY_EXACT_ROWS(MX_ROW_FACTS)};
#undef MX_ROW_FACTS
#undef MX_STRIP
  return all[static_cast<std::size_t>(row)];
}

// Not templates of the row: one loop over threads a type, not one a row and type.
void run_value(UnaryRow row, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->unary(context.stream()->native(), static_cast<int>(row), in, out);
  dispatch_dtype<kTypes>(in.dtype, facts(row).name, [&]<class T>(TypeTag<T>) {
    // The whole part of exp(18) needs more digits than float has.
    using Number = std::conditional_t<std::is_integral_v<T>, double, float>;
    if constexpr (kIsByte<T>) {
      if (in.size() >= kTableFrom && unary_loop<T>(row).value == nullptr) {
        return run_by_table<T>(in, out, [&](const T* x, T* y) {
          through<Number>(unary_loop<Number>(row).value, y, 256, x);
        });
      }
    }
    parallel_for(in.size(), cost_of(row, in.dtype), [&](int64_t first, int64_t last) {
      const T* x = in.as<T>() + first;
      const bool apart = in.data != out.data;
      const bool light = row >= UnaryRow::abs || row == UnaryRow::sqrt;
      write_results(out.as<T>() + first, last - first, in.size(),
                    in.size() * static_cast<int64_t>(sizeof(T)), apart, light,
                    {ReadAlong{x, sizeof(T)}, ReadAlong{}}, [x, row](int64_t at, T* y, int64_t n) {
                      if constexpr (kIsHalf<T>) {
                        if (const auto loop = unary_half_loop<T>(row)) return loop(x + at, y, n);
                      } else {
                        if (const auto loop = unary_loop<T>(row).value) return loop(x + at, y, n);
                      }
                      through<Number>(unary_loop<Number>(row).value, y, n, x + at);
                    });
    });
  });
}

// Inputs: gradient of the output, then x or y.
void run_slope(UnaryRow row, KernelContext& context) {
  const Tensor& dy = context.in(0);
  const Tensor& arg = context.in(1);
  const Tensor& dx = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->unary_slope(context.stream()->native(), static_cast<int>(row), dy, arg, dx);
  dispatch_dtype<kTypes>(dy.dtype, facts(row).name, [&]<class T>(TypeTag<T>) {
    parallel_for(dy.size(), cost_of(row, dy.dtype), [&](int64_t first, int64_t last) {
      const int64_t n = last - first;
      if constexpr (std::is_floating_point_v<T>) {
        unary_loop<T>(row).slope(dy.as<T>() + first, arg.as<T>() + first, dx.as<T>() + first, n);
      } else {
        through_float(unary_loop<float>(row).slope, dx.as<T>() + first, n, dy.as<T>() + first,
                      arg.as<T>() + first);
      }
    });
  });
}

template <UnaryRow row>
void value_cpu(const NoParams&, KernelContext& context) {
  run_value(row, context);
}
template <UnaryRow row>
void slope_cpu(const NoParams&, KernelContext& context) {
  // What is negative of the gradient from above, the first input, needs no other.
  row == UnaryRow::negative ? run_value(row, context) : run_slope(row, context);
}

Expr slope_expr(UnaryRow row, const Expr& x, const Expr& y) {
  using T = Expr;
  switch (row) {
#define MX_SLOPE_CASE(name, aliases, doc, value, slope, uses) \
  case UnaryRow::name:                                        \
    return slope;
    // NOLINTBEGIN(bugprone-branch-clone): rows may have equal slopes
    MX_UNARY_ROWS(MX_SLOPE_CASE)
    MX_UNARY_EXACT_ROWS(MX_SLOPE_CASE)
    // NOLINTEND(bugprone-branch-clone)
#undef MX_SLOPE_CASE
  }
  return T(0);
}

std::string backward_name(UnaryRow row) { return std::string("_backward_") + facts(row).name; }

// The slope s of these rows has the slope factor * x * s^power: their fused gradients can be
// differentiated. In steps, each rounded, 1 - x^2 and its like lose the digits of half types.
struct SlopeOfSlope {
  double factor = 0.0;
  int power = 0;  // 0: not one of these rows
};
constexpr SlopeOfSlope slope_of_slope(UnaryRow row) {
  switch (row) {
    case UnaryRow::arccos:
    case UnaryRow::arcsin:
      return {1.0, 3};
    case UnaryRow::arccosh:
    case UnaryRow::arcsinh:
      return {-1.0, 3};
    case UnaryRow::arctan:
      return {-2.0, 2};
    case UnaryRow::arctanh:
      return {2.0, 2};
    default:
      return {};
  }
}

// Of dy * s(x).
Gradients fused_row_gradient(UnaryRow row, Grad& grad) {
  const auto [factor, power] = slope_of_slope(row);
  const std::string by_slope = backward_name(row);
  const Value x = grad.in(1);
  // Not x first: where it is large, s is small.
  Value of_x = apply(by_slope, {grad.dout(0) * grad.in(0), x}) * x;
  for (int i = 1; i < power; ++i) of_x = apply(by_slope, {of_x, x});
  return {apply(by_slope, {grad.dout(0), x}), of_x * factor};
}
template <UnaryRow row>
Gradients fused_gradient(const NoParams&, Grad& grad) {
  return fused_row_gradient(row, grad);
}

Gradients row_gradient(UnaryRow row, Grad& grad) {
  if (grad.differentiable() && slope_of_slope(row).power == 0) {
    const Expr slope = slope_expr(row, Expr(grad.in(0)), Expr(grad.out(0)));
    return {(Expr(grad.dout(0)) * slope).value()};
  }
  const Value arg = facts(row).uses == SlopeUses::kX ? grad.in(0) : grad.out(0);
  return {apply(backward_name(row), {grad.dout(0), arg})};
}
template <UnaryRow row>
Gradients gradient(const NoParams&, Grad& grad) {
  return row_gradient(row, grad);
}

// Steps: flat but where they jump. Their gradient is zero whatever comes from above: 0 * NaN is
// none.
constexpr bool is_step(UnaryRow row) {
  switch (row) {
    case UnaryRow::ceil:
    case UnaryRow::fix:
    case UnaryRow::floor:
    case UnaryRow::rint:
    case UnaryRow::round:
    case UnaryRow::trunc:
      return true;
    default:
      return false;
  }
}

void infer_same(const NoParams&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  infer.one_dtype();
}

// The name under which the NumPy front end asks for a row; symbols and profiles show it, so it is
// an operator of its own. Null where NumPy has no such function.
const char* numpy_name(UnaryRow row) {
  switch (row) {
    case UnaryRow::erf:
    case UnaryRow::erfinv:
    case UnaryRow::gamma:
    case UnaryRow::gammaln:
    case UnaryRow::rcbrt:
    case UnaryRow::relu:
    case UnaryRow::round:
    case UnaryRow::rsqrt:
    case UnaryRow::sigmoid:
    case UnaryRow::softsign:
      return nullptr;
    case UnaryRow::abs:
      return "absolute";
    default:
      return facts(row).name;
  }
}

// What an operator takes as functions; all else is the same code for each row.
struct RowFunctions {
  void (*value)(const NoParams&, KernelContext&);
  void (*slope)(const NoParams&, KernelContext&);
  Gradients (*gradient)(const NoParams&, Grad&);
  Gradients (*fused_gradient)(const NoParams&, Grad&);  // null: what has none
};
template <UnaryRow row>
constexpr auto fused_gradient_of() {
  if constexpr (slope_of_slope(row).power != 0)
    return &fused_gradient<row>;
  else
    return nullptr;
}
template <UnaryRow row>
constexpr RowFunctions kFunctions = {value_cpu<row>, slope_cpu<row>, gradient<row>,
                                     fused_gradient_of<row>()};

bool define(UnaryRow row, const RowFunctions& functions) {
  const RowFacts& f = facts(row);
  const auto forward = [&](const std::string& name, const char* input) {
    OpBuilder<NoParams> op(name.c_str());
    op.doc(f.doc).input(input, "The input array.").lenient().dtypes(kTypes).inplace(0, 0);
    op.infer(infer_same).cpu(functions.value);
    if (is_step(row))
      op.zero_grad();
    else
      op.grad(functions.gradient);
    mark_pointwise(name);
    mark_portable(name);
    return op;
  };
  OpBuilder<NoParams> op = forward(f.name, "data");
  for (const char* alias : f.aliases) op.alias(alias);
  if (const char* name = numpy_name(row)) {
    OpBuilder<NoParams> numpy = forward(std::string("_npi_") + name, "x");
    if (row == UnaryRow::abs) numpy.alias("_npi_abs");
  }
  if (row == UnaryRow::relu || row == UnaryRow::sigmoid)
    forward(std::string("_npx_") + f.name, "data");
  if (is_step(row)) return true;
  OpBuilder<NoParams> backward(backward_name(row).c_str());
  backward.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the output.")
      .input("data", "Input or output of the forward call.")
      .dtypes(kTypes)
      .inplace(0, 0)
      .inplace(1, 0)
      .infer(infer_same)
      .cpu(functions.slope);
  if (functions.fused_gradient != nullptr) backward.grad(functions.fused_gradient);
  mark_pointwise(backward_name(row));
  mark_portable(backward_name(row));
  return true;
}

#define MX_DEFINE_ROW(name, ...) \
  [[maybe_unused]] const bool defined_##name = define(UnaryRow::name, kFunctions<UnaryRow::name>);
MX_UNARY_ROWS(MX_DEFINE_ROW)
MX_UNARY_EXACT_ROWS(MX_DEFINE_ROW)
#undef MX_DEFINE_ROW

}  // namespace
}  // namespace mxnet

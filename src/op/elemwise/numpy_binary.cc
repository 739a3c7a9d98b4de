// SPDX-License-Identifier: Apache-2.0
// Makes the NumPy operators of the binary rows: broadcasting, arrays of mixed types in arithmetic,
// bool results of comparisons.
#include <algorithm>
#include <cstddef>

#include "op/elemwise/binary_names.h"
#include "op/elemwise/binary_slope.h"
#include "op/loops/as_type.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/rows/binary_kernel.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr bool is_mixing(BinaryRow row) {
  using enum BinaryRow;
  return row == add || row == subtract || row == multiply || row == divide || row == mod ||
         row == power;
}

constexpr DTypeSet types_of(BinaryRow row) {
  using enum BinaryRow;
  if (row == lcm) return kIntegers;
  if (is_integer_only(row)) return kIntegers | DTypeSet::of(DType::kBool);
  if (row == hypot || row == arctan2) return kFloating;
  return is_mixing(row) || is_comparison(row) ? kAllTypes : kNumeric;
}

// Order in which the wider type of two wins; floating types are above all integers.
int width_rank(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 7;
    case DType::kFloat32:
      return 6;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 5;
    case DType::kInt64:
      return 4;
    case DType::kInt32:
      return 3;
    case DType::kInt8:
    case DType::kUInt8:
      return 2;
    default:
      return 1;  // bool
  }
}

// The type of arithmetic on both; kUnknown where neither type holds the other's values.
DType common_type(DType a, DType b) {
  if (a == b) return a;
  if (width_rank(a) == width_rank(b)) return DType::kUnknown;
  return width_rank(a) > width_rank(b) ? a : b;
}

void infer_row(BinaryRow row, Infer& infer) {
  InferArg a = infer.in(0), b = infer.in(1), out = infer.out(0);
  Shape shape;
  if (!broadcast_shapes(a.shape(), b.shape(), &shape))
    b.fail("a shape that broadcasts with " + a.name() + " " + to_string(a.shape()));
  out.set_shape(shape);
  if (!is_mixing(row)) {
    if (!is_comparison(row)) a.same_dtype(out);
    a.same_dtype(b);
    out.set_dtype(is_comparison(row) ? DType::kBool : a.dtype());
    return;
  }
  if (a.dtype() == DType::kUnknown || b.dtype() == DType::kUnknown) {
    // Of a network that is bound with the type of its data alone, parameters have the same.
    const DType known = a.dtype() == DType::kUnknown ? b.dtype() : a.dtype();
    const bool fits =
        known == DType::kUnknown || out.dtype() == DType::kUnknown || out.dtype() == known;
    if (row != BinaryRow::divide && fits) infer.one_dtype();
    return;
  }
  const DType common = common_type(a.dtype(), b.dtype());
  if (common == DType::kUnknown)
    b.fail("a type that combines with " + std::string(dtype_name(a.dtype())));
  if (row == BinaryRow::divide) {
    out.set_dtype(is_floating(common) ? common : DType::kFloat32);
  } else {
    if (common == DType::kBool && (row == BinaryRow::subtract || row == BinaryRow::mod))
      b.fail("numbers, as bool has no such arithmetic");
    out.set_dtype(common);
  }
}

template <BinaryRow row>
void infer_numpy(const NoParams&, Infer& infer) {
  infer_row(row, infer);
}

// Arrays of the result's shape, of which one or both have another type: block by block, so that
// what is converted is read again out of the cache, not written to memory as a whole.
void run_mixed(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out,
               KernelContext& context) {
  constexpr int64_t kTogether = 2048;
  const std::size_t widths = dtype_size(a.dtype) + dtype_size(b.dtype) + dtype_size(out.dtype);
  parallel_for(out.size(), cost_of_moving(static_cast<double>(widths)),
               [&](int64_t first, int64_t last) {
                 alignas(64) std::byte converted[2][kTogether * sizeof(double)];
                 for (int64_t at = first; at < last; at += kTogether) {
                   const Shape shape{std::min(kTogether, last - at)};
                   const auto block = [&](const Tensor& t) {
                     const std::size_t skipped = static_cast<std::size_t>(at) * dtype_size(t.dtype);
                     return Tensor{static_cast<std::byte*>(t.data) + skipped, &shape, t.dtype};
                   };
                   const auto in_common = [&](const Tensor& t, std::byte* space) {
                     if (t.dtype == out.dtype) return block(t);
                     const Tensor to{space, &shape, out.dtype};
                     convert_tensor(block(t), to, context);
                     return to;
                   };
                   run_binary(row, in_common(a, converted[0]), in_common(b, converted[1]),
                              block(out), context);
                 }
               });
}

void run_numpy(BinaryRow row, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1);
  const Tensor& out = context.out(0);
  if (is_comparison(row)) {
    const bool half = a.dtype == DType::kFloat16 || a.dtype == DType::kBFloat16;
    const DType type = half ? DType::kFloat32 : a.dtype;
    run_binary(row, as_type(a, type, context), as_type(b, type, context), out, context);
  } else if (out.dtype == DType::kBool) {
    // 0 and 1 are what uint8 has; only a sum can leave them.
    const auto bits = [](const Tensor& t) { return Tensor{t.data, t.shape_ptr, DType::kUInt8}; };
    if (row == BinaryRow::add)
      run_binary(BinaryRow::logical_or, a, b, out, context);
    else
      run_binary(row, bits(a), bits(b), bits(out), context);
  } else if (a.dtype != b.dtype && a.size() == out.size() && b.size() == out.size() &&
             gpu_table(context) == nullptr) {
    run_mixed(row, a, b, out, context);
  } else {
    run_binary(row, as_type(a, out.dtype, context), as_type(b, out.dtype, context), out, context);
  }
}

template <BinaryRow row>
void numpy_cpu(const NoParams&, KernelContext& context) {
  run_numpy(row, context);
}

// The arguments first take the type of the result, and their gradients their own shape and type
// again, where these are not known to be the same: each would be a copy.
Gradients row_gradients(BinaryRow row, Grad& grad) {
  Gradients result(2);
  if (!has_slope(row)) return result;
  const Value dy = grad.dout(0);
  const auto arg = [&](int i) {
    const bool cast = is_mixing(row) && !grad.same_dtype(i);
    return Expr(cast ? apply("_cast_like", {grad.in(i), dy}) : grad.in(i));
  };
  const bool constant = row == BinaryRow::add || row == BinaryRow::subtract;
  for (int i = 0; i < 2; ++i) {
    if (!grad.wants(i)) continue;
    const Value full = constant ? times_slope(row, i == 0, grad, Expr(0.0), Expr(0.0))
                                : times_slope(row, i == 0, grad, arg(0), arg(1));
    const bool spread = full && !grad.same_shape(i);
    const Value sum = spread ? apply("_sum_to_like", {full, grad.in(i)}) : full;
    const bool cast = sum && is_mixing(row) && !grad.same_dtype(i);
    result[static_cast<std::size_t>(i)] = cast ? apply("_cast_like", {sum, grad.in(i)}) : sum;
  }
  return result;
}
template <BinaryRow row>
Gradients gradient(const NoParams&, Grad& grad) {
  return row_gradients(row, grad);
}

void define(BinaryRow row, void (*infer)(const NoParams&, Infer&),
            void (*cpu)(const NoParams&, KernelContext&),
            Gradients (*gradient)(const NoParams&, Grad&)) {
  const char* name = binary_names()[static_cast<std::size_t>(row)].numpy;
  if (name == nullptr) return;
  const bool x = row == BinaryRow::hypot || row == BinaryRow::arctan2;
  OpBuilder<NoParams> op(name);
  op.doc(row_doc(row)).input(x ? "x1" : "lhs", "First argument.");
  op.input(x ? "x2" : "rhs", "Second argument.").lenient();
  op.dtypes(types_of(row)).inplace(0, 0).inplace(1, 0);
  op.infer(infer).cpu(cpu).grad(gradient);
  mark_pointwise(name);
  mark_portable(name);
}

[[maybe_unused]] const bool defined =
    for_each_row([](auto row) { define(row, infer_numpy<row>, numpy_cpu<row>, gradient<row>); });

}  // namespace
}  // namespace mxnet

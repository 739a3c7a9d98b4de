// SPDX-License-Identifier: Apache-2.0
// Choosing between two arrays, or an array and a number, by a condition of any type. Elements are
// moved by size; the condition becomes bytes a block at a time.
#include <fmt/format.h>

#include <cstring>

#include "op/loops/convert.h"
#include "op/moving/positions.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/fill.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct WhereParams {
  double scalar, x, y;
  bool left;  // of the gradient: where the condition holds
};

// Steps, in elements, of an array as if it were broadcast to `full`.
struct Steps {
  Steps(const Shape& shape, const Shape& full) {
    int64_t step = 1;
    for (int i = 1; i <= shape.ndim(); ++i) {
      const int64_t dim = shape[shape.ndim() - i];
      of[static_cast<std::size_t>(full.ndim() - i)] = dim == 1 ? 0 : step;
      step *= dim;
    }
  }
  std::array<int64_t, Shape::kMaxDims> of{};
};

// An operand: elements along the last dimension are `step` apart.
struct Operand {
  const Tensor& tensor;
  Steps steps;
  Operand(const Tensor& tensor, const Shape& full) : tensor(tensor), steps(tensor.shape(), full) {}
  int64_t offset(int64_t row, const Shape& full) const {
    int64_t at = 0;
    for (int d = full.ndim() - 2; d >= 0; --d) {
      at += row % full[d] * steps.of[static_cast<std::size_t>(d)];
      row /= full[d];
    }
    return at;
  }
  int64_t step(const Shape& full) const {
    return steps.of[static_cast<std::size_t>(full.ndim() - 1)];
  }
};

// By masks, which vectorise for every width; out of bytes, since GCC makes no vectors of bool.
template <class W>
void choose_each(const bool* holds, const W* x, const W* y, W* out, int64_t n) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(holds);
  for (int64_t i = 0; i < n; ++i) {
    const W mask = static_cast<W>(W{0} - static_cast<W>(bytes[i]));
    out[i] = static_cast<W>((x[i] & mask) | (y[i] & static_cast<W>(~mask)));
  }
}

// Elements [first, first + n) of a condition: bool as it is, other types converted into `buffer`.
const bool* truth_of(const Tensor& condition, int64_t first, int64_t n, bool* buffer) {
  if (condition.dtype == DType::kBool) return condition.as<bool>() + first;
  read_truth(condition, first, n, buffer);
  return buffer;
}

// A row of an operand, read a block at a time: one number for the whole row fills a block once.
template <class W>
class Row {
 public:
  Row(const Operand& operand, int64_t row, const Shape& full)
      : from_(operand.tensor.as<const W>() + operand.offset(row, full)),
        same_(operand.step(full) == 0) {
    if (same_) fill_same(block_.data(), std::min(full.back(), Positions::kBlock), *from_);
  }
  const W* at(int64_t start) const { return same_ ? block_.data() : from_ + start; }

 private:
  const W* from_;
  bool same_;
  std::array<W, Positions::kBlock> block_;
};

// out = condition ? x : y over rows of the last dimension, a block at a time.
template <class W>
void choose(const Operand& condition, const Operand& x, const Operand& y, const Shape& full,
            W* out) {
  const int64_t length = full.back(), rows = full.size() / std::max<int64_t>(length, 1);
  const int64_t condition_step = condition.step(full);
  const auto run = [&](int64_t row, int64_t first, int64_t last) {
    const int64_t condition_at = condition.offset(row, full);
    W* to = out + row * length;
    std::array<bool, Positions::kBlock> buffer;
    if (condition_step == 0) {
      const bool hold = *truth_of(condition.tensor, condition_at, 1, buffer.data());
      const Operand& chosen = hold ? x : y;
      const W* from = chosen.tensor.as<const W>() + chosen.offset(row, full);
      if (chosen.step(full) == 1) {
        std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first) * sizeof(W));
      } else {
        fill_same(to + first, last - first, *from);
      }
      return;
    }
    const Row<W> on_true(x, row, full), on_false(y, row, full);
    for (int64_t start = first; start < last; start += Positions::kBlock) {
      const int64_t n = std::min(Positions::kBlock, last - start);
      const bool* holds = truth_of(condition.tensor, condition_at + start, n, buffer.data());
      choose_each(holds, on_true.at(start), on_false.at(start), to + start, n);
    }
  };
  if (rows == 1) {
    parallel_for(length, 2.0, [&](int64_t first, int64_t last) { run(0, first, last); });
    return;
  }
  parallel_for(
      rows, 2.0 * static_cast<double>(length) + 8,
      [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) run(row, 0, length);
      },
      1);
}

// The same shape with neighbours merged where nothing is broadcast: long rows.
bool all_equal(const Shape& full, std::initializer_list<const Tensor*> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor* t) { return t->shape() == full; });
}

void where(const Tensor& condition, const Tensor& x, const Tensor& y, const Tensor& out,
           KernelContext& context) {
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->choose(context.stream()->native(), condition, x, y, out);
  Shape full = out.ndim() == 0 ? Shape{1} : out.shape();
  Shape flat{out.size()};
  Tensor c = condition, left = x, right = y;
  Shape one{1};
  if (all_equal(out.shape(), {&condition, &x, &y})) {
    c.shape_ptr = left.shape_ptr = right.shape_ptr = &flat;
    full = flat;
  } else if (condition.shape() == out.shape() && x.size() == 1 && y.shape() == out.shape()) {
    c.shape_ptr = right.shape_ptr = &flat;
    left.shape_ptr = &one;
    full = flat;
  } else if (condition.shape() == out.shape() && y.size() == 1 && x.shape() == out.shape()) {
    c.shape_ptr = left.shape_ptr = &flat;
    right.shape_ptr = &one;
    full = flat;
  }
  const Operand by(c, full), on_true(left, full), on_false(right, full);
  switch (dtype_size(out.dtype)) {
    case 1:
      return choose(by, on_true, on_false, full, out.as<uint8_t>());
    case 2:
      return choose(by, on_true, on_false, full, out.as<uint16_t>());
    case 4:
      return choose(by, on_true, on_false, full, out.as<uint32_t>());
    default:
      return choose(by, on_true, on_false, full, out.as<uint64_t>());
  }
}

// A number as a tensor of one element, where the call's arrays are.
class Scalar {
 public:
  Scalar(double value, DType dtype, KernelContext& context) : shape_(Shape::scalar()) {
    if (gpu_table(context) != nullptr) {
      tensor_ = {context.workspace(sizeof(bytes_)), &shape_, dtype};
      fill_tensor(context, tensor_, value);
      return;
    }
    dispatch_dtype(dtype, "where", [&]<class T>(TypeTag<T>) {
      const T converted = convert<T>(value);
      std::memcpy(bytes_, &converted, sizeof(T));
    });
    tensor_ = {bytes_, &shape_, dtype};
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  alignas(8) char bytes_[8] = {};
  const Shape shape_;
  Tensor tensor_;
};

// A condition of one dimension chooses whole rows of arrays of more.
Shape row_condition(const Shape& condition, const Shape& x) {
  if (condition == x || condition.ndim() != 1 || x.ndim() < 2) return condition;
  Shape shape(x.ndim(), 1);
  shape[0] = condition[0];
  return shape;
}

void where_cpu(const NoParams&, KernelContext& context) {
  Tensor condition = context.in(0);
  const Shape shape = row_condition(condition.shape(), context.in(1).shape());
  condition.shape_ptr = &shape;
  where(condition, context.in(1), context.in(2), context.out(0), context);
}

void numpy_where_cpu(const NoParams&, KernelContext& context) {
  where(context.in(0), context.in(1), context.in(2), context.out(0), context);
}

// Inputs: gradient, condition, the argument for its shape (unless it needs no summing up).
template <bool kRows>
void backward_where_cpu(const WhereParams& params, KernelContext& context) {
  const Tensor& dy = context.in(0);
  const Scalar zero(0.0, dy.dtype, context);
  Tensor condition = context.in(1);
  const Shape shape = kRows ? row_condition(condition.shape(), dy.shape()) : condition.shape();
  condition.shape_ptr = &shape;
  where(condition, params.left ? dy : zero.tensor(), params.left ? zero.tensor() : dy,
        context.out(0), context);
}

// A condition of `x`: an element each, or one for each row.
void check_condition(InferArg condition, InferArg x) {
  if (!condition.known() || !x.known() || condition.shape() == x.shape()) return;
  if (condition.ndim() != 1 || x.ndim() < 1 || condition.dim(0) != x.dim(0)) {
    condition.fail(
        fmt::format("the shape of {} {}, or its first dimension", x.name(), to_string(x.shape())));
  }
}

void infer_where(const NoParams&, Infer& infer) {
  infer.in(1).same_as(infer.in(2)).same_as(infer.out(0));
  infer.in(2).same_as(infer.in(1));
  check_condition(infer.in(0), infer.in(1));
}

// The broadcast of some inputs goes to the output.
void infer_broadcast(Infer& infer) {
  Shape shape = infer.in(0).shape();
  for (int i = 1; i < infer.num_in(); ++i) {
    Shape both;
    if (!broadcast_shapes(shape, infer.in(i).shape(), &both))
      infer.in(i).fail("a shape that broadcasts with " + to_string(shape));
    shape = both;
  }
  infer.out(0).set_shape(shape);
}

void infer_numpy_where(const NoParams&, Infer& infer) {
  infer.in(1).same_dtype(infer.in(2)).same_dtype(infer.out(0));
  infer.in(2).same_dtype(infer.in(1));
  infer_broadcast(infer);
}

template <class P>
void infer_one_array(const P&, Infer& infer) {
  infer.in(1).same_dtype(infer.out(0));
  infer_broadcast(infer);
}

// The condition may be smaller than the gradient, not larger.
template <bool kRows>
void infer_like_gradient(const WhereParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  if (kRows) {
    check_condition(infer.in(1), infer.in(0));
  } else {
    infer_broadcast(infer);
  }
}

Value masked(Grad& grad, const char* op, bool left) {
  return apply(op, {grad.dout(0), grad.in(0)}, {{"left", left ? "True" : "False"}});
}

Gradients where_gradient(const NoParams&, Grad& grad) {
  Gradients result(3);
  for (int i = 1; i < 3; ++i)
    if (grad.wants(i))
      result[static_cast<std::size_t>(i)] = masked(grad, "_backward_where", i == 1);
  return result;
}

Gradients numpy_where_gradient(const NoParams&, Grad& grad) {
  Gradients result(3);
  for (int i = 1; i < 3; ++i) {
    if (grad.wants(i)) {
      result[static_cast<std::size_t>(i)] =
          apply("_sum_to_like", {masked(grad, "_backward_numpy_where", i == 1), grad.in(i)});
    }
  }
  return result;
}

template <bool kArrayLeft>
Gradients scalar_gradient(const WhereParams&, Grad& grad) {
  if (!grad.wants(1)) return Gradients(2);
  return {Value(),
          apply("_sum_to_like", {masked(grad, "_backward_numpy_where", kArrayLeft), grad.in(1)})};
}

template <bool kRows>
void define_backward(const char* name) {
  OpBuilder<WhereParams>(name)
      .doc("The gradient where a condition holds, or does not, zeros elsewhere.")
      .input("head_grad", "Gradient of the output.")
      .input("condition", "The condition.")
      .param("left", &WhereParams::left, true, "Whether to keep it where the condition holds.")
      .infer(infer_like_gradient<kRows>)
      .cpu(backward_where_cpu<kRows>)
      .grad([](const WhereParams&, Grad& grad) {
        if (!grad.wants(0)) return Gradients(2);
        const char* op = kRows ? "_backward_where" : "_backward_numpy_where";
        return Gradients{apply(op, {grad.dout(0), grad.in(1)}, grad.attrs()), Value()};
      });
}

template <bool kArrayLeft>
void define_scalar(const char* name) {
  OpBuilder<WhereParams>(name)
      .doc("Elements of an array where a condition holds, or does not, a number elsewhere.")
      .input("condition", "The condition.")
      .input(kArrayLeft ? "y" : "x", "The array.")
      .param("scalar", &WhereParams::scalar, 0.0, "The number.")
      .infer(infer_one_array<WhereParams>)
      .cpu([](const WhereParams& params, KernelContext& context) {
        const Scalar scalar(params.scalar, context.out(0).dtype, context);
        const Tensor& x = context.in(1);
        where(context.in(0), kArrayLeft ? x : scalar.tensor(), kArrayLeft ? scalar.tensor() : x,
              context.out(0), context);
      })
      .grad(scalar_gradient<kArrayLeft>);
}

bool define() {
  OpBuilder<NoParams>("where")
      .alias("_sparse_where")
      .doc(
          "Elements of `x` where the condition holds, else of `y`; a condition of one dimension "
          "chooses rows.")
      .input("condition", "The condition; anything but zero holds.")
      .input("x", "Elements where it holds.")
      .input("y", "Elements where it does not.")
      .lenient()
      .infer(infer_where)
      .cpu(where_cpu)
      .grad(where_gradient);
  OpBuilder<NoParams>("_npi_where")
      .doc("Elements of `x` where the condition holds, else of `y`; all three broadcast.")
      .input("condition", "The condition; anything but zero holds.")
      .input("x", "Elements where it holds.")
      .input("y", "Elements where it does not.")
      .lenient()
      .infer(infer_numpy_where)
      .cpu(numpy_where_cpu)
      .grad(numpy_where_gradient);
  define_scalar<false>("_npi_where_lscalar");
  define_scalar<true>("_npi_where_rscalar");
  OpBuilder<WhereParams>("_npi_where_scalar2")
      .doc("One number where a condition holds, another elsewhere.")
      .input("condition", "The condition.")
      .param("x", &WhereParams::x, 0.0, "The number where it holds.")
      .param("y", &WhereParams::y, 0.0, "The number where it does not.")
      .infer([](const WhereParams&, Infer& infer) {
        infer.in(0).same_shape(infer.out(0));
        infer.out(0).set_dtype(DType::kFloat32);
      })
      .cpu([](const WhereParams& params, KernelContext& context) {
        const Scalar x(params.x, DType::kFloat32, context), y(params.y, DType::kFloat32, context);
        where(context.in(0), x.tensor(), y.tensor(), context.out(0), context);
      })
      .zero_grad();
  define_backward<true>("_backward_where");
  define_backward<false>("_backward_numpy_where");
  return true;
}
[[maybe_unused]] const bool defined = define();

[[maybe_unused]] const bool portable =
    mark_portable({"where", "_npi_where", "_npi_where_lscalar", "_npi_where_rscalar",
                   "_npi_where_scalar2", "_backward_where", "_backward_numpy_where"});

}  // namespace
}  // namespace mxnet

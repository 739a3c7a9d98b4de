// SPDX-License-Identifier: Apache-2.0
// where and its relatives: choosing between two arrays, or an array and a number, by a condition of
// any type.
#include <fmt/format.h>

#include <cstring>

#include "op/index/choose.h"
#include "op/index/where_params.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

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
  choose(condition, context.in(1), context.in(2), context.out(0), context);
}

void numpy_where_cpu(const NoParams&, KernelContext& context) {
  choose(context.in(0), context.in(1), context.in(2), context.out(0), context);
}

// Inputs: gradient, condition, the argument for its shape (unless it needs no summing up).
template <bool kRows>
void backward_where_cpu(const WhereParams& params, KernelContext& context) {
  const Tensor& dy = context.in(0);
  const Scalar zero(0.0, dy.dtype, context);
  Tensor condition = context.in(1);
  const Shape shape = kRows ? row_condition(condition.shape(), dy.shape()) : condition.shape();
  condition.shape_ptr = &shape;
  choose(condition, params.left ? dy : zero.tensor(), params.left ? zero.tensor() : dy,
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
        choose(context.in(0), kArrayLeft ? x : scalar.tensor(), kArrayLeft ? scalar.tensor() : x,
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
        choose(context.in(0), x.tensor(), y.tensor(), context.out(0), context);
      })
      .zero_grad();
  define_backward<true>("_backward_where");
  define_backward<false>("_backward_numpy_where");
  return true;
}
[[maybe_unused]] const bool defined = define();

[[maybe_unused]] const bool marked = [] {
  for (const char* name : {"where", "_npi_where", "_npi_where_lscalar", "_npi_where_rscalar",
                           "_npi_where_scalar2", "_backward_where", "_backward_numpy_where"}) {
    mark_portable(name);
    mark_pointwise(name);
  }
  return true;
}();

}  // namespace
}  // namespace mxnet

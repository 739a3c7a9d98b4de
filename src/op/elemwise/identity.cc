// SPDX-License-Identifier: Apache-2.0
// Operators that give their input back and differ in the gradient: copies, gradient stops and
// multipliers, losses, straight-through estimators.
#include <algorithm>

#include "op/elemwise/map.h"
#include "op/loops/as_type.h"
#include "op/op_builder.h"
#include "op/reducing/axes.h"
#include "op/reducing/evaluate.h"
#include "op/rows/binary_loops.h"
#include "op/rows/row_math.h"
#include "op/rows/unary_loops.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

template <class P>
void copy_cpu(const P&, KernelContext& context) {
  convert_tensor(context.in(0), context.out(0), context);
}

template <class P>
void infer_same(const P&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
}

template <class P = NoParams>
OpBuilder<P> define(const char* name, const char* doc, const char* input = "data") {
  OpBuilder<P> op(name);
  op.doc(doc).input(input, "The array.").inplace(0, 0).infer(infer_same<P>).cpu(copy_cpu<P>);
  return op;
}

Gradients pass(const NoParams&, Grad& grad) { return {grad.dout(0)}; }

[[maybe_unused]] const auto copy =
    define("_copy", "A copy.").alias("identity").lenient().grad(pass);
[[maybe_unused]] const auto np_copy = define("_np_copy", "A copy.", "a").lenient().grad(pass);

[[maybe_unused]] const auto block_grad =
    define("BlockGrad", "The input; no gradient flows back through it.")
        .alias("_sparse_stop_gradient")
        .alias("stop_gradient")
        .lenient()
        .zero_grad();

[[maybe_unused]] const auto make_loss =
    define("make_loss", "Marks a loss: its gradient is one, whatever comes from above.")
        .alias("_sparse_make_loss")
        .output("loss")
        .lenient()
        .loss()
        .grad([](const NoParams&, Grad& grad) {
          return Gradients{apply("ones_like", {grad.in(0)})};
        });

enum class Normalization : uint8_t { kNull, kBatch, kValid };
struct MakeLossParams {
  float grad_scale, valid_thresh;
  Normalization normalization;
};

OpBuilder<MakeLossParams> with_scale(OpBuilder<MakeLossParams> op) {
  using P = MakeLossParams;
  op.param("grad_scale", &P::grad_scale, 1.0f, "The gradient before normalization.");
  op.param("valid_thresh", &P::valid_thresh, 0.0f, "Elements above it are valid.");
  op.choice(
      "normalization", &P::normalization,
      Choices<Normalization>{{"null", Normalization::kNull},
                             {"batch", Normalization::kBatch},
                             {"valid", Normalization::kValid}},
      "null",
      "Divides the gradient by the number of rows (of the last dimension) or of valid elements.");
  return op;
}

// What a batch consists of: all dimensions but the last, of which there is one if it is alone.
float rows_of(const Shape& shape) {
  return shape.ndim() > 1 ? static_cast<float>(shape.size(0, shape.ndim() - 1)) : 1.0f;
}

// The factor that every element has, divided by how many of them are valid.
void share_on_gpu(const GpuTable& gpu, double scale, float valid_thresh, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const auto row = [](BinaryRow row) { return static_cast<int>(row); };
  // In float, as on the CPU.
  const Tensor valid{context.workspace_of<float>(in.size()), in.shape_ptr, DType::kFloat32};
  const Tensor share{context.workspace_of<float>(1), &single_shape(), DType::kFloat32};
  gpu.convert(stream, in, valid);
  gpu.binary_scalar(stream, row(BinaryRow::greater), valid, valid_thresh, false, valid);
  reduce_to({.reduction = Reduction::sum, .wide = true}, valid, all_axes(in.ndim()), share,
            context);
  gpu.binary_scalar(stream, row(BinaryRow::maximum), share, 1, false, share);
  gpu.binary_scalar(stream, row(BinaryRow::divide), share, scale, true, share);
  gpu.fill(stream, valid, 1);
  gpu.binary(stream, row(BinaryRow::multiply), valid, share, valid);
  gpu.convert(stream, valid, out);
}

void make_loss_backward_cpu(const MakeLossParams& p, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context)) {
    if (p.normalization == Normalization::kValid)
      return share_on_gpu(*gpu, p.grad_scale, p.valid_thresh, context);
    const bool of_batch = p.normalization == Normalization::kBatch;
    return gpu->fill(context.stream()->native(), out,
                     of_batch ? p.grad_scale / rows_of(in.shape()) : p.grad_scale);
  }
  dispatch_dtype<kFloating>(in.dtype, "MakeLoss", [&]<class T>(TypeTag<T>) {
    const T *begin = in.as<T>(), *end = begin + in.size();
    float scale = p.grad_scale;
    if (p.normalization == Normalization::kBatch) scale /= rows_of(in.shape());
    if (p.normalization == Normalization::kValid) {
      const auto valid =
          std::count_if(begin, end, [&](T x) { return static_cast<float>(x) > p.valid_thresh; });
      scale /= static_cast<float>(std::max<int64_t>(valid, 1));
    }
    std::fill_n(out.as<T>(), out.size(), convert<T>(scale));
  });
}

[[maybe_unused]] const auto make_loss_layer =
    with_scale(define<MakeLossParams>("MakeLoss", "A loss with a scaled gradient."))
        .dtypes(kFloating)
        .loss()
        .grad([](const MakeLossParams&, Grad& grad) {
          return Gradients{apply("_backward_MakeLoss", {grad.in(0)}, grad.attrs())};
        });
OpBuilder<MakeLossParams> define_make_loss_backward() {
  OpBuilder<MakeLossParams> op("_backward_MakeLoss");
  op.doc("Gradient of MakeLoss.").input("data", "Input of the forward call.");
  op.dtypes(kFloating).infer(infer_same<MakeLossParams>).cpu(make_loss_backward_cpu);
  return with_scale(op);
}
[[maybe_unused]] const auto make_loss_backward = define_make_loss_backward();

struct MultiplierParams {
  double scalar;
  bool is_int;
};
[[maybe_unused]] const auto gradient_multiplier =
    define<MultiplierParams>("_contrib_gradientmultiplier", "The input; its gradient times scalar.")
        .param("scalar", &MultiplierParams::scalar, 1.0, "Factor of the gradient.")
        .param("is_int", &MultiplierParams::is_int, true, "Whether the factor is an integer.")
        .grad([](const MultiplierParams& p, Grad& grad) {
          return Gradients{grad.dout(0) * p.scalar};
        });

// The gradient under the name that 1.x shows as an operator.
void multiply_gradient_cpu(const MultiplierParams& params, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->binary_scalar(context.stream()->native(), gpu->multiply, context.in(0),
                              params.scalar, false, context.out(0));
  map_elements<kNumeric>("_contrib_backward_gradientmultiplier", context.in(0), context.out(0),
                         [scalar = params.scalar]<class C>(C x) {
                           return row_math::multiply(x, static_cast<C>(scalar));
                         });
}
OpBuilder<MultiplierParams> define_multiplied_gradient() {
  OpBuilder<MultiplierParams> op("_contrib_backward_gradientmultiplier");
  op.doc("The gradient of _contrib_gradientmultiplier: the array times scalar.")
      .input("data", "The gradient of the result.")
      .param("scalar", &MultiplierParams::scalar, 1.0, "Factor.")
      .param("is_int", &MultiplierParams::is_int, true, "Whether the factor is an integer.");
  op.dtypes(kNumeric).inplace(0, 0).infer(infer_same<MultiplierParams>).cpu(multiply_gradient_cpu);
  return op;
}
[[maybe_unused]] const auto multiplied_gradient = define_multiplied_gradient();

void round_cpu(const NoParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->unary(context.stream()->native(), static_cast<int>(UnaryRow::round), in, out);
  map_elements<kNumeric>("_contrib_round_ste", in, out,
                         []<class C>(C x) { return row_math::round_away(x); });
}
void sign_cpu(const NoParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->unary(context.stream()->native(), static_cast<int>(UnaryRow::sign), in, out);
  map_elements<kNumeric>("_contrib_sign_ste", in, out,
                         []<class C>(C x) { return row_math::sign(x); });
}

OpBuilder<NoParams> straight(const char* name, const char* alias, const char* doc,
                             void (*kernel)(const NoParams&, KernelContext&)) {
  OpBuilder<NoParams> op(name);
  op.doc(doc).alias(alias).input("data", "The array.").lenient();
  op.dtypes(kNumeric).inplace(0, 0).infer(infer_same<NoParams>).cpu(kernel).grad(pass);
  return op;
}
[[maybe_unused]] const auto round_ste =
    straight("_contrib_round_ste", "_sparse__contrib_round_ste",
             "Rounds; the gradient passes as if it did not.", round_cpu);
[[maybe_unused]] const auto sign_ste =
    straight("_contrib_sign_ste", "_sparse__contrib_sign_ste",
             "The sign; the gradient passes as if it were the input.", sign_cpu);

MX_OP(_identity_with_attr_like_rhs, NoParams)
.doc("The first input, which has the shape and type of the second.")
    .input("lhs", "The array.")
    .input("rhs", "Gives shape and type.")
    .type_only(1)
    .lenient()
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
      infer.in(1).same_as(infer.out(0));
    })
    .cpu(copy_cpu<NoParams>)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{grad.dout(0), Value()};
    });

[[maybe_unused]] const bool portable =
    mark_portable({"_copy", "_np_copy", "BlockGrad", "make_loss", "MakeLoss", "_backward_MakeLoss",
                   "_contrib_gradientmultiplier", "_contrib_backward_gradientmultiplier",
                   "_contrib_round_ste", "_contrib_sign_ste", "_identity_with_attr_like_rhs"});

}  // namespace
}  // namespace mxnet

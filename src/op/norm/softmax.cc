// SPDX-License-Identifier: Apache-2.0
// softmax, softmin, log_softmax: any axis, a temperature, another type of the result, rows of which
// only the beginning counts.
#include "op/norm/softmax_kernel.h"

#include <vector>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/params/softmax_params.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

constexpr DTypeSet kLengthTypes = DTypeSet::of(DType::kInt32, DType::kInt64);

enum class Family : uint8_t { kSoftmax, kSoftmin, kLogSoftmax };

bool has_length(const SoftmaxParams& params) { return params.use_length.value_or(false); }

double scale_of(Family family, const SoftmaxParams& params) {
  const double scale = 1.0 / params.temperature.value_or(1.0);
  return family == Family::kSoftmin ? -scale : scale;
}

// A scalar is a row of one element.
RowLayout layout_of(const SoftmaxParams& params, const Shape& shape) {
  const int ndim = shape.ndim();
  if (ndim == 0) return RowLayout{};
  return rows_along(shape, params.axis < 0 ? params.axis + ndim : params.axis);
}

SoftmaxCall call_of(Family family, const SoftmaxParams& params, const Tensor& like,
                    const Tensor* lengths) {
  SoftmaxCall call;
  call.kind = family == Family::kLogSoftmax ? SoftmaxKind::kLog : SoftmaxKind::kSoftmax;
  call.rows = layout_of(params, like.shape());
  call.scale = scale_of(family, params);
  call.lengths = lengths;
  return call;
}

// The shape of `data` without the axis.
void infer_length(const SoftmaxParams& params, Infer& infer, InferArg data, InferArg length) {
  if (length.dtype() == DType::kUnknown) length.set_dtype(DType::kInt32);
  if (!kLengthTypes.contains(length.dtype())) length.fail("type int32 or int64");
  if (!data.rank_known() || data.ndim() == 0) return;
  const int axis = infer.axis(params.axis, data);
  Shape shape;
  for (int i = 0; i < data.ndim(); ++i)
    if (i != axis) shape.push_back(data.dim(i));
  // Without NumPy's shapes there are no arrays of rank 0: one row has an array of one length.
  if (shape.ndim() > 0 || !length.rank_known()) {
    length.set_shape(shape);
  } else if (length.known() && length.shape().size() != 1) {
    length.fail("one length");
  }
}

void check_axis(const SoftmaxParams& params, Infer& infer, InferArg data) {
  if (!data.rank_known()) return;
  if (data.ndim() == 0 && (params.axis == -1 || params.axis == 0)) return;
  infer.axis(params.axis, data);
}

void infer_forward(const SoftmaxParams& params, Infer& infer) {
  InferArg data = infer.in(0), out = infer.out(0);
  data.same_shape(out);
  check_axis(params, infer, data);
  if (params.dtype == DType::kUnknown) {
    data.same_dtype(out);
  } else {
    out.set_dtype(params.dtype);
  }
  if (has_length(params)) infer_length(params, infer, data, infer.in(1));
}

// Inputs: gradient, result, data (only its type matters), and lengths if there are.
void infer_backward(const SoftmaxParams& params, Infer& infer) {
  infer.in(0).same_as(infer.in(1));
  infer.in(2).same_as(infer.out(0));
  infer.in(2).same_shape(infer.in(1));
  if (has_length(params)) infer_length(params, infer, infer.in(2), infer.in(3));
}

template <Family family>
void forward(const SoftmaxParams& params, KernelContext& context) {
  const Tensor* lengths = has_length(params) ? &context.in(1) : nullptr;
  softmax_forward(call_of(family, params, context.in(0), lengths), context.in(0), context.out(0),
                  context);
}

template <Family family>
void backward(const SoftmaxParams& params, KernelContext& context) {
  const Tensor* lengths = has_length(params) ? &context.in(3) : nullptr;
  softmax_backward(call_of(family, params, context.in(1), lengths), context.in(0), context.in(1),
                   context.out(0), context);
}

constexpr const char* backward_name(Family family) {
  switch (family) {
    case Family::kSoftmax:
      return "_backward_softmax";
    case Family::kSoftmin:
      return "_backward_softmin";
    case Family::kLogSoftmax:
      return "_backward_log_softmax";
  }
  return "";
}

Gradients gradient_of(Family family, const SoftmaxParams& params, Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  if (!grad.differentiable() || params.dtype != DType::kUnknown || has_length(params)) {
    std::vector<Value> inputs{grad.dout(0), grad.out(0), grad.in(0)};
    if (has_length(params)) inputs.push_back(grad.in(1));
    result[0] = apply(backward_name(family), inputs, grad.attrs());
    return result;
  }
  const Value y = grad.out(0), dy = grad.dout(0);
  const auto sum = [&](const Value& v) {
    return apply("sum", {v}, {{"axis", std::to_string(params.axis)}, {"keepdims", "True"}});
  };
  const double scale = scale_of(family, params);
  result[0] = family == Family::kLogSoftmax
                  ? (dy - apply("broadcast_mul", {apply("exp", {y}), sum(dy)})) * scale
                  : apply("broadcast_sub", {dy, sum(dy * y)}) * y * scale;
  return result;
}
template <Family family>
Gradients gradient(const SoftmaxParams& params, Grad& grad) {
  return gradient_of(family, params, grad);
}

OpBuilder<SoftmaxParams>& add_params(OpBuilder<SoftmaxParams>& op) {
  return op.param("axis", &SoftmaxParams::axis, -1, "The axis along which results sum to one.")
      .param("temperature", &SoftmaxParams::temperature, std::nullopt,
             "Data is divided by it first; 1 if none.")
      .dtype_param("dtype", &SoftmaxParams::dtype,
                   DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64), true, "None",
                   "Type of the result; that of the data if none.")
      .param("use_length", &SoftmaxParams::use_length, false,
             "Whether there is a further input with the number of elements that take part.");
}

template <Family family>
bool define(const char* name, const char* alias, const char* doc) {
  OpBuilder<SoftmaxParams> op(name);
  if (alias != nullptr) op.alias(alias);
  op.doc(doc).input("data", "The array.");
  if (family == Family::kSoftmax) op.input("length", "Elements of each row that take part.");
  add_params(op)
      .num_inputs([](const SoftmaxParams& params) { return has_length(params) ? 2 : 1; })
      .input_names([](const SoftmaxParams& params) {
        return has_length(params) ? std::vector<std::string>{"data", "length"}
                                  : std::vector<std::string>{"data"};
      })
      .inplace(0, 0)
      .infer([](const SoftmaxParams& params, Infer& infer) {
        infer_forward(params, infer);
        const DType in = infer.in(0).dtype();
        if (in != DType::kUnknown && !kFloating.contains(in)) infer.in(0).fail("a floating type");
      })
      .cpu(forward<family>)
      .grad(gradient<family>);
  OpBuilder<SoftmaxParams> back(backward_name(family));
  back.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the result.")
      .input("output", "Result of the forward call.")
      .input("data", "The data; only its type matters.")
      .input("length", "Elements of each row that take part.");
  add_params(back)
      .num_inputs([](const SoftmaxParams& params) { return has_length(params) ? 4 : 3; })
      .type_only(2)
      .inplace(0, 0)
      .inplace(1, 0)
      .infer(infer_backward)
      .cpu(backward<family>);
  return true;
}

[[maybe_unused]] const bool defined =
    define<Family::kSoftmax>("softmax", "_npx_softmax",
                             "Exponentials of the data, scaled to sum to one along an axis.") &&
    define<Family::kSoftmin>("softmin", nullptr,
                             "softmax of the negated data: small values get large weights.") &&
    define<Family::kLogSoftmax>("log_softmax", "_npx_log_softmax",
                                "Logarithm of softmax, without the loss of small results.");

[[maybe_unused]] const bool portable =
    mark_portable({"softmax", "softmin", "log_softmax", "_backward_softmax", "_backward_softmin",
                   "_backward_log_softmax"});

}  // namespace
}  // namespace mxnet

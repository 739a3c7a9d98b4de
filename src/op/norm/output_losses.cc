// SPDX-License-Identifier: Apache-2.0
// Operators that end a network: forward nearly the data itself, backward the gradient of a loss,
// whatever comes from above. Regression (linear, logistic, absolute error) and SVMOutput.
#include <cmath>

#include "op/loops/row_io.h"
#include "op/norm/activation.h"
#include "op/norm/svm.h"
#include "op/op_builder.h"
#include "op/rows/binary_loops.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel_each.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

void copy(const Tensor& in, const Tensor& out, KernelContext& context) {
  copy_memory(context, in.data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
}

// --- regression ------------------------------------------------------------------------------

struct RegressionParams {
  float grad_scale;
};

enum class Regression : uint8_t { kLinear, kLogistic, kAbsolute };

// Labels have as many elements as the data; a last axis of one element may be left out.
void infer_regression(InferArg data, InferArg label) {
  label.same_dtype(data);
  if (!data.rank_known()) return;
  if (!label.rank_known()) {
    const bool column = data.ndim() == 2 && data.dim(1) == 1;
    label.set_shape(column ? Shape{data.dim(0)} : data.shape());
  } else if (label.known() && data.known() &&
             (label.shape().size() != data.shape().size() ||
              (label.ndim() > 0 && data.ndim() > 0 && label.dim(0) != data.dim(0)))) {
    label.fail("as many elements as the data, " + to_string(data.shape()));
  }
}

// dx = (y - label) * scale; the gradient may lie where y does.
void difference_on_gpu(const GpuTable& gpu, KernelContext& context, double scale) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const Tensor negative{
      context.workspace(static_cast<std::size_t>(dx.size()) * dtype_size(dx.dtype)), dx.shape_ptr,
      dx.dtype};
  // As many elements, perhaps in other dimensions.
  const Tensor labels{label.data, dx.shape_ptr, label.dtype};
  gpu.binary_scalar(stream, gpu.multiply, labels, -1, false, negative);
  gpu.accumulate(stream, negative, out);
  gpu.binary_scalar(stream, gpu.multiply, negative, scale, false, dx);
}

// dx = scale where y > label, else -scale.
void sign_on_gpu(const GpuTable& gpu, KernelContext& context, double scale) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const Tensor labels{label.data, dx.shape_ptr, label.dtype};
  // 2 * scale or 0, less scale: both are exact.
  gpu.binary(stream, static_cast<int>(BinaryRow::greater), out, labels, dx);
  gpu.binary_scalar(stream, gpu.multiply, dx, 2 * scale, false, dx);
  gpu.binary_scalar(stream, static_cast<int>(BinaryRow::subtract), dx, scale, false, dx);
}

// dx = (y - label) * grad_scale / (labels of one example), or its sign.
template <Regression kind>
void regression_backward(const RegressionParams& params, KernelContext& context) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  if (out.size() == 0) return;
  const int64_t per_example = label.ndim() == 0 ? 1 : label.size() / label.dim(0);
  if (const GpuTable* gpu = gpu_table(context)) {
    const double scale = params.grad_scale / static_cast<double>(per_example);
    return kind == Regression::kAbsolute ? sign_on_gpu(*gpu, context, scale)
                                         : difference_on_gpu(*gpu, context, scale);
  }
  dispatch_dtype<kFloating>(out.dtype, "regression", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const C scale = static_cast<C>(params.grad_scale / static_cast<double>(per_example));
    const T *y = out.as<T>(), *want = label.as<T>();
    T* const to = dx.as<T>();
    parallel_each(out.size(), 2.0, [=](int64_t i) {
      const C d = static_cast<C>(y[i]) - static_cast<C>(want[i]);
      // No error at all counts as too small a value.
      const C grad = kind != Regression::kAbsolute ? d : d > C(0) ? C(1) : C(-1);
      to[i] = static_cast<T>(grad * scale);
    });
  });
}

template <Regression kind>
bool define(const char* name, const char* alias, const char* backward, const char* doc) {
  OpBuilder<RegressionParams> op(name);
  if (alias != nullptr) op.alias(alias);
  op.doc(doc)
      .input("data", "What the network says.")
      .input("label", "What it should say.")
      .param("grad_scale", &RegressionParams::grad_scale, 1.0f, "Factor of the gradient.")
      .lenient()
      .dtypes(kFloating)
      .inplace(0, 0)
      .infer([](const RegressionParams&, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_regression(infer.in(0), infer.in(1));
      })
      .cpu([](const RegressionParams&, KernelContext& context) {
        if (kind == Regression::kLogistic)
          return activation_forward(ActivationRow::sigmoid, 0, context.in(0), context.out(0),
                                    context);
        copy(context.in(0), context.out(0), context);
      })
      .loss()
      .grad([](const RegressionParams&, Grad& grad) {
        const char* backward = kind == Regression::kLinear     ? "_backward_linear_reg_out"
                               : kind == Regression::kLogistic ? "_backward_logistic_reg_out"
                                                               : "_backward_mae_reg_out";
        return Gradients{apply(backward, {grad.in(1), grad.out(0)}, grad.attrs()), Value()};
      });
  OpBuilder<RegressionParams>(backward)
      .doc("Gradient of the operator after whose name it is called.")
      .input("label", "The labels.")
      .input("output", "Result of the forward call.")
      .param("grad_scale", &RegressionParams::grad_scale, 1.0f, "Factor of the gradient.")
      .lenient()
      .dtypes(kFloating)
      .inplace(1, 0)
      .infer([](const RegressionParams&, Infer& infer) {
        infer.in(1).same_as(infer.out(0));
        infer_regression(infer.in(1), infer.in(0));
      })
      .cpu(regression_backward<kind>);
  return true;
}

[[maybe_unused]] const bool defined =
    define<Regression::kLinear>("LinearRegressionOutput", "_sparse_LinearRegressionOutput",
                                "_backward_linear_reg_out",
                                "The data; its gradient is that of squared error / 2.") &&
    define<Regression::kLogistic>("LogisticRegressionOutput", "_sparse_LogisticRegressionOutput",
                                  "_backward_logistic_reg_out",
                                  "1 / (1 + exp(-data)), with the gradient of cross entropy.") &&
    define<Regression::kAbsolute>("MAERegressionOutput", "_sparse_MAERegressionOutput",
                                  "_backward_mae_reg_out",
                                  "The data; its gradient is that of absolute error.");

// --- SVMOutput -------------------------------------------------------------------------------

void infer_svm(InferArg data, InferArg label) {
  label.same_dtype(data);
  if (!data.rank_known()) return;
  if (data.ndim() < 1) data.fail("rank 1 or more");
  label.set_shape(Shape(data.shape().dims().first(static_cast<std::size_t>(data.ndim() - 1))));
}

void svm_backward(const SvmParams& params, KernelContext& context) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  if (out.size() == 0) return;
  const RowLayout rows = rows_behind(out.shape(), out.ndim() - 1);
  with_row_type(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    map_rows<C>(
        rows, 4.0, dx,
        [&](int64_t r, C* to, const C* x) {
          const double k = std::trunc(read_element(label, r));
          const bool has_label = k >= 0 && k < static_cast<double>(rows.length);
          const int64_t at = has_label ? static_cast<int64_t>(k) : 0;
          const C mine = has_label ? x[at] : C(0);  // `to` may be `x`
          for (int64_t i = 0; i < rows.length; ++i) to[i] = svm_gradient(params, x[i], false);
          if (has_label) to[at] = svm_gradient(params, mine, true);
        },
        out);
  });
}

OpBuilder<SvmParams>& add_params(OpBuilder<SvmParams>& op) {
  return op.param("margin", &SvmParams::margin, 1.0f, "Distance that scores should keep from 0.")
      .param("regularization_coefficient", &SvmParams::regularization_coefficient, 1.0f,
             "Factor of the gradient.")
      .param("use_linear", &SvmParams::use_linear, false,
             "Whether the loss grows linearly, not with the square.")
      .dtypes(kFloating);
}

bool define_svm() {
  OpBuilder<SvmParams> op("SVMOutput");
  op.doc("The data, with the gradient of the hinge loss of one class against the others.")
      .input("data", "Scores, classes along the last axis.")
      .input("label", "Classes.");
  add_params(op)
      .inplace(0, 0)
      .infer([](const SvmParams&, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_svm(infer.in(0), infer.in(1));
      })
      .cpu([](const SvmParams&, KernelContext& context) {
        copy(context.in(0), context.out(0), context);
      })
      .loss()
      .grad([](const SvmParams&, Grad& grad) {
        return Gradients{apply("_backward_SVMOutput", {grad.in(1), grad.out(0)}, grad.attrs()),
                         Value()};
      });
  OpBuilder<SvmParams> back("_backward_SVMOutput");
  back.doc("Gradient of SVMOutput.")
      .input("label", "Classes.")
      .input("output", "Result of the forward call.");
  add_params(back)
      .inplace(1, 0)
      .infer([](const SvmParams&, Infer& infer) {
        infer.in(1).same_as(infer.out(0));
        infer_svm(infer.in(1), infer.in(0));
      })
      .cpu(svm_backward);
  return true;
}

[[maybe_unused]] const bool svm_defined = define_svm();

[[maybe_unused]] const bool portable = mark_portable(
    {"LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput",
     "_backward_linear_reg_out", "_backward_logistic_reg_out", "_backward_mae_reg_out"});

}  // namespace
}  // namespace mxnet

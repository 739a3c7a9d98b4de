// SPDX-License-Identifier: Apache-2.0
// SoftmaxOutput: softmax forward; backward the gradient of cross entropy with the labels, whatever
// comes from above.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "op/norm/row_sums.h"
#include "op/norm/softmax_kernel.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

enum class Normalization : uint8_t { kBatch, kNull, kValid };

struct SoftmaxOutputParams {
  float grad_scale, ignore_label;
  bool multi_output, use_ignore, preserve_shape;
  Normalization normalization;
  bool out_grad;
  float smooth_alpha;
};

// Rows of classes: across channels at each position, along the last axis, or all that belongs to
// one example, which of a vector is one number.
RowLayout class_rows(const SoftmaxOutputParams& params, const Shape& shape) {
  if (params.multi_output) return rows_along(shape, 1);
  return rows_behind(shape, params.preserve_shape ? shape.ndim() - 1 : 1);
}

// What gradients are divided by where it follows from shapes: labels, or nothing.
double fixed_divisor(const SoftmaxOutputParams& params, const RowLayout& rows, int64_t labels) {
  if (params.normalization == Normalization::kBatch)
    return static_cast<double>(params.multi_output ? rows.outer * rows.inner : labels);
  return params.multi_output ? static_cast<double>(rows.inner) : 1.0;
}

// Labels name classes, and so does what is ignored: neither need be whole.
template <class C>
bool is_ignored(const SoftmaxOutputParams& params, C label) {
  return std::trunc(label) == std::trunc(static_cast<C>(params.ignore_label));
}

// What gradients are multiplied by.
template <class C>
double gradient_scale(const SoftmaxOutputParams& params, const RowLayout& rows, const C* labels,
                      int64_t count) {
  if (params.normalization != Normalization::kValid)
    return params.grad_scale / fixed_divisor(params, rows, count);
  // Whether or not use_ignore is set.
  int64_t valid = count;
  for (int64_t i = 0; i < count; ++i) valid -= is_ignored(params, labels[i]);
  return params.grad_scale / static_cast<double>(std::max(valid, int64_t{1}));
}

// Labels with a probability for each class.
template <class C>
void gradient_of_probabilities(const SoftmaxOutputParams& params, const Tensor& label,
                               const Tensor& out, const Tensor& dx) {
  const C scale = static_cast<C>(params.grad_scale);
  const RowLayout block{(out.size() + kSumBlock - 1) / kSumBlock, kSumBlock, 1};
  parallel_for(
      block.outer, 4.0 * kSumBlock,
      [&](int64_t first, int64_t last) {
        std::vector<C> a(kSumBlock), b(kSumBlock), c(kSumBlock);
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = i * kSumBlock, n = std::min(kSumBlock, out.size() - at);
          const C* want = read_elements(label, at, n, 1, a.data());
          const C* p = read_elements(out, at, n, 1, b.data());
          C* to = place_elements(dx, at, 1, c.data());
          for (int64_t k = 0; k < n; ++k) {
            const C grad = (p[k] - want[k]) * scale;
            to[k] = params.out_grad ? grad * p[k] : grad;
          }
          write_elements(dx, at, n, 1, to);
        }
      },
      1);
}

// Labels that name a class for each row.
template <class C>
void gradient_of_classes(const SoftmaxOutputParams& params, const Tensor& label, const Tensor& out,
                         const Tensor& dx, KernelContext& context) {
  const RowLayout rows = class_rows(params, out.shape());
  const C* labels = read_elements(label, 0, label.size(), 1, context.workspace_of<C>(label.size()));
  const C scale = static_cast<C>(gradient_scale(params, rows, labels, label.size()));
  const int64_t classes = rows.length;
  // Smoothing is for one row an example only, as it always was.
  const C alpha = params.multi_output ? C(0) : static_cast<C>(params.smooth_alpha);
  const C other = classes > 1 ? alpha / static_cast<C>(classes - 1) : C(0);
  map_rows<C>(
      rows, 4.0, dx,
      [&](int64_t r, C* to, const C* p) {
        const C k = labels[r];
        if (params.use_ignore && is_ignored(params, k)) {
          std::fill_n(to, classes, C(0));  // whatever there was to multiply with
          return;
        }
        // What is above -1 truncates to a class; others, NaN too, name none.
        const C at_class = k > C(-1) && k < static_cast<C>(classes) ? std::trunc(k) : C(-1);
        for (int64_t i = 0; i < classes; ++i) to[i] = (p[i] - other) * scale;
        if (at_class >= C(0)) {
          const int64_t i = static_cast<int64_t>(at_class);
          to[i] = (p[i] - (C(1) - alpha)) * scale;
        }
        if (params.out_grad)
          for (int64_t i = 0; i < classes; ++i) to[i] *= p[i];
      },
      out);
}

// The same two, by one primitive.
void gradient_on_gpu(const GpuTable& gpu, const SoftmaxOutputParams& params,
                     KernelContext& context) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  const RowLayout rows = class_rows(params, out.shape());
  const bool classes = label.shape() != out.shape();
  const bool counts = classes && params.normalization == Normalization::kValid;
  const double divisor = counts || !classes ? 1 : fixed_divisor(params, rows, label.size());
  gpu.class_slope(context.stream()->native(),
                  {.label = label,
                   .out = out,
                   .dx = dx,
                   .length = classes ? rows.length : 0,
                   .inner = rows.inner,
                   .scale = params.grad_scale / divisor,
                   .divide_by_valid = counts,
                   .use_ignore = params.use_ignore,
                   .ignore_label = params.ignore_label,
                   .smooth_alpha = params.multi_output ? 0.0f : params.smooth_alpha,
                   .times_out = params.out_grad},
                  context);
}

void backward(const SoftmaxOutputParams& params, KernelContext& context) {
  const Tensor &label = context.in(0), &out = context.in(1), &dx = context.out(0);
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context)) return gradient_on_gpu(*gpu, params, context);
  with_row_type(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    if (label.shape() == out.shape()) return gradient_of_probabilities<C>(params, label, out, dx);
    gradient_of_classes<C>(params, label, out, dx, context);
  });
}

// A label for each row of classes, or a probability for each class.
void infer_label(const SoftmaxOutputParams& params, InferArg data, InferArg label) {
  label.same_dtype(data);
  if (!data.rank_known()) return;
  if (data.ndim() < (params.multi_output ? 2 : 1))
    data.fail(params.multi_output ? "rank 2 or more" : "rank 1 or more");
  if (label.rank_known() && label.shape() == data.shape()) return;
  if (data.ndim() == 1 && !params.preserve_shape) {
    label.set_shape(data.shape());  // each number is a row of its own
    return;
  }
  if (!params.multi_output) {
    label.set_shape(Shape(data.shape().dims().first(static_cast<std::size_t>(data.ndim() - 1))));
    return;
  }
  if (!data.known()) return;
  const RowLayout rows = rows_along(data.shape(), 1);
  if (!label.rank_known()) {
    label.set_shape({rows.outer, rows.inner});
  } else if (label.known() && (label.shape().size() != rows.rows() || label.dim(0) != rows.outer)) {
    label.fail(
        fmt::format("({}, {}) or the shape of the data without axis 1", rows.outer, rows.inner));
  }
}

OpBuilder<SoftmaxOutputParams>& add_params(OpBuilder<SoftmaxOutputParams>& op) {
  using P = SoftmaxOutputParams;
  return op.param("grad_scale", &P::grad_scale, 1.0f, "Factor of the gradient.")
      .param("ignore_label", &P::ignore_label, -1.0f, "Label without a gradient; see use_ignore.")
      .param("multi_output", &P::multi_output, false,
             "Whether classes lie along axis 1, with a label at each position.")
      .param("use_ignore", &P::use_ignore, false, "Whether ignore_label is looked for.")
      .param("preserve_shape", &P::preserve_shape, false,
             "Whether classes lie along the last axis; else all behind the first are classes.")
      .choice("normalization", &P::normalization,
              {{"batch", Normalization::kBatch},
               {"null", Normalization::kNull},
               {"valid", Normalization::kValid}},
              "null", "What the gradient is divided by: labels, nothing, labels not ignored.")
      .param("out_grad", &P::out_grad, false, "Multiplies the gradient by the result.")
      .param("smooth_alpha", &P::smooth_alpha, 0.0f, "What is moved from the label to the others.")
      .range<float>(0.0f, 1.0f)
      .dtypes(kFloating);
}

bool define() {
  OpBuilder<SoftmaxOutputParams> op("SoftmaxOutput");
  op.alias("Softmax")
      .doc("softmax, with the gradient of cross entropy: the end of a classifier.")
      .input("data", "The scores.")
      .input("label", "Classes, or a probability for each.");
  add_params(op)
      .inplace(0, 0)
      .infer([](const SoftmaxOutputParams& params, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_label(params, infer.in(0), infer.in(1));
      })
      .cpu([](const SoftmaxOutputParams& params, KernelContext& context) {
        SoftmaxCall call;
        call.rows = class_rows(params, context.in(0).shape());
        softmax_forward(call, context.in(0), context.out(0), context);
      })
      .loss()
      .grad([](const SoftmaxOutputParams&, Grad& grad) {
        return Gradients{apply("_backward_SoftmaxOutput", {grad.in(1), grad.out(0)}, grad.attrs()),
                         Value()};
      });
  OpBuilder<SoftmaxOutputParams> back("_backward_SoftmaxOutput");
  back.doc("Gradient of SoftmaxOutput.")
      .input("label", "The labels.")
      .input("output", "Result of the forward call.");
  add_params(back)
      .inplace(1, 0)
      .infer([](const SoftmaxOutputParams& params, Infer& infer) {
        infer.in(1).same_as(infer.out(0));
        infer_label(params, infer.in(1), infer.in(0));
      })
      .cpu(backward);
  return true;
}

[[maybe_unused]] const bool defined = define();

[[maybe_unused]] const bool portable = mark_portable({"SoftmaxOutput", "_backward_SoftmaxOutput"});

}  // namespace
}  // namespace mxnet

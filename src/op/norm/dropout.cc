// SPDX-License-Identifier: Apache-2.0
// Dropout: while training, elements (or whole slices) are zero at random and the others are scaled
// up, so that the mean stays.
#include <optional>

#include "op/generators/random_key.h"
#include "op/moving/strided_copy.h"
#include "op/norm/keep_mask.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

enum class Mode : uint8_t { kAlways, kTraining };

struct DropoutParams {
  float p;
  Mode mode;
  Shape axes;
  std::optional<bool> cudnn_off;
};

bool drops(const DropoutParams& params, bool training) {
  return params.p > 0.0f && (training || params.mode == Mode::kAlways);
}

void copy(const Tensor& in, const Tensor& out, KernelContext& context) {
  copy_memory(context, in.data, out.data,
              static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
}

// out = in * mask, where dimensions of the mask may be 1.
void multiply_spread(const Tensor& in, const Tensor& mask, const Tensor& out,
                     KernelContext& context) {
  const std::size_t element = dtype_size(in.dtype);
  const RowMajorSteps from(mask.shape()), to(in.shape());
  StridedPlan plan;
  for (int d = 0; d < in.ndim(); ++d) plan.add(in.dim(d), mask.dim(d) == 1 ? 0 : from[d], to[d]);
  void* spread = context.workspace(static_cast<std::size_t>(in.size()) * element);
  copy_strided(plan, mask.data, spread, element);
  multiply_by_mask(in, Tensor{spread, in.shape_ptr, in.dtype}, out);
}

void apply_mask(const Tensor& in, const Tensor& mask, const Tensor& out, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->binary(context.stream()->native(), gpu->multiply, in, mask, out);
  mask.shape() == in.shape() ? multiply_by_mask(in, mask, out)
                             : multiply_spread(in, mask, out, context);
}

void forward(const DropoutParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &mask = context.out(1);
  if (!drops(params, context.training())) {
    copy(in, out, context);
    return fill_tensor(context, mask, 1.0);
  }
  const float keep = 1.0f - params.p;
  if (const GpuTable* gpu = gpu_table(context)) {
    const bool whole = mask.shape() == in.shape();
    gpu->keep_mask(context.stream()->native(), draw_key(context.device()), keep, mask,
                   whole ? &in : nullptr, whole ? &out : nullptr);
    if (!whole) apply_mask(in, mask, out, context);
    return;
  }
  if (mask.shape() == in.shape()) return fill_keep_mask(context.device(), keep, mask, in, out);
  fill_keep_mask(context.device(), keep, mask);
  apply_mask(in, mask, out, context);
}

OpBuilder<DropoutParams>& add_params(OpBuilder<DropoutParams>& op) {
  return op.param("p", &DropoutParams::p, 0.5f, "Part of the elements that is dropped.")
      .range<float>(0.0f, 1.0f)
      .choice("mode", &DropoutParams::mode,
              {{"always", Mode::kAlways}, {"training", Mode::kTraining}}, "training",
              "When to drop: while training only, or always.")
      .param("axes", &DropoutParams::axes, Shape::scalar(),
             "Axes along which one decision holds for all.")
      .param("cudnn_off", &DropoutParams::cudnn_off, false, "Of GPU kernels; CPUs have one kernel.")
      .dtypes(kFloating);
}

// 1 along the shared axes, else as the data.
void infer_mask(const DropoutParams& params, Infer& infer, InferArg data, InferArg mask) {
  mask.same_dtype(data);
  if (!data.rank_known()) return;
  Shape shape = data.shape();
  for (int i = 0; i < params.axes.ndim(); ++i) shape[infer.axis(params.axes[i], data)] = 1;
  mask.set_shape(shape);
}

bool define() {
  OpBuilder<DropoutParams> op("Dropout");
  op.alias("_npx_dropout")
      .doc("Zero at random while training, the rest scaled up; else the data itself.")
      .input("data", "The array.");
  add_params(op)
      .outputs([](const DropoutParams&) { return 2; })
      .visible_outputs([](const DropoutParams&) { return 1; })
      .output("output")
      .output("mask")
      .inplace(0, 0)
      .infer([](const DropoutParams& params, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_mask(params, infer, infer.in(0), infer.out(1));
      })
      .uses_random(drops)
      .cpu(forward)
      .grad([](const DropoutParams& params, Grad& grad) {
        if (params.p == 0.0f) return Gradients{grad.dout(0)};
        const Value dy = grad.dout(0), mask = grad.out(1);
        if (grad.differentiable()) return Gradients{apply("broadcast_mul", {dy, mask})};
        return Gradients{apply("_backward_Dropout", {dy, mask}, grad.attrs())};
      });
  OpBuilder<DropoutParams> back("_backward_Dropout");
  back.doc("Gradient of Dropout.")
      .input("head_grad", "Gradient of the result.")
      .input("mask", "What the data was multiplied by.");
  add_params(back)
      .inplace(0, 0)
      .infer([](const DropoutParams& params, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_mask(params, infer, infer.in(0), infer.in(1));
      })
      // The mask is what forward did, whatever the mode is by now: ones where it dropped nothing.
      .cpu([](const DropoutParams&, KernelContext& context) {
        apply_mask(context.in(0), context.in(1), context.out(0), context);
      });
  return mark_portable({"Dropout", "_backward_Dropout"});
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet

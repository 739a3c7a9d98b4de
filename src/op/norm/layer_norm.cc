// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm and InstanceNorm: one kernel, three ways to cut the data into rows.
#include "op/norm/row_norm.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

struct LayerNormParams {
  int32_t axis;
  float eps;
  bool output_mean_var;
};
struct GroupNormParams {
  int32_t num_groups;
  float eps;
  bool output_mean_var;
};
struct InstanceNormParams {
  float eps;
};

// --- how rows are cut --------------------------------------------------------------------------

RowNorm norm_of(const LayerNormParams& params, const Shape& data) {
  return {rows_along(data, params.axis < 0 ? params.axis + data.ndim() : params.axis), params.eps};
}
RowNorm norm_of(const GroupNormParams& params, const Shape& data) {
  const int64_t rows = data[0] * params.num_groups;
  return {{rows, rows == 0 ? 0 : data.size() / rows, 1}, params.eps, params.num_groups};
}
RowNorm norm_of(const InstanceNormParams& params, const Shape& data) {
  return {rows_behind(data, 2), params.eps, data[1]};
}

// Shapes of gamma and beta, and of mean and standard deviation, out of that of the data.
void infer_rows(const LayerNormParams& params, Infer& infer, InferArg data, Shape* parameters,
                Shape* statistics) {
  const int axis = infer.axis(params.axis, data);
  *parameters = {data.dim(axis)};
  *statistics = data.shape();
  (*statistics)[axis] = 1;
}
void infer_rows(const GroupNormParams& params, Infer&, InferArg data, Shape* parameters,
                Shape* statistics) {
  if (data.ndim() < 3) data.fail("rank 3 or more");
  if (data.dim(1) >= 0 && data.dim(1) % params.num_groups != 0)
    data.fail("a multiple of " + std::to_string(params.num_groups) + " channels");
  *parameters = {params.num_groups};
  *statistics = {data.dim(0), params.num_groups};
}
void infer_rows(const InstanceNormParams&, Infer&, InferArg data, Shape* parameters,
                Shape* statistics) {
  if (data.ndim() < 3) data.fail("rank 3 or more");
  *parameters = {data.dim(1)};
  *statistics = {data.dim(0), data.dim(1)};
}

// --- what the three have in common ---------------------------------------------------------------

// Positions of the statistics of the forward call: outputs there, inputs of the gradient.
template <class P>
void infer_forward(const P& params, Infer& infer) {
  infer.one_dtype();
  infer.in(0).same_shape(infer.out(0));
  infer.in(1).same_shape(infer.in(2));
  if (!infer.in(0).rank_known()) return;
  Shape parameters, statistics;
  infer_rows(params, infer, infer.in(0), &parameters, &statistics);
  infer.in(1).set_shape(parameters);
  infer.in(2).set_shape(parameters);
  infer.out(1).set_shape(statistics);
  infer.out(2).set_shape(statistics);
}

// Inputs: gradient, data, gamma, mean, standard deviation.
template <class P>
void infer_backward(const P& params, Infer& infer) {
  infer.one_dtype();
  infer.in(0).same_shape(infer.in(1)).same_shape(infer.out(0));
  infer.in(2).same_shape(infer.out(1)).same_shape(infer.out(2));
  if (!infer.in(1).rank_known()) return;
  Shape parameters, statistics;
  infer_rows(params, infer, infer.in(1), &parameters, &statistics);
  infer.in(2).set_shape(parameters);
  infer.in(3).set_shape(statistics);
  infer.in(4).set_shape(statistics);
}

template <class P>
void forward(const P& params, KernelContext& context) {
  row_norm_forward(norm_of(params, context.in(0).shape()), context.in(0), context.in(1),
                   context.in(2), context.out(0), context.out(1), context.out(2), context);
}

template <class P>
void backward(const P& params, KernelContext& context) {
  row_norm_backward(norm_of(params, context.in(1).shape()), context.in(0), context.in(1),
                    context.in(2), context.in(3), context.in(4), context.out(0), context.out(1),
                    context.out(2), context);
}

// Mean and standard deviation are for looking at: gradients that reach them go no further.
template <class P>
Gradients gradient(const char* name, Grad& grad) {
  const Value dx =
      apply(name, {grad.dout(0), grad.in(0), grad.in(1), grad.out(1), grad.out(2)}, grad.attrs());
  return {dx, output(dx, 1), output(dx, 2)};
}

template <class P>
void complete(OpBuilder<P>& op, int (*visible)(const P&), Gradients (*grad)(const P&, Grad&)) {
  op.input("data", "The array.")
      .input("gamma", "Factors of the result.")
      .input("beta", "Added to the result.")
      .outputs([](const P&) { return 3; })
      .visible_outputs(visible)
      .output("output")
      .output("mean")
      .output("std")
      .dtypes(kFloating)
      .inplace(0, 0)
      .infer(infer_forward<P>)
      .cpu(forward<P>)
      .grad(grad);
}

template <class P>
void complete_backward(OpBuilder<P>& op) {
  op.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The data.")
      .input("gamma", "Factors of the result.")
      .input("mean", "Means of the forward call.")
      .input("std", "Standard deviations of the forward call.")
      .outputs([](const P&) { return 3; })
      .dtypes(kFloating)
      .inplace(0, 0)
      .inplace(1, 0)
      .infer(infer_backward<P>)
      .cpu(backward<P>);
}

// --- the operators -------------------------------------------------------------------------------

constexpr const char* kEpsDoc = "Added to the variance.";
constexpr const char* kOutputDoc = "Whether mean and standard deviation are results too.";

OpBuilder<LayerNormParams>& add_params(OpBuilder<LayerNormParams>& op) {
  return op.param("axis", &LayerNormParams::axis, -1, "The axis along which to normalise.")
      .param("eps", &LayerNormParams::eps, 1e-5f, kEpsDoc)
      .param("output_mean_var", &LayerNormParams::output_mean_var, false, kOutputDoc);
}
OpBuilder<GroupNormParams>& add_params(OpBuilder<GroupNormParams>& op) {
  return op
      .param("num_groups", &GroupNormParams::num_groups, 1, "Groups that channels are cut into.")
      .at_least<int32_t>(1)
      .param("eps", &GroupNormParams::eps, 1e-5f, kEpsDoc)
      .param("output_mean_var", &GroupNormParams::output_mean_var, false, kOutputDoc);
}
OpBuilder<InstanceNormParams>& add_params(OpBuilder<InstanceNormParams>& op) {
  return op.param("eps", &InstanceNormParams::eps, 1e-3f, kEpsDoc);
}

template <class P>
int three_or_one(const P& params) {
  return params.output_mean_var ? 3 : 1;
}

bool define() {
  OpBuilder<LayerNormParams> layer("LayerNorm");
  layer.alias("_npx_layer_norm").doc("Mean 0 and variance 1 along an axis, times gamma plus beta.");
  complete<LayerNormParams>(add_params(layer), three_or_one,
                            [](const LayerNormParams&, Grad& grad) {
                              return gradient<LayerNormParams>("_backward_LayerNorm", grad);
                            });
  OpBuilder<LayerNormParams> layer_back("_backward_LayerNorm");
  complete_backward(add_params(layer_back));

  OpBuilder<GroupNormParams> group("GroupNorm");
  group.doc(
      "Mean 0 and variance 1 within each group of channels of an example, times gamma plus "
      "beta of the group.");
  complete<GroupNormParams>(add_params(group), three_or_one,
                            [](const GroupNormParams&, Grad& grad) {
                              return gradient<GroupNormParams>("_backward_GroupNorm", grad);
                            });
  OpBuilder<GroupNormParams> group_back("_backward_GroupNorm");
  complete_backward(add_params(group_back));

  OpBuilder<InstanceNormParams> instance("InstanceNorm");
  instance.doc(
      "Mean 0 and variance 1 within each channel of an example, times gamma plus beta of "
      "the channel.");
  complete<InstanceNormParams>(
      add_params(instance), [](const InstanceNormParams&) { return 1; },
      [](const InstanceNormParams&, Grad& grad) {
        return gradient<InstanceNormParams>("_backward_InstanceNorm", grad);
      });
  OpBuilder<InstanceNormParams> instance_back("_backward_InstanceNorm");
  complete_backward(add_params(instance_back));
  return true;
}

[[maybe_unused]] const bool defined = define();

[[maybe_unused]] const bool portable =
    mark_portable({"LayerNorm", "GroupNorm", "InstanceNorm", "_backward_LayerNorm",
                   "_backward_GroupNorm", "_backward_InstanceNorm"});

}  // namespace
}  // namespace mxnet

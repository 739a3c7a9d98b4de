// SPDX-License-Identifier: Apache-2.0
// BatchNorm, its older forms and the one with relu. Moving averages are states: forward reads them
// at most; the gradient's node writes them while training, so that a symbol's graph and autograd
// update them alike, once for each backward pass.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "op/norm/batch_norm_kernel.h"
#include "op/op_builder.h"
#include "op/params/batch_norm_params.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

struct BatchNormV1Params {
  float eps, momentum;
  bool fix_gamma, use_global_stats, output_mean_var;
  static constexpr int32_t axis = 1;
};
struct SyncBatchNormParams {
  float eps, momentum;
  bool fix_gamma, use_global_stats, output_mean_var;
  int32_t ndev;
  std::string key;
  static constexpr int32_t axis = 1;
};

// The third result: BatchNorm shows the inverse of the standard deviation, the others the variance.
enum class Spread : uint8_t { kInverseStd, kVariance };

enum Input { kData, kGamma, kBeta, kMovingMean, kMovingVar };
enum Output { kOut, kMean, kSpread, kMask };
// Inputs of the gradient.
enum BackInput {
  kBackDy,
  kBackData,
  kBackGamma,
  kBackMean,
  kBackSpread,
  kBackMovingMean,
  kBackMovingVar,
  kBackMask
};

// --- inference -----------------------------------------------------------------------------------

// Statistics and parameters of half types are float32.
void infer_parameter(InferArg data, InferArg parameter) {
  const DType type = data.dtype();
  if (type == DType::kUnknown) return;
  parameter.set_dtype(type == DType::kFloat64 ? type : DType::kFloat32);
}

template <class P>
void infer_channels(const P& params, Infer& infer, InferArg data,
                    std::initializer_list<InferArg> parameters) {
  const InferArg first = *parameters.begin();
  for (InferArg parameter : parameters) {
    parameter.same_shape(first);
    infer_parameter(data, parameter);
  }
  if (!data.rank_known()) return;
  const int64_t channels = data.dim(infer.axis(params.axis, data));
  for (InferArg parameter : parameters) parameter.set_shape({channels});
}

template <class P>
void check_devices(const P& params, Infer& infer) {
  if constexpr (std::is_same_v<P, SyncBatchNormParams>) {
    if (params.ndev != 1)
      infer.fail(
          fmt::format("given ndev={}, expected 1: statistics across devices are taken by "
                      "GPU kernels only",
                      params.ndev));
  }
}

template <class P, bool relu>
void infer_forward(const P& params, Infer& infer) {
  check_devices(params, infer);
  infer.in(kData).same_as(infer.out(kOut));
  infer_channels(params, infer, infer.in(kData),
                 {infer.in(kGamma), infer.in(kBeta), infer.in(kMovingMean), infer.in(kMovingVar),
                  infer.out(kMean), infer.out(kSpread)});
  if (relu) infer.out(kMask).same_shape(infer.in(kData)).set_dtype(DType::kUInt8);
}

template <class P, bool relu>
void infer_backward(const P& params, Infer& infer) {
  infer.in(kBackDy).same_as(infer.in(kBackData)).same_as(infer.out(0));
  infer_channels(params, infer, infer.in(kBackData),
                 {infer.in(kBackGamma), infer.in(kBackMean), infer.in(kBackSpread),
                  infer.in(kBackMovingMean), infer.in(kBackMovingVar), infer.out(1), infer.out(2)});
  if (relu) infer.in(kBackMask).same_shape(infer.in(kBackData)).set_dtype(DType::kUInt8);
}

// --- kernels -------------------------------------------------------------------------------------

template <class P>
BatchNormCall call_of(const P& params, const Tensor& data) {
  return batch_norm_call(data.shape(), params.axis, params.eps, params.fix_gamma);
}

void read_all(const Tensor& tensor, double* values) {
  const double* read = read_elements(tensor, 0, tensor.size(), 1, values);
  if (read != values) std::copy_n(read, tensor.size(), values);
}

template <class P, Spread spread, bool relu>
void forward(const P& params, KernelContext& context) {
  const Tensor& in = context.in(kData);
  BatchNormCall call = call_of(params, in);
  call.relu = relu;
  if (const GpuTable* gpu = gpu_table(context)) {
    const GpuBatchNorm work{.call = call,
                            .of_batch = context.training() && !params.use_global_stats,
                            .spread_is_variance = spread == Spread::kVariance,
                            .data = in,
                            .gamma = context.in(kGamma),
                            .moving_mean = context.in(kMovingMean),
                            .moving_var = context.in(kMovingVar),
                            .mean = context.out(kMean),
                            .spread = context.out(kSpread),
                            .beta = &context.in(kBeta),
                            .out = &context.out(kOut),
                            .mask = relu ? &context.out(kMask) : nullptr};
    return gpu->batch_norm(context.stream()->native(), work, context);
  }
  const int64_t channels = call.channels.length;
  double* mean = context.workspace_of<double>(2 * channels);
  double* variance = mean + channels;
  if (context.training() && !params.use_global_stats) {
    batch_statistics(call, in, mean, variance);
  } else {
    read_all(context.in(kMovingMean), mean);
    read_all(context.in(kMovingVar), variance);
  }
  for (int64_t c = 0; c < channels; ++c) {
    if (params.fix_gamma) write_element(context.in(kGamma), c, 1.0);
    write_element(context.out(kMean), c, mean[c]);
    write_element(
        context.out(kSpread), c,
        spread == Spread::kVariance ? variance[c] : 1.0 / std::sqrt(variance[c] + call.eps));
  }
  batch_normalize({.call = call,
                   .in = in,
                   .mean = mean,
                   .variance = variance,
                   .gamma = context.in(kGamma),
                   .beta = context.in(kBeta),
                   .out = context.out(kOut),
                   .mask = relu ? &context.out(kMask) : nullptr});
}

// Whether backward is that of inference: by the moving averages, also of what was normalised by its
// batch (autograd.backward(train_mode=False) behind record()).
template <class P>
bool infers(const P& params, const KernelContext& context) {
  return !context.training() && !params.use_global_stats;
}

// Mean and 1 / deviation of each channel, as forward has handed them out; where they are the
// batch's, moving statistics `take` their share of them.
template <Spread spread>
void read_statistics(KernelContext& context, double eps, bool take, double old_share, double* mean,
                     double* inverse_std) {
  const Tensor &moving_mean = context.in(kBackMovingMean), &moving_var = context.in(kBackMovingVar);
  const double new_share = 1.0 - old_share;
  read_all(context.in(kBackMean), mean);
  read_all(context.in(kBackSpread), inverse_std);
  for (int64_t c = 0; c < context.in(kBackMean).size(); ++c) {
    const double given = inverse_std[c];
    const double variance =
        spread == Spread::kVariance ? given : std::max(1.0 / (given * given) - eps, 0.0);
    if (spread == Spread::kVariance) inverse_std[c] = 1.0 / std::sqrt(variance + eps);
    if (!take) continue;
    write_element(moving_mean, c, read_element(moving_mean, c) * old_share + mean[c] * new_share);
    write_element(moving_var, c, read_element(moving_var, c) * old_share + variance * new_share);
  }
}

void read_moving(KernelContext& context, double eps, double* mean, double* inverse_std) {
  read_all(context.in(kBackMovingMean), mean);
  read_all(context.in(kBackMovingVar), inverse_std);
  for (int64_t c = 0; c < context.in(kBackMovingVar).size(); ++c)
    inverse_std[c] = 1.0 / std::sqrt(inverse_std[c] + eps);
}

template <class P, Spread spread, bool relu>
void backward(const P& params, KernelContext& context) {
  const Tensor& in = context.in(kBackData);
  const BatchNormCall call = call_of(params, in);
  const bool by_moving = infers(params, context);
  if (const GpuTable* gpu = gpu_table(context)) {
    const GpuBatchNorm work{.call = call,
                            .of_batch = context.training() && !params.use_global_stats,
                            .spread_is_variance = by_moving || spread == Spread::kVariance,
                            .data = in,
                            .gamma = context.in(kBackGamma),
                            .moving_mean = context.in(kBackMovingMean),
                            .moving_var = context.in(kBackMovingVar),
                            .mean = context.in(by_moving ? kBackMovingMean : kBackMean),
                            .spread = context.in(by_moving ? kBackMovingVar : kBackSpread),
                            .dy = &context.in(kBackDy),
                            .dx = &context.out(0),
                            .dgamma = &context.out(1),
                            .dbeta = &context.out(2),
                            .mask = relu ? &context.in(kBackMask) : nullptr,
                            .momentum = params.momentum};
    return gpu->batch_norm_slope(context.stream()->native(), work, context);
  }
  const bool of_batch = context.training() && !params.use_global_stats;
  double* mean = context.workspace_of<double>(2 * call.channels.length);
  double* inverse_std = mean + call.channels.length;
  if (by_moving) {
    read_moving(context, call.eps, mean, inverse_std);
  } else {
    read_statistics<spread>(context, call.eps, of_batch && call.positions() > 0, params.momentum,
                            mean, inverse_std);
  }
  batch_norm_gradient({.norm = call,
                       .of_batch = of_batch,
                       .dy = context.in(kBackDy),
                       .in = in,
                       .mean = mean,
                       .inverse_std = inverse_std,
                       .gamma = context.in(kBackGamma),
                       .mask = relu ? &context.in(kBackMask) : nullptr,
                       .dx = context.out(0),
                       .dgamma = context.out(1),
                       .dbeta = context.out(2)});
}

// --- operators -----------------------------------------------------------------------------------

// Mean and variance are for looking at: gradients that reach them go no further.
template <class P, bool relu>
Gradients gradient(const char* name, Grad& grad) {
  std::vector<Value> inputs{grad.dout(0),       grad.in(kData),    grad.in(kGamma),
                            grad.out(kMean),    grad.out(kSpread), grad.in(kMovingMean),
                            grad.in(kMovingVar)};
  if (relu) inputs.push_back(grad.out(kMask));
  const Value dx = apply(name, inputs, grad.attrs());
  return {dx, output(dx, 1), output(dx, 2), Value(), Value()};
}

template <class P, Spread spread, bool relu>
OpBuilder<P>& complete(OpBuilder<P>& op, Gradients (*grad)(const P&, Grad&)) {
  op.input("data", "The array.")
      .input("gamma", "Factors of the result; set to ones by fix_gamma.")
      .input("beta", "Added to the result.");
  // The oldest form never described its states.
  if (!std::is_same_v<P, BatchNormV1Params>) {
    op.input("moving_mean", "Moving average of the means.")
        .input("moving_var", "Moving average of the variances.");
  }
  op.num_inputs([](const P&) { return 5; })
      .input_names([](const P&) {
        return std::vector<std::string>{"data", "gamma", "beta", "moving_mean", "moving_var"};
      })
      .states({kMovingMean, kMovingVar})
      .clobbers([](const P& params) {
        return params.fix_gamma ? std::vector<int>{kGamma} : std::vector<int>{};
      })
      .outputs([](const P&) { return relu ? 4 : 3; })
      .visible_outputs([](const P& params) { return params.output_mean_var ? 3 : 1; })
      .output("output")
      .output("mean")
      .output("var");
  if (relu) op.output("mask");
  return op.dtypes(kFloating)
      .inplace(kData, kOut)
      .infer(infer_forward<P, relu>)
      .cpu(forward<P, spread, relu>)
      .grad(grad);
}

template <class P, Spread spread, bool relu>
OpBuilder<P>& complete_backward(OpBuilder<P>& op) {
  op.doc("Gradient of the operator after whose name it is called; updates the moving averages.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The data.")
      .input("gamma", "Factors of the result.")
      .input("mean", "Means of the forward call.")
      .input("spread", "Third result of the forward call.")
      .input("moving_mean", "Moving average of the means.")
      .input("moving_var", "Moving average of the variances.");
  if (relu) op.input("mask", "Where the result is above zero.");
  return op.mutates({kBackMovingMean, kBackMovingVar})
      .outputs([](const P&) { return 3; })
      .inplace(kBackDy, 0)
      .inplace(kBackData, 0)
      .by_pass()
      .infer(infer_backward<P, relu>)
      .cpu(backward<P, spread, relu>);
}

constexpr const char* kEpsDoc = "Added to the variance.";
constexpr const char* kMomentumDoc = "Share of the old value in a new moving average.";
constexpr const char* kFixDoc = "Whether gamma is ones and stays so.";
constexpr const char* kGlobalDoc = "Whether moving averages are used while training too.";
constexpr const char* kOutputDoc = "Whether means and variances are results too.";

template <class P, class Eps>
OpBuilder<P>& add_common_params(OpBuilder<P>& op, Eps eps) {
  return op.param("eps", &P::eps, eps, kEpsDoc)
      .param("momentum", &P::momentum, 0.9f, kMomentumDoc)
      .param("fix_gamma", &P::fix_gamma, true, kFixDoc)
      .param("use_global_stats", &P::use_global_stats, false, kGlobalDoc)
      .param("output_mean_var", &P::output_mean_var, false, kOutputDoc);
}

OpBuilder<BatchNormParams>& add_params(OpBuilder<BatchNormParams>& op) {
  using P = BatchNormParams;
  // As a float, which is what the description has always shown.
  return add_common_params(op, double{1e-3f})
      .param("axis", &P::axis, 1, "The axis of channels.")
      .param("cudnn_off", &P::cudnn_off, false, "Of GPU kernels; CPUs have one kernel.")
      .param("min_calib_range", &P::min_calib_range, std::nullopt,
             "Least value of the result, for quantised graphs.")
      .param("max_calib_range", &P::max_calib_range, std::nullopt,
             "Largest value of the result, for quantised graphs.");
}
OpBuilder<BatchNormV1Params>& add_params(OpBuilder<BatchNormV1Params>& op) {
  return add_common_params(op, 1e-3f);
}
OpBuilder<SyncBatchNormParams>& add_params(OpBuilder<SyncBatchNormParams>& op) {
  return add_common_params(op, 1e-3f)
      .param("ndev", &SyncBatchNormParams::ndev, 1, "Devices that share their statistics.")
      .param("key", &SyncBatchNormParams::key, "Name under which devices find each other.");
}

bool define() {
  using V2 = BatchNormParams;
  using V1 = BatchNormV1Params;
  using Sync = SyncBatchNormParams;
  OpBuilder<V2> batch("BatchNorm");
  batch.alias("_npx_batch_norm")
      .doc(
          "Mean 0 and variance 1 of each channel over the batch, times "
          "gamma plus beta.");
  complete<V2, Spread::kInverseStd, false>(add_params(batch), [](const V2&, Grad& grad) {
    return gradient<V2, false>("_backward_BatchNorm", grad);
  });
  OpBuilder<V2> batch_back("_backward_BatchNorm");
  complete_backward<V2, Spread::kInverseStd, false>(add_params(batch_back));

  OpBuilder<V2> relu("_contrib_BatchNormWithReLU");
  relu.doc("BatchNorm, and what is below zero set to zero.");
  complete<V2, Spread::kInverseStd, true>(add_params(relu), [](const V2&, Grad& grad) {
    return gradient<V2, true>("_backward_contrib_BatchNormWithReLU", grad);
  });
  OpBuilder<V2> relu_back("_backward_contrib_BatchNormWithReLU");
  complete_backward<V2, Spread::kInverseStd, true>(add_params(relu_back));

  OpBuilder<V1> older("BatchNorm_v1");
  older.doc("BatchNorm along axis 1, as it was first defined.");
  complete<V1, Spread::kVariance, false>(add_params(older), [](const V1&, Grad& grad) {
    return gradient<V1, false>("_backward_BatchNorm_v1", grad);
  });
  OpBuilder<V1> older_back("_backward_BatchNorm_v1");
  complete_backward<V1, Spread::kVariance, false>(add_params(older_back));

  OpBuilder<Sync> sync("_contrib_SyncBatchNorm");
  sync.doc("BatchNorm whose statistics are taken over the batches of several devices.");
  complete<Sync, Spread::kVariance, false>(add_params(sync), [](const Sync&, Grad& grad) {
    return gradient<Sync, false>("_backward__contrib_SyncBatchNorm", grad);
  });
  OpBuilder<Sync> sync_back("_backward__contrib_SyncBatchNorm");
  complete_backward<Sync, Spread::kVariance, false>(add_params(sync_back));
  return mark_portable({"BatchNorm", "_backward_BatchNorm", "_contrib_BatchNormWithReLU",
                        "_backward_contrib_BatchNormWithReLU", "BatchNorm_v1",
                        "_backward_BatchNorm_v1", "_contrib_SyncBatchNorm",
                        "_backward__contrib_SyncBatchNorm"});
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet

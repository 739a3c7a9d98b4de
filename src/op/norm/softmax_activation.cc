// SPDX-License-Identifier: Apache-2.0
// SoftmaxActivation, an older form of softmax: along the last axis or across channels.
#include <string>

#include "op/norm/softmax_kernel.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

enum class ActivationMode : uint8_t { kInstance, kChannel };

struct SoftmaxActivationParams {
  ActivationMode mode;
};

SoftmaxCall call_of(const SoftmaxActivationParams& params, const Tensor& like) {
  SoftmaxCall call;
  call.rows = params.mode == ActivationMode::kChannel ? rows_along(like.shape(), 1)
                                                      : rows_behind(like.shape(), like.ndim() - 1);
  return call;
}

const auto& kModes = *new Choices<ActivationMode>{{"channel", ActivationMode::kChannel},
                                                  {"instance", ActivationMode::kInstance}};
constexpr const char* kModeDoc =
    "instance: along the last axis; channel: along axis 1, at each position.";

void infer_activation(const SoftmaxActivationParams& params, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  infer.one_dtype();
  if (!infer.in(0).rank_known()) return;
  const int least = params.mode == ActivationMode::kChannel ? 3 : 1;
  if (infer.in(0).ndim() < least) infer.in(0).fail("rank " + std::to_string(least) + " or more");
}

MX_OP(SoftmaxActivation, SoftmaxActivationParams)
.doc("softmax along the last axis or across channels.")
    .input("data", "The array.")
    .choice("mode", &SoftmaxActivationParams::mode, kModes, "instance", kModeDoc)
    .dtypes(kFloating)
    .inplace(0, 0)
    .infer(infer_activation)
    .cpu([](const SoftmaxActivationParams& params, KernelContext& context) {
      softmax_forward(call_of(params, context.in(0)), context.in(0), context.out(0), context);
    })
    .grad([](const SoftmaxActivationParams& params, Grad& grad) {
      const Value y = grad.out(0), dy = grad.dout(0);
      if (!grad.differentiable())
        return Gradients{apply("_backward_SoftmaxActivation", {dy, y}, grad.attrs())};
      const char* axis = params.mode == ActivationMode::kChannel ? "1" : "-1";
      const Value sum = apply("sum", {dy * y}, {{"axis", axis}, {"keepdims", "True"}});
      return Gradients{apply("broadcast_sub", {dy, sum}) * y};
    });

MX_OP(_backward_SoftmaxActivation, SoftmaxActivationParams)
.doc("Gradient of SoftmaxActivation.")
    .input("head_grad", "Gradient of the result.")
    .input("output", "Result of the forward call.")
    .choice("mode", &SoftmaxActivationParams::mode, kModes, "instance", kModeDoc)
    .dtypes(kFloating)
    .inplace(0, 0)
    .inplace(1, 0)
    .infer(infer_activation)
    .cpu([](const SoftmaxActivationParams& params, KernelContext& context) {
      softmax_backward(call_of(params, context.in(0)), context.in(0), context.in(1), context.out(0),
                       context);
    });

[[maybe_unused]] const bool portable =
    mark_portable({"SoftmaxActivation", "_backward_SoftmaxActivation"});

}  // namespace
}  // namespace mxnet

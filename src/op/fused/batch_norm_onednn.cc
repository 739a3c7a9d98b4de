// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of images in channel blocks, with or without relu: forward in training and
// inference, and the gradient of training.
#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "op/onednn/prepared.h"
#include "op/op_def.h"
#include "op/params/batch_norm_params.h"

namespace mxnet {
namespace {

using dnnl::memory;
using dnnl::normalization_flags;
using onednn::Argument;

constexpr const char* kForward = "BatchNorm";
constexpr const char* kForwardRelu = "_contrib_BatchNormWithReLU";
constexpr const char* kBackward = "_backward_BatchNorm";
constexpr const char* kBackwardRelu = "_backward_contrib_BatchNormWithReLU";

// A call on data of these channels.
struct Call {
  memory::desc data;
  int64_t channels;
  float eps;
  bool fix_gamma, relu, of_batch;

  memory::desc channel_desc() const {
    return onednn::plain_desc({channels}, memory::data_type::f32);
  }
  normalization_flags flags() const {
    auto flags = normalization_flags::use_shift;
    if (!fix_gamma) flags |= normalization_flags::use_scale;
    if (relu) flags |= normalization_flags::fuse_norm_relu;
    if (!of_batch) flags |= normalization_flags::use_global_stats;
    return flags;
  }
  dnnl::batch_normalization_forward::primitive_desc forward() const {
    // Only training keeps what relu let pass.
    return forward_for(of_batch || relu ? dnnl::prop_kind::forward_training
                                        : dnnl::prop_kind::forward_inference);
  }
  dnnl::batch_normalization_backward::primitive_desc backward() const {
    return {onednn::engine(),
            dnnl::prop_kind::backward,
            data,
            data,
            data,
            eps,
            flags(),
            forward_for(dnnl::prop_kind::forward_training),
            onednn::attributes()};
  }

 private:
  dnnl::batch_normalization_forward::primitive_desc forward_for(dnnl::prop_kind kind) const {
    return {onednn::engine(), kind, data, data, eps, flags(), onednn::attributes()};
  }
};

// What the two directions have in common; `data` is the number of that input. None for calls that
// are not for these kernels.
std::optional<Call> call_of(const OpDef& op, const void* params, const Signature& signature,
                            std::span<const LayoutRef> layouts, std::size_t data) {
  const auto& norm = *static_cast<const BatchNormParams*>(params);
  const Tensor& array = signature.in[data];
  const auto blocked = std::ranges::find_if(layouts, [](auto& l) { return l != nullptr; });
  if (!onednn::enabled() || blocked == layouts.end() || !onednn::takes(array.dtype) ||
      !onednn::is_image(array) || norm.axis != 1 || array.size() == 0)
    return std::nullopt;
  const memory::desc desc = onednn::desc_in(*blocked, array);
  if (desc !=
      onednn::images_in_training(onednn::dims(array.shape()), onednn::data_type(array.dtype)))
    return std::nullopt;
  const std::string& name = op.name();
  return Call{desc,
              array.dim(1),
              static_cast<float>(norm.eps),
              norm.fix_gamma,
              name == kForwardRelu || name == kBackwardRelu,
              signature.training && !norm.use_global_stats};
}

// What a run has of its own, for either direction.
template <class Kernel>
class NormRun final : public PreparedRun {
 public:
  explicit NormRun(const Kernel& kernel)
      : kernel_(kernel), primitive_(kernel.primitive(), kernel.arguments()) {}
  void run(const KernelContext& context, std::span<const InputOrigin>) override {
    kernel_.run(context, primitive_);
  }

 private:
  const Kernel& kernel_;
  onednn::PrimitiveRun primitive_;
};

// Inputs data, gamma, beta, moving mean, moving variance; outputs result, mean, inverse deviation
// [, mask]. The mask has a bit for each element, in a layout of its own.
class NormForward final : public PreparedKernel {
 public:
  NormForward(const Call& call, const dnnl::batch_normalization_forward::primitive_desc& found,
              std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        call_(call),
        workspace_(found.workspace_desc()),
        primitive_(onednn::compile_found(found, [call] { return call.forward(); })) {}
  std::unique_ptr<PreparedRun> make_run() const override {
    return std::make_unique<NormRun<NormForward>>(*this);
  }

  const onednn::SharedPrimitive& primitive() const { return primitive_; }
  std::vector<Argument> arguments() const {
    constexpr int kOut = 5, kMean = 6, kSpread = 7, kMask = 8, kMovingMean = 3, kMovingVar = 4;
    const memory::desc channels = call_.channel_desc();
    std::vector<Argument> arguments{
        {DNNL_ARG_SRC, call_.data, 0},
        {DNNL_ARG_DST, call_.data, kOut},
        {DNNL_ARG_SHIFT, channels, 2},
        {DNNL_ARG_MEAN, channels, call_.of_batch ? kMean : kMovingMean},
        {DNNL_ARG_VARIANCE, channels, call_.of_batch ? kSpread : kMovingVar}};
    if (!call_.fix_gamma) arguments.push_back({DNNL_ARG_SCALE, channels, 1});
    if (call_.relu) arguments.push_back({DNNL_ARG_WORKSPACE, workspace_, kMask});
    return arguments;
  }

  void run(const KernelContext& context, onednn::PrimitiveRun& primitive) const {
    primitive.run(context);
    auto* spread = context.out(2).as<float>();
    const float* variance = call_.of_batch ? spread : context.in(4).as<float>();
    if (!call_.of_batch)
      std::copy_n(context.in(3).as<float>(), call_.channels, context.out(1).as<float>());
    for (int64_t c = 0; c < call_.channels; ++c)
      spread[c] = static_cast<float>(1 / std::sqrt(double{variance[c]} + double{call_.eps}));
    if (call_.fix_gamma) std::fill_n(context.in(1).as<float>(), call_.channels, 1.0f);
    if (!call_.relu || !call_.of_batch) return;
    if (call_.data.get_data_type() == memory::data_type::bf16) {
      keep_nan<bfloat16>(context);
    } else {
      keep_nan<float>(context);
    }
  }

 private:
  // oneDNN's relu makes zeros of NaN. Where statistics are the batch's, a channel has none or
  // consists of them.
  template <class T>
  void keep_nan(const KernelContext& context) const {
    const T nan = static_cast<T>(NAN);
    const auto *gamma = context.in(1).as<float>(), *beta = context.in(2).as<float>();
    const auto *mean = context.out(1).as<float>(), *spread = context.out(2).as<float>();
    const memory::dims dims = call_.data.get_padded_dims();
    // Channels behind are one block of them all.
    const auto block = call_.data.get_inner_nblks() == 0 ? dims[1] : call_.data.get_inner_blks()[0];
    const int64_t pixels = onednn::pixels_of(call_.data);
    auto* out = context.out(0).as<T>();
    for (int64_t c = 0; c < call_.channels; ++c) {
      if (!std::isnan(mean[c] * spread[c]) && !std::isnan(gamma[c]) && !std::isnan(beta[c]))
        continue;
      for (int64_t n = 0; n < dims[0]; ++n) {
        T* first = out + (n * dims[1] + c / block * block) * pixels + c % block;
        for (int64_t p = 0; p < pixels; ++p) first[p * block] = nan;
      }
    }
  }

  const Call call_;
  const memory::desc workspace_;
  const onednn::SharedPrimitive primitive_;
};

// Inputs gradient, data, gamma, mean, inverse deviation, moving mean, moving variance[, mask];
// outputs gradients of data, gamma, beta. Moves the averages where they are not what was used. A
// pass of inference through what was normalised by its batch goes by the averages.
class NormBackward final : public PreparedKernel {
 public:
  NormBackward(const Call& call, const dnnl::batch_normalization_backward::primitive_desc& found,
               double momentum, std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        call_(call),
        momentum_(momentum),
        workspace_(found.workspace_desc()),
        primitive_(onednn::compile_found(found, [call] { return call.backward(); })) {}
  std::unique_ptr<PreparedRun> make_run() const override;

  // That of passes of inference, which are rare.
  std::unique_ptr<const NormBackward> by_averages() const {
    Call call = call_;
    call.of_batch = false;
    auto other = std::make_unique<NormBackward>(call, call.backward(), momentum_,
                                                std::vector<LayoutRef>(), std::vector<LayoutRef>());
    other->by_averages_ = true;
    return other;
  }
  bool of_batch() const { return call_.of_batch; }

  const onednn::SharedPrimitive& primitive() const { return primitive_; }
  std::vector<Argument> arguments() const {
    constexpr int kMask = 7;
    const int first_out = call_.relu ? 8 : 7;
    const memory::desc channels = call_.channel_desc();
    std::vector<Argument> arguments{{DNNL_ARG_DIFF_DST, call_.data, 0},
                                    {DNNL_ARG_SRC, call_.data, 1},
                                    {DNNL_ARG_DIFF_SRC, call_.data, first_out},
                                    {DNNL_ARG_DIFF_SHIFT, channels, first_out + 2},
                                    {DNNL_ARG_MEAN, channels, by_averages_ ? 5 : 3},
                                    {DNNL_ARG_VARIANCE, channels, by_averages_ ? 6 : -1}};
    if (!call_.fix_gamma) {
      arguments.push_back({DNNL_ARG_SCALE, channels, 2});
      arguments.push_back({DNNL_ARG_DIFF_SCALE, channels, first_out + 1});
    }
    if (call_.relu) arguments.push_back({DNNL_ARG_WORKSPACE, workspace_, kMask});
    return arguments;
  }

  void run(const KernelContext& context, onednn::PrimitiveRun& primitive) const {
    if (by_averages_) {
      primitive.run(context);
    } else {
      run_as_forward(context, primitive);
    }
    if (call_.fix_gamma) std::fill_n(context.out(1).as<float>(), call_.channels, 0.0f);
  }

 private:
  void run_as_forward(const KernelContext& context, onednn::PrimitiveRun& primitive) const {
    const auto *mean = context.in(3).as<float>(), *spread = context.in(4).as<float>();
    auto *moving_mean = context.in(5).as<float>(), *moving_var = context.in(6).as<float>();
    auto* variance = context.workspace_of<float>(call_.channels);
    for (int64_t c = 0; c < call_.channels; ++c) {
      const double given = spread[c];
      const double now = std::max(1 / (given * given) - double{call_.eps}, 0.0);
      variance[c] = static_cast<float>(now);
      if (!call_.of_batch) continue;
      moving_mean[c] = static_cast<float>(moving_mean[c] * momentum_ + mean[c] * (1 - momentum_));
      moving_var[c] = static_cast<float>(moving_var[c] * momentum_ + now * (1 - momentum_));
    }
    void* const given[] = {variance};
    primitive.run(context, given);
  }

  const Call call_;
  const double momentum_;
  const memory::desc workspace_;
  const onednn::SharedPrimitive primitive_;
  bool by_averages_ = false;
};

class NormBackwardRun final : public PreparedRun {
 public:
  explicit NormBackwardRun(const NormBackward& kernel) : kernel_(kernel), run_(kernel) {}
  void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
    if (context.training() || !kernel_.of_batch()) [[likely]]
      return run_.run(context, origins);
    if (!by_averages_) by_averages_ = std::make_unique<ByAverages>(kernel_);
    by_averages_->run.run(context, origins);
  }

 private:
  struct ByAverages {
    explicit ByAverages(const NormBackward& of) : kernel(of.by_averages()), run(*kernel) {}
    const std::unique_ptr<const NormBackward> kernel;
    NormRun<NormBackward> run;
  };

  const NormBackward& kernel_;
  NormRun<NormBackward> run_;
  std::unique_ptr<ByAverages> by_averages_;  // null before the first such pass
};

std::unique_ptr<PreparedRun> NormBackward::make_run() const {
  return std::make_unique<NormBackwardRun>(*this);
}

PreparedKernelRef prepare_forward(const OpDef& op, const void* params, const Signature& signature,
                                  std::span<const LayoutRef> layouts) {
  const auto call = call_of(op, params, signature, layouts.first(1), 0);
  const auto found = call ? onednn::implemented([&] { return call->forward(); }) : nullptr;
  if (!found) return nullptr;
  std::vector<LayoutRef> in(signature.in.size()), out(signature.out.size());
  in[0] = out[0] = layouts[0];
  constexpr std::size_t kMask = 3;
  if (call->relu) out[kMask] = onednn::layout_of_own(found->workspace_desc());
  return std::make_shared<const NormForward>(*call, *found, std::move(in), std::move(out));
}

PreparedKernelRef prepare_backward(const OpDef& op, const void* params, const Signature& signature,
                                   std::span<const LayoutRef> layouts) {
  // With relu it goes by what forward went by, and reads the mask that forward has written there.
  const bool relu = op.name() == kBackwardRelu;
  const auto call =
      call_of(op, params, signature, relu ? layouts.subspan(1, 1) : layouts.first(2), 1);
  const auto found = call ? onednn::implemented([&] { return call->backward(); }) : nullptr;
  if (!found) return nullptr;
  std::vector<LayoutRef> in(signature.in.size()), out(signature.out.size());
  in[0] = in[1] = out[0] = onednn::layout_of(call->data);
  constexpr std::size_t kMask = 7;
  if (call->relu) in[kMask] = onednn::layout_of_own(found->workspace_desc());
  const auto& norm = *static_cast<const BatchNormParams*>(params);
  return std::make_shared<const NormBackward>(*call, *found, double{norm.momentum}, std::move(in),
                                              std::move(out));
}

[[maybe_unused]] const bool added = add_prepared_kernel(kForward, prepare_forward) &&
                                    add_prepared_kernel(kForwardRelu, prepare_forward) &&
                                    add_prepared_kernel(kBackward, prepare_backward) &&
                                    add_prepared_kernel(kBackwardRelu, prepare_backward);

}  // namespace
}  // namespace mxnet

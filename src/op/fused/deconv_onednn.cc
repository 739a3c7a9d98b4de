// SPDX-License-Identifier: Apache-2.0
// Deconvolutions of plans: a convolution's gradient of the image, whose arrays stay in channel
// blocks. Plans for inference pack weights once, those for training have steps that reorder them.
#include "op/fused/conv_descs_onednn.h"
#include "op/fused/packed_weight.h"
#include "op/fused/steps_onednn.h"
#include "op/nn/trilinear_grad.h"
#include "op/op_def.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Argument;
using onednn::ConvDescs;
using onednn::StepsKernel;

// The channels of an image in blocks, or in plain rows.
class Channels {
 public:
  explicit Channels(const memory::desc& image) {
    const memory::dims dims = image.get_dims();
    images_ = dims[0];
    channels_ = dims[1];
    pixels_ = onednn::pixels_of(image);
    lanes_ = image.get_inner_nblks() == 0 ? 1 : image.get_inner_blks()[0];
    blocks_ = (channels_ + lanes_ - 1) / lanes_;
  }

  void add(const float* bias, float* image) const {
    each_block([&](int64_t n, int64_t block, int64_t lanes) {
      float* at = image + (n * blocks_ + block) * pixels_ * lanes_;
      const float* of_block = bias + block * lanes_;
      if (lanes_ == 1) {
        for (int64_t i = 0; i < pixels_; ++i) at[i] += of_block[0];
      } else {
        for (int64_t i = 0; i < pixels_; ++i, at += lanes_)
          for (int64_t c = 0; c < lanes; ++c) at[c] += of_block[c];
      }
    });
  }

  void sum(const float* image, float* sums) const {
    std::vector<double> parts(static_cast<std::size_t>(images_ * blocks_ * lanes_), 0.0);
    each_block([&](int64_t n, int64_t block, int64_t lanes) {
      const float* at = image + (n * blocks_ + block) * pixels_ * lanes_;
      double* part = parts.data() + (n * blocks_ + block) * lanes_;
      for (int64_t i = 0; i < pixels_; ++i, at += lanes_)
        for (int64_t c = 0; c < lanes; ++c) part[c] += double{at[c]};
    });
    for (int64_t c = 0; c < channels_; ++c) {
      double sum = 0;
      for (int64_t n = 0; n < images_; ++n)
        sum += parts[static_cast<std::size_t>(n * blocks_ * lanes_ + c)];
      sums[c] = static_cast<float>(sum);
    }
  }

 private:
  // fn(image, block, its channels)
  template <class F>
  void each_block(const F& fn) const {
    parallel_for(
        images_ * blocks_, static_cast<double>(pixels_ * lanes_),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            const int64_t block = i % blocks_;
            fn(i / blocks_, block, std::min(lanes_, channels_ - block * lanes_));
          }
        },
        1);
  }

  int64_t images_, channels_, pixels_, lanes_, blocks_;
};

struct Call {
  ConvGeometry geometry;
  ConvDescs descs;
  bool bias;
};

// `image`: the output of the forward call; `map`: its input.
std::optional<Call> call_of(const ConvParams& conv, const Shape& image, const Shape& map) {
  const ConvGeometry g = conv_geometry(conv, image, map, true);
  auto descs = ConvDescs::of(conv, g, DType::kFloat32);
  if (!descs) return std::nullopt;
  descs->bias = memory::desc();  // it belongs to the image
  return Call{g, *descs, !conv.no_bias};
}

onednn::Compile compile_forward(const Call& call) {
  return [g = call.geometry, d = call.descs] {
    return onednn::compiled<dnnl::convolution_backward_data>(data_gradient_of(g, d));
  };
}

// `run` on the context's tensors.
template <class F>
StepsKernel::MakeStep step_of(const F& run) {
  struct Step final : PreparedRun {
    explicit Step(const F& run) : fn(run) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override { fn(context); }
    const F fn;
  };
  return [run] { return std::make_unique<Step>(run); };
}

// For inference: weights are packed once.
class PackedDeconvolution final : public PreparedKernel {
 public:
  PackedDeconvolution(const Call& call, std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        call_(call),
        channels_(call.descs.image),
        primitive_(compile_forward(call)),
        keeper_(packed_form(PackedBy::kDeconvolution, onednn::words_of(call_.descs.weight), {})) {}
  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  struct Run final : PreparedRun {
    explicit Run(const PackedDeconvolution& kernel)
        : kernel(kernel), primitive(kernel.primitive_, kernel.arguments()) {}
    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const auto packed =
          kernel.keeper_.get(context, origins, 1, [&] { return kernel.pack(context); });
      const std::array<void*, 1> given{packed->weight.data()};
      primitive.run(context, given);
      if (kernel.call_.bias)
        kernel.channels_.add(context.in(2).as<float>(), context.out(0).as<float>());
    }
    const PackedDeconvolution& kernel;
    onednn::PrimitiveRun primitive;
  };

  std::vector<Argument> arguments() const {
    return {{DNNL_ARG_DIFF_DST, call_.descs.map, 0},
            {DNNL_ARG_WEIGHTS, call_.descs.weight, -1},
            {DNNL_ARG_DIFF_SRC, call_.descs.image, static_cast<int>(in().size())}};
  }

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const memory::desc& wanted = call_.descs.weight;
    auto packed = std::make_shared<PackedWeight>(wanted.get_size(), 0);
    const memory plain(onednn::plain_desc(wanted.get_dims(), memory::data_type::f32),
                       onednn::engine(), context.in(1).data);
    const memory own(wanted, onednn::engine(), packed->weight.data());
    onednn::execute(dnnl::reorder(plain, own),
                    {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, own.get()}});
    return packed;
  }

  const Call call_;
  const Channels channels_;
  const onednn::SharedPrimitive primitive_;
  mutable WeightKeeper keeper_;
};

PreparedKernelRef prepare_deconvolution(const OpDef&, const void* params,
                                        const Signature& signature, std::span<const LayoutRef>) {
  if (!onednn::takes_floats(signature)) return nullptr;
  auto call = call_of(*static_cast<const ConvParams*>(params), signature.out[0].shape(),
                      signature.in[0].shape());
  if (!call) return nullptr;
  ConvDescs& descs = call->descs;
  const auto implement = [&] {
    return onednn::implemented([&] { return data_gradient_of(call->geometry, descs); });
  };
  auto desc = implement();
  if (!desc) {  // few channels come out: oneDNN multiplies matrices in plain rows
    descs.map = onednn::plain_desc(descs.map.get_dims(), memory::data_type::f32);
    desc = implement();
  }
  if (!desc) return nullptr;
  descs.weight = desc->weights_desc();
  std::vector<LayoutRef> in(signature.in.size()), out{onednn::layout_of(descs.image)};
  in[0] = onednn::layout_of(descs.map);
  if (!signature.training)
    return std::make_shared<const PackedDeconvolution>(*call, std::move(in), std::move(out));
  in[1] = onednn::layout_of(descs.weight);
  const int first_out = static_cast<int>(in.size());
  std::vector<StepsKernel::MakeStep> steps{onednn::primitive_step(
      compile_forward(*call), {{DNNL_ARG_DIFF_DST, descs.map, 0},
                               {DNNL_ARG_WEIGHTS, descs.weight, 1},
                               {DNNL_ARG_DIFF_SRC, descs.image, first_out}})};
  if (call->bias)
    steps.push_back(step_of([channels = Channels(descs.image)](const KernelContext& context) {
      channels.add(context.in(2).as<float>(), context.out(0).as<float>());
    }));
  return std::make_shared<const StepsKernel>("onednn", std::move(steps), std::move(in),
                                             std::move(out));
}

// The steps of a deconvolution's gradient, of which each writes the next output.
// Inputs: gradient of the output, input, weight.
class GradientSteps {
 public:
  // `call` stays as long as this does.
  explicit GradientSteps(const Call& call)
      : call_(call),
        in_{onednn::layout_of(call.descs.image), onednn::layout_of(call.descs.map), nullptr} {}

  // The first two are false where the library has no such primitive.
  bool add_data() {
    ConvDescs d = call_.descs;
    const auto desc = onednn::implemented([&] { return forward_of(call_.geometry, d); });
    if (!desc) return false;
    d.weight = desc->weights_desc();
    in_[kWeight] = onednn::layout_of(d.weight);
    steps_.push_back(onednn::primitive_step(
        [g = call_.geometry, d] {
          return onednn::compiled<dnnl::convolution_forward>(forward_of(g, d));
        },
        {{DNNL_ARG_SRC, d.image, kImage},
         {DNNL_ARG_WEIGHTS, d.weight, kWeight},
         {DNNL_ARG_DST, d.map, next_out()}}));
    out_.push_back(in_[kMap]);
    return true;
  }

  bool add_weight() {
    ConvDescs d = call_.descs;
    const auto desc = onednn::implemented([&] { return weight_gradient_of(call_.geometry, d); });
    if (!desc) return false;
    d.weight = desc->diff_weights_desc();
    steps_.push_back(onednn::primitive_step(
        [g = call_.geometry, d] {
          return onednn::compiled<dnnl::convolution_backward_weights>(weight_gradient_of(g, d));
        },
        {{DNNL_ARG_DIFF_DST, d.map, kMap},
         {DNNL_ARG_SRC, d.image, kImage},
         {DNNL_ARG_DIFF_WEIGHTS, d.weight, next_out()}}));
    out_.push_back(onednn::layout_of(d.weight));
    return true;
  }

  void add_bias() {
    steps_.push_back(step_of([channels = Channels(call_.descs.image),
                              to = static_cast<int>(out_.size())](const KernelContext& context) {
      channels.sum(context.in(kImage).as<float>(), context.out(to).as<float>());
    }));
    out_.push_back(nullptr);
  }

  PreparedKernelRef kernel() && {
    return std::make_shared<const StepsKernel>("onednn", std::move(steps_), std::move(in_),
                                               std::move(out_));
  }

 private:
  static constexpr int kImage = 0, kMap = 1, kWeight = 2, kFirstOut = 3;
  int next_out() const { return kFirstOut + static_cast<int>(out_.size()); }

  const Call& call_;
  std::vector<StepsKernel::MakeStep> steps_;
  std::vector<LayoutRef> in_, out_;
};

// Outputs: the gradients of input, weight and bias that are wanted.
PreparedKernelRef prepare_gradient(const OpDef&, const void* params, const Signature& signature,
                                   std::span<const LayoutRef>) {
  if (!onednn::takes_floats(signature)) return nullptr;
  const auto& conv = *static_cast<const ConvParams*>(params);
  const auto call = call_of(conv, signature.in[0].shape(), signature.in[1].shape());
  if (!call) return nullptr;
  GradientSteps steps(*call);
  if (wants(conv.wanted, kWantData) && !steps.add_data()) return nullptr;
  if (wants(conv.wanted, kWantWeight) && !steps.add_weight()) return nullptr;
  if (wants(conv.wanted, kWantBias)) steps.add_bias();
  return std::move(steps).kernel();
}

[[maybe_unused]] const bool added =
    add_prepared_kernel("Deconvolution", prepare_deconvolution) &&
    add_prepared_kernel("_backward_Deconvolution", prepare_gradient) &&
    add_prepared_kernel("_backward_Deconvolution_data", prepare_gradient);

}  // namespace
}  // namespace mxnet

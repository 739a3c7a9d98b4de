// SPDX-License-Identifier: Apache-2.0
// A layer of bytes as one primitive of oneDNN: weights packed once, maps with channels last, and
// everything behind the sums done before a result is stored.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/fused/quantized_layer.h"
#include "op/fused/quantized_weight.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/prepared.h"
#include "op/quantize/byte_layers.h"
#include "op/quantize/range.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::any_layout;
using onednn::plain_desc;
using quantize::read_range;
using quantize::wide_limit;

constexpr auto kFloat = memory::data_type::f32;
constexpr auto kWeight = memory::data_type::s8;

struct Descs {
  memory::desc data, weight, out;
};

// Scales are given at each run: what the bytes of the data and of the result are worth, and the
// steps of each channel of the weights. The other branch is added as it is, in its own bytes:
// everything else is given in units of what one of these is worth.
dnnl::primitive_attr attributes_of(const QuantizedLayer& layer, const memory::desc& other) {
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_scales_mask(DNNL_ARG_SRC, 0);
  const bool groups = layer.is_convolution && layer.conv.num_group > 1;
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, groups ? 3 : 1);
  if (!layer.float_result) attributes.set_scales_mask(DNNL_ARG_DST, 0);
  dnnl::post_ops steps;
  for (const PostOp& op : layer.post_ops) {
    if (op.kind == PostOp::Kind::kSum) {
      steps.append_binary(dnnl::algorithm::binary_add, other);
      continue;
    }
    const onednn::Eltwise eltwise = onednn::eltwise_of(op);
    steps.append_eltwise(eltwise.algorithm, eltwise.alpha, eltwise.beta);
  }
  attributes.set_post_ops(steps);
  return attributes;
}

// What the sum's unit does not go through.
bool keeps_factors(const QuantizedLayer& layer) {
  return std::ranges::all_of(layer.post_ops, [](const PostOp& op) {
    return op.kind == PostOp::Kind::kSum || op.kind == PostOp::Kind::kRelu;
  });
}

// A layer as one of the two primitives: what of it oneDNN is told.
struct ConvolutionCall {
  using Primitive = dnnl::convolution_forward;
  ConvGeometry geometry;

  ConvolutionCall(const QuantizedLayer& layer, const Signature& signature)
      : geometry(
            conv_geometry(layer.conv, signature.in[0].shape(), signature.out[0].shape(), false)) {}

  memory::dims data() const { return onednn::ConvArrays(geometry).image(); }
  memory::dims weight() const { return onednn::ConvArrays(geometry).weight(); }
  memory::dims out() const { return onednn::ConvArrays(geometry).map(); }
  int64_t depth() const { return geometry.image_group() * geometry.kernel_size(); }
  memory::desc lie(const memory::dims& dims, memory::data_type type) const {
    return onednn::channels_behind(dims, type);
  }
  Primitive::primitive_desc describe(const Descs& descs, const memory::desc& bias,
                                     const dnnl::primitive_attr& attributes) const {
    const onednn::ConvArrays a(geometry);
    return {onednn::engine(),
            dnnl::prop_kind::forward_inference,
            dnnl::algorithm::convolution_direct,
            descs.data,
            descs.weight,
            bias,
            descs.out,
            a.stride(),
            a.dilate(),
            a.pad(),
            a.pad_behind(),
            attributes};
  }
};

struct RowsCall {
  using Primitive = dnnl::inner_product_forward;
  DenseSizes sizes;

  RowsCall(const QuantizedLayer& layer, const Signature& signature)
      : sizes(layer.dense, signature.in[0].shape(), signature.in[1].shape()) {}

  memory::dims data() const { return {sizes.rows, sizes.depth}; }
  memory::dims weight() const { return {sizes.hidden, sizes.depth}; }
  memory::dims out() const { return {sizes.rows, sizes.hidden}; }
  int64_t depth() const { return sizes.depth; }
  memory::desc lie(const memory::dims& dims, memory::data_type type) const {
    return plain_desc(dims, type);
  }
  Primitive::primitive_desc describe(const Descs& descs, const memory::desc& bias,
                                     const dnnl::primitive_attr& attributes) const {
    return {onednn::engine(),
            dnnl::prop_kind::forward_inference,
            descs.data,
            descs.weight,
            bias,
            descs.out,
            attributes};
  }
};

memory::desc of_channels(const QuantizedLayer& layer) {
  return plain_desc({layer.channels()}, kFloat);
}

class QuantizedPrimitive final : public PreparedKernel {
 public:
  // `given`: weights as the layer has them.
  QuantizedPrimitive(const QuantizedLayer& layer, const Descs& descs, memory::desc given,
                     memory::desc other, onednn::Compile compile, std::vector<LayoutRef> in,
                     std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        layer_(layer),
        descs_(descs),
        given_(std::move(given)),
        other_(std::move(other)),
        primitive_(std::move(compile)) {
    for (int i = 1; i < layer.num_arrays() - (layer.sum ? 1 : 0); ++i) weights_.push_back(i);
    const int ends = layer.num_arrays();
    for (int i = ends + 2; i < layer.num_inputs() - (layer.sum ? 2 : 0); ++i) weights_.push_back(i);
  }

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const QuantizedPrimitive& kernel)
        : kernel_(kernel), primitive_(kernel.primitive_, kernel.arguments()) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const QuantizedLayer& layer = kernel_.layer_;
      const auto packed = kernel_.keeper_.get(context, origins, kernel_.weights_,
                                              [&] { return kernel_.pack(context); });
      const int ends = layer.num_arrays(), last = layer.num_inputs();
      float data_step =
          read_range(context, ends, ends + 1).magnitude() / wide_limit(context.in(0).dtype);
      float out_step = 1;
      if (!layer.float_result) {
        const quantize::Range range{*layer.min, *layer.max};
        out_step = range.magnitude() / wide_limit(context.out(0).dtype);
        quantize::write_range(context, range);
      }
      float* bias = packed->bias.floats();
      float* const steps = bias + layer.channels();
      if (layer.sum) {
        const float unit = read_range(context, last - 2, last - 1).magnitude() /
                           wide_limit(context.in(ends - 1).dtype);
        if (unit > 0) {  // otherwise the other branch is all zeros
          bias = context.workspace_of<float>(layer.channels());
          for (int64_t c = 0; c < layer.channels(); ++c) bias[c] = packed->bias.floats()[c] / unit;
          data_step /= unit;
          out_step /= unit;
        }
      }
      const std::array<void*, 5> given{packed->weight.data(), bias, &data_step, steps, &out_step};
      primitive_.run(context, std::span(given).first(layer.float_result ? 4 : 5));
    }

   private:
    const QuantizedPrimitive& kernel_;
    onednn::PrimitiveRun primitive_;
  };

  std::vector<onednn::Argument> arguments() const {
    const memory::desc channels = of_channels(layer_), one = plain_desc({1}, kFloat);
    std::vector<onednn::Argument> arguments{
        {DNNL_ARG_SRC, descs_.data, 0},
        {DNNL_ARG_DST, descs_.out, layer_.num_inputs()},
        {DNNL_ARG_WEIGHTS, descs_.weight, -1},
        {DNNL_ARG_BIAS, channels, -1},
        {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, one, -1},
        {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, channels, -1}};
    if (!layer_.float_result) arguments.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, one, -1});
    for (std::size_t i = 0; i < layer_.post_ops.size(); ++i) {
      if (layer_.post_ops[i].kind == PostOp::Kind::kSum)
        arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                             other_, layer_.num_arrays() - 1});
    }
    return arguments;
  }

  // The steps of the channels lie behind the bias.
  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const auto channels = static_cast<std::size_t>(layer_.channels());
    auto packed =
        std::make_shared<PackedWeight>(descs_.weight.get_size(), 2 * channels * sizeof(float));
    const QuantizedWeight made(layer_, context);
    std::ranges::copy(made.bias, packed->bias.floats());
    std::ranges::copy(made.steps, packed->bias.floats() + channels);
    auto* from = const_cast<int8_t*>(made.bytes);  // oneDNN takes inputs as void* too
    const memory plain(given_, onednn::engine(), from);
    const memory wanted(descs_.weight, onednn::engine(), packed->weight.data());
    onednn::execute(dnnl::reorder(plain, wanted),
                    {{DNNL_ARG_FROM, plain.get()}, {DNNL_ARG_TO, wanted.get()}});
    return packed;
  }

  const QuantizedLayer layer_;
  const Descs descs_;
  const memory::desc given_, other_;
  std::vector<int> weights_;  // the inputs that what is packed is made of
  const onednn::SharedPrimitive primitive_;
  mutable WeightKeeper keeper_;
};

template <class Call>
PreparedKernelRef prepare(const QuantizedLayer& layer, const Signature& signature) {
  const Call call(layer, signature);
  if (!quantize::sums_fit(call.depth())) return nullptr;
  const auto type = [](const Tensor& tensor) { return onednn::data_type(tensor.dtype); };
  const Descs wanted{call.lie(call.data(), type(signature.in[0])),
                     any_layout(call.weight(), kWeight),
                     call.lie(call.out(), type(signature.out[0]))};
  memory::desc other;
  const auto last = static_cast<std::size_t>(layer.num_arrays() - 1);
  if (layer.sum) other = call.lie(call.out(), type(signature.in[last]));
  const auto describe = [layer, call, other](const Descs& descs) {
    return call.describe(descs, of_channels(layer), attributes_of(layer, other));
  };
  const auto desc = onednn::implemented([&] { return describe(wanted); });
  if (!desc) return nullptr;
  const Descs found{desc->src_desc(), desc->weights_desc(), desc->dst_desc()};
  std::vector<LayoutRef> in(signature.in.size()), out(signature.out.size());
  if (layer.is_convolution) {
    in[0] = onednn::layout_of(found.data);
    out[0] = onednn::layout_of(found.out);
    if (layer.sum) in[last] = onednn::layout_of(other);
  }
  const auto compile = [describe, found] {
    return onednn::compiled<typename Call::Primitive>(describe(found));
  };
  return std::make_shared<const QuantizedPrimitive>(layer, found,
                                                    plain_desc(call.weight(), kWeight), other,
                                                    compile, std::move(in), std::move(out));
}

// Offsets of 32 bits are what some kernels have.
bool fits(const Tensor& tensor) {
  return tensor.size() > 0 && tensor.size() <= std::numeric_limits<int32_t>::max() / 4;
}

}  // namespace

PreparedKernelRef prepare_quantized_layer(const QuantizedLayer& layer, const Signature& signature) {
  const bool bytes =
      layer.calibrated() && std::max(std::fabs(*layer.min), std::fabs(*layer.max)) > 0;
  if (!onednn::enabled() || !(layer.float_result || bytes)) return nullptr;
  if (layer.sum && (layer.float_result || !keeps_factors(layer))) return nullptr;
  if (!std::ranges::all_of(signature.in, fits) || !fits(signature.out[0]) ||
      !quantize::onednn_bytes_are_exact())
    return nullptr;
  return layer.is_convolution ? prepare<ConvolutionCall>(layer, signature)
                              : prepare<RowsCall>(layer, signature);
}

}  // namespace mxnet

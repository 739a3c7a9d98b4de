// SPDX-License-Identifier: Apache-2.0
// Pooling and quantization as primitives of oneDNN, on arrays with channels last.
#include "op/quantize/channels_last.h"

#include <array>
#include <optional>

#include "op/onednn/prepared.h"

namespace mxnet::quantize {
namespace {

using dnnl::memory;

// One primitive on the first input and output; outputs 1 and 2 are the ends of the range: those of
// inputs 1 and 2, or known ones.
class RangedPrimitive final : public PreparedKernel {
 public:
  RangedPrimitive(onednn::Compile compile, std::vector<onednn::Argument> arguments,
                  std::vector<LayoutRef> in, std::vector<LayoutRef> out,
                  std::optional<Range> range = {}, float factor = 1)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        primitive_(std::move(compile)),
        arguments_(std::move(arguments)),
        range_(range),
        factor_(factor) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const RangedPrimitive& kernel)
        : kernel_(kernel), primitive_(kernel.primitive_, kernel.arguments_) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      float factor = kernel_.factor_;
      const std::array<void*, 1> given{&factor};
      primitive_.run(context, given);
      write_range(context, kernel_.range_ ? *kernel_.range_ : read_range(context, 1, 2));
    }

   private:
    const RangedPrimitive& kernel_;
    onednn::PrimitiveRun primitive_;
  };
  const onednn::SharedPrimitive primitive_;
  const std::vector<onednn::Argument> arguments_;
  const std::optional<Range> range_;
  const float factor_;
};

memory::dims sizes(const Windows::Sizes& all, int spatial) {
  return {all.end() - spatial, all.end()};
}

dnnl::pooling_forward::primitive_desc describe(const BytePooling& pooling, int spatial,
                                               const memory::desc& image, const memory::desc& map) {
  const Windows& w = pooling.windows;
  memory::dims behind;
  for (auto d = static_cast<std::size_t>(3 - spatial); d < 3; ++d)
    behind.push_back((w.map[d] - 1) * w.stride[d] + w.kernel[d] - w.image[d] - w.pad[d]);
  const auto algorithm = pooling.max            ? dnnl::algorithm::pooling_max
                         : pooling.whole_kernel ? dnnl::algorithm::pooling_avg_include_padding
                                                : dnnl::algorithm::pooling_avg_exclude_padding;
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          algorithm,
          image,
          map,
          sizes(w.stride, spatial),
          sizes(w.kernel, spatial),
          memory::dims(static_cast<std::size_t>(spatial), 0),
          sizes(w.pad, spatial),
          behind,
          onednn::attributes()};
}

// Windows without a pixel, and those beyond the padding, oneDNN does not have.
bool means_the_same(const Windows& w) {
  for (std::size_t d = 0; d < 3; ++d) {
    const int64_t behind = (w.map[d] - 1) * w.stride[d] + w.kernel[d] - w.image[d] - w.pad[d];
    if (w.pad[d] >= w.kernel[d] || behind >= w.kernel[d]) return false;
  }
  return true;
}

}  // namespace

PreparedKernelRef prepare_pooling(const BytePooling& pooling, const Signature& signature,
                                  const LayoutRef& layout) {
  const Tensor &data = signature.in[0], &out = signature.out[0];
  if (layout == nullptr || !onednn::enabled() || out.size() == 0 ||
      !means_the_same(pooling.windows))
    return nullptr;
  const int spatial = data.ndim() - 2;
  const memory::desc image = onednn::desc_in(layout, data);
  const memory::desc any(onednn::dims(out.shape()), image.get_data_type(), memory::format_tag::any);
  const auto desc = onednn::implemented([&] { return describe(pooling, spatial, image, any); });
  if (!desc) return nullptr;
  const memory::desc map = desc->dst_desc();
  return std::make_shared<const RangedPrimitive>(
      [pooling, spatial, image, map] {
        return onednn::compiled<dnnl::pooling_forward>(describe(pooling, spatial, image, map));
      },
      std::vector<onednn::Argument>{{DNNL_ARG_SRC, image, 0}, {DNNL_ARG_DST, map, 3}},
      std::vector<LayoutRef>{layout, nullptr, nullptr},
      std::vector<LayoutRef>{onednn::layout_of(map), nullptr, nullptr});
}

PreparedKernelRef prepare_quantize(float factor, const Range& range, const Signature& signature,
                                   const LayoutRef& layout) {
  constexpr int kImages = 4;
  const Tensor &data = signature.in[0], &out = signature.out[0];
  if (!onednn::enabled() || data.dtype != DType::kFloat32 || data.ndim() != kImages ||
      data.size() == 0)
    return nullptr;
  const memory::desc from = onednn::desc_in(layout, data);
  if (from.get_data_type() != memory::data_type::f32) return nullptr;
  const memory::desc to(onednn::dims(out.shape()), onednn::data_type(out.dtype),
                        memory::format_tag::nhwc);
  const auto describe = [from, to] {
    dnnl::primitive_attr attributes = onednn::attributes();
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    return dnnl::reorder::primitive_desc(onednn::engine(), from, onednn::engine(), to, attributes);
  };
  if (!onednn::implemented(describe)) return nullptr;
  return std::make_shared<const RangedPrimitive>(
      [describe] { return onednn::compiled<dnnl::reorder>(describe()); },
      std::vector<onednn::Argument>{{DNNL_ARG_FROM, from, 0},
                                    {DNNL_ARG_TO, to, 1},
                                    {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC,
                                     onednn::plain_desc({1}, memory::data_type::f32), -1}},
      std::vector<LayoutRef>{layout},
      std::vector<LayoutRef>{onednn::layout_of(to), nullptr, nullptr}, range, factor);
}

}  // namespace mxnet::quantize

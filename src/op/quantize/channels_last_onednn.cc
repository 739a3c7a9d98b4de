// SPDX-License-Identifier: Apache-2.0
// Pooling and quantization as primitives of oneDNN, on arrays with channels last.
#include "op/quantize/channels_last.h"

#include <array>
#include <optional>

#include "op/onednn/pooling.h"
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

onednn::PoolWindows windows_of(const BytePooling& pooling, int spatial) {
  const Windows& w = pooling.windows;
  const auto algorithm = pooling.max            ? dnnl::algorithm::pooling_max
                         : pooling.whole_kernel ? dnnl::algorithm::pooling_avg_include_padding
                                                : dnnl::algorithm::pooling_avg_exclude_padding;
  return {algorithm, spatial, w.image, w.map, w.kernel, w.stride, w.pad};
}

}  // namespace

LayoutRef channels_last_layout(const Tensor& tensor) {
  return onednn::layout_of(
      onednn::channels_behind(onednn::dims(tensor.shape()), onednn::data_type(tensor.dtype)));
}

PreparedKernelRef prepare_pooling(const BytePooling& pooling, const Signature& signature,
                                  const LayoutRef& layout) {
  const Tensor &data = signature.in[0], &out = signature.out[0];
  const onednn::PoolWindows windows = windows_of(pooling, data.ndim() - 2);
  if (layout == nullptr || !onednn::enabled() || out.size() == 0 || !windows.all_have_pixels())
    return nullptr;
  if (pooling.max) {
    if (auto own = prepare_max_pooling(pooling.windows, signature, layout)) return own;
  }
  const memory::desc image = onednn::desc_in(layout, data);
  const memory::desc any(onednn::dims(out.shape()), image.get_data_type(), memory::format_tag::any);
  const auto desc = onednn::implemented([&] { return describe(windows, image, any); });
  if (!desc) return nullptr;
  const memory::desc map = desc->dst_desc();
  return std::make_shared<const RangedPrimitive>(
      [windows, image, map] {
        return onednn::compiled<dnnl::pooling_forward>(describe(windows, image, map));
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
  const memory::desc to =
      onednn::channels_behind(onednn::dims(out.shape()), onednn::data_type(out.dtype));
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

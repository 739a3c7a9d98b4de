// SPDX-License-Identifier: Apache-2.0
// The fused convolution as one primitive of oneDNN, its weights packed with what batch
// normalisation makes of them.
#include <algorithm>
#include <array>
#include <optional>

#include "base/omp.h"
#include "base/simd.h"
#include "op/fused/conv.h"
#include "op/fused/conv_lines.h"
#include "op/fused/fold.h"
#include "op/fused/packed_weight.h"
#include "op/fused/post_ops_onednn.h"
#include "op/fused/sum_place.h"
#include "op/fused/winograd.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/lru_cache.h"
#include "op/onednn/prepared.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::any_layout;
using Desc = dnnl::convolution_forward::primitive_desc;

constexpr auto kFloat = memory::data_type::f32, kNarrow = memory::data_type::bf16;

ConvGeometry geometry_of(const FusedConvParams& params, const Signature& signature) {
  return conv_geometry(params.conv, signature.in[0].shape(), signature.out[0].shape(), false);
}

bool has_bias(const FusedConvParams& params) { return params.batch_norm || !params.conv.no_bias; }

struct Descs {
  memory::desc image, weight, map;
};

Desc describe(const FusedConvParams& params, const ConvGeometry& g, const Descs& descs) {
  const onednn::ConvArrays a(g);
  dnnl::primitive_attr attributes = onednn::attributes();
  attributes.set_post_ops(onednn::post_ops(params.post_ops));
  return {onednn::engine(),
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct,
          descs.image,
          descs.weight,
          has_bias(params) ? onednn::plain_desc({g.map_channels}, kFloat) : memory::desc(),
          descs.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          attributes};
}

// In whatever type: layers that compute in bfloat16 have Winograd kernels between them.
bool is_in_blocks(const LayoutRef& source, const Tensor& image) {
  const memory::desc desc = onednn::desc_in(source, image);
  return desc == onednn::channel_blocks(onednn::dims(image.shape()), desc.get_data_type());
}

// Where much of blocks would be padding, channels lie behind; 1x1 kernels wait for memory, and
// would wait for a step into another layout as well.
bool leaves_blocks(const ConvGeometry& g) {
  return g.spatial == 2 && g.groups == 1 && g.kernel_size() > 1 && g.pads_much();
}

// Whether one thread reads fast what is laid out for those of the process. Small parts of plans run
// on one, where oneDNN wants other weights of channels that lie behind, in some sizes, and has its
// reference kernel alone for these, hundreds of times as slow. Larger ones run on all threads.
bool fast_on_one_thread(const Desc& desc, const FusedConvParams& params, const ConvGeometry& g) {
  constexpr std::size_t kLarge = std::size_t{1} << 18;  // bytes
  const Descs descs{desc.src_desc(), desc.weights_desc(), desc.dst_desc()};
  if (descs.image.get_size() + descs.weight.get_size() + descs.map.get_size() > kLarge) return true;
  const OneThread narrow;
  return onednn::implemented([&] { return describe(params, g, descs); }) != nullptr;
}

// Kernels for channels that lie behind make little of fewer than a vector: over three dimensions,
// where they are faster else, 8 channels to 16 take 1.4 times as long, 3 to 16 1.5 times.
bool few_channels_of_volume(const ConvGeometry& g) {
  constexpr int64_t kFew = 16;
  return g.spatial == 3 && g.image_channels < kFew && !g.pads_much();
}

// Null where oneDNN has nothing fast in this type. oneDNN's own choice is channels behind where
// matrix units multiply, which kernels for blocks do not use. Elsewhere images stay in channel
// blocks where they are in them, or where nothing is decided yet: that is what Winograd kernels
// work in, and with those in between the direct ones gain more than channels behind give them.
std::unique_ptr<Desc> implemented_in(memory::data_type type, const FusedConvParams& params,
                                     const ConvGeometry& g, const Signature& signature,
                                     const LayoutRef& source) {
  const onednn::ConvArrays a(g);
  const Descs any{any_layout(a.image(), type), any_layout(a.weight(), type),
                  any_layout(a.map(), type)};
  if (type == kFloat && leaves_blocks(g)) {
    const Descs behind{onednn::channels_behind(a.image(), type), any.weight,
                       onednn::channels_behind(a.map(), type)};
    auto desc = onednn::implemented([&] { return describe(params, g, behind); });
    if (desc && fast_on_one_thread(*desc, params, g)) return desc;
  }
  const auto chosen = [&] { return onednn::implemented([&] { return describe(params, g, any); }); };
  const Descs in_blocks{onednn::channel_blocks(a.image(), type), any.weight,
                        onednn::channel_blocks(a.map(), type)};
  const bool in_tiles = type == kNarrow && onednn::multiplies_bfloat16_in_tiles();
  if ((g.spatial == 2 || few_channels_of_volume(g)) && g.image_channels > 1 && !in_tiles &&
      (source == nullptr || is_in_blocks(source, signature.in[0]))) {
    const Descs descs{source == nullptr ? any.image : in_blocks.image, any.weight, in_blocks.map};
    if (auto desc = onednn::implemented([&] { return describe(params, g, descs); })) return desc;
    // Kernels for a channel each have to be told that the image is in blocks too. The steps into
    // blocks and back take a third of the time of those that bring channels behind.
    if (source == nullptr && g.groups > 1 && !g.pads_much())
      if (auto desc = onednn::implemented([&] { return describe(params, g, in_blocks); }))
        return desc;
  }
  auto desc = chosen();
  if (!desc || fast_on_one_thread(*desc, params, g)) return desc;
  for (const memory::desc& image : {in_blocks.image, any.image}) {
    const Descs descs{image, any.weight, in_blocks.map};
    auto blocks = onednn::implemented([&] { return describe(params, g, descs); });
    if (blocks && fast_on_one_thread(*blocks, params, g)) return blocks;
  }
  return desc;
}

// A graph asks for each layer several times, as it grows and when it is laid out, and networks have
// many layers of the same sizes; oneDNN takes its time for each answer.
struct Known {
  static constexpr int64_t kMost = 128;
  Desc desc;
};

// All that the answer depends on, but for what no process changes: the CPU.
void add_to(onednn::Key& key, const FusedConvParams& params, const ConvGeometry& g,
            memory::data_type type, int64_t source) {
  key.add(static_cast<int64_t>(type)).add(source).add(has_bias(params) ? 1 : 0);
  key.add(g.spatial).add(g.batch).add(g.groups).add(g.image_channels).add(g.map_channels);
  for (const auto& sizes : {g.image, g.map, g.kernel, g.stride, g.dilate, g.pad}) key.add(sizes);
  onednn::add_to(key, params.post_ops);
}

std::unique_ptr<Desc> implemented(const FusedConvParams& params, const Signature& signature,
                                  const LayoutRef& source) {
  if (!onednn::takes(signature) || channels_last(params.conv.layout)) return nullptr;
  // Packing converts weights and bias from any type; what runs at each call has one of two.
  const DType data = signature.in[0].dtype;
  if (data != DType::kFloat32 && data != DType::kBFloat16) return nullptr;
  if (params.sum && signature.in[1].dtype != data) return nullptr;
  const memory::data_type type = onednn::inference_type(signature.in[0].dtype);
  const ConvGeometry g = geometry_of(params, signature);
  const int64_t lies = source == nullptr ? 0 : is_in_blocks(source, signature.in[0]) ? 1 : 2;
  onednn::Key key;
  add_to(key, params, g, type, lies);
  const Known* known = onednn::thread_cache<Known>().get(key, [&] {
    auto desc = implemented_in(type, params, g, signature, source);
    if (!desc && type != kFloat) desc = implemented_in(kFloat, params, g, signature, source);
    return desc ? std::make_unique<Known>(std::move(*desc)) : nullptr;
  });
  return known != nullptr ? std::make_unique<Desc>(known->desc) : nullptr;
}

DirectUnits units_of(const Desc& desc) {
  if (desc.src_desc().get_data_type() != kNarrow) return DirectUnits::kFloat32;
  return onednn::multiplies_bfloat16_in_tiles() ? DirectUnits::kBFloat16Tiles
                                                : DirectUnits::kBFloat16;
}

// Of an image that has its zeros.
ConvGeometry with_zeros_in_place(ConvGeometry g) {
  for (std::size_t i = 0; i < 3; ++i)
    g.image[i] = (g.map[i] - 1) * g.stride[i] + g.dilate[i] * (g.kernel[i] - 1) + 1;
  g.pad = {};
  return g;
}

// oneDNN's kernels for AVX2 take no zeros around an image where a kernel of more than 7 places is
// moved by more than one: the first layer of AlexNet, 11x11 by 4, which is far faster with
// the copy of the image that has them ("Figures" in docs/onednn.md). Null for others.
std::unique_ptr<Desc> direct_on_copy(const Desc& desc, const FusedConvParams& params,
                                     const ConvGeometry& g, const Signature& signature,
                                     const LayoutRef& source) {
  constexpr int64_t kFewChannels = 4;  // little to copy beside what is computed
  if (simd_level() != 1 || g.spatial != 2 || source != nullptr ||
      signature.in[0].dtype != DType::kFloat32 || g.image_channels > kFewChannels ||
      !onednn::multiplies_columns(desc))
    return nullptr;
  auto direct = implemented_in(kFloat, params, with_zeros_in_place(g), signature, source);
  const bool plain = direct && onednn::layout_of(direct->src_desc()) == nullptr;
  return plain && !onednn::multiplies_columns(*direct) ? std::move(direct) : nullptr;
}

// How many lines of the first dimension of weights are multiplied out and reordered at a time.
// Between the two they stay in the cache, and memory is touched for no more: a second copy of all
// weights costs more to get from the system than to write. Whole blocks of whatever layout.
int64_t lines_at_a_time(int64_t all, int64_t line) {
  constexpr int64_t kFloats = int64_t{1} << 18, kBlocks = 64;
  if (all * line <= kFloats || all % kBlocks != 0) return all;
  int64_t lines = std::max(kFloats / line / kBlocks, int64_t{1}) * kBlocks;
  while (all % lines != 0) lines -= kBlocks;
  return lines;
}

class FusedConv final : public PreparedKernel {
 public:
  // `g`: of an image that has its zeros, where they are put around a copy.
  FusedConv(const FusedConvParams& params, const ConvGeometry& g, bool copies, const Desc& desc,
            std::vector<LayoutRef> in, LayoutRef out)
      : PreparedKernel("onednn", std::move(in), {std::move(out)}),
        params_(params),
        geometry_(g),
        copies_(copies),
        descs_{desc.src_desc(), desc.weights_desc(), desc.dst_desc()},
        primitive_(onednn::compile_found(
            desc, [params, g, descs = descs_] { return describe(params, g, descs); })),
        keeper_(packed_form(PackedBy::kConvolution, onednn::words_of(descs_.weight),
                            Folding::words_of(params))) {}

  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(*this); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const FusedConv& conv)
        : conv_(conv), primitive_(conv.primitive_, conv.arguments()) {}

    void run(const KernelContext& context, std::span<const InputOrigin> origins) override {
      const FusedConvParams& params = conv_.params_;
      if (params.sum) place_sum(context, conv_.descs_.map.get_size());
      const auto packed = conv_.keeper_.get(context, origins, params.weight_input(),
                                            [&] { return conv_.pack(context); });
      const std::array<void*, 3> given{conv_.copies_ ? conv_.copy(context) : nullptr,
                                       packed->weight.data(), packed->bias.data()};
      primitive_.run(context, std::span(given).subspan(conv_.copies_ ? 0 : 1));
    }

   private:
    const FusedConv& conv_;
    onednn::PrimitiveRun primitive_;
  };

  std::vector<onednn::Argument> arguments() const {
    std::vector<onednn::Argument> arguments{{DNNL_ARG_SRC, descs_.image, copies_ ? -1 : 0},
                                            {DNNL_ARG_DST, descs_.map, params_.num_inputs()},
                                            {DNNL_ARG_WEIGHTS, descs_.weight, -1}};
    if (has_bias(params_))
      arguments.push_back(
          {DNNL_ARG_BIAS, onednn::plain_desc({geometry_.map_channels}, kFloat), -1});
    return arguments;
  }

  // The image, and zeros around it.
  float* copy(const KernelContext& context) const {
    const auto* image = static_cast<const float*>(context.in(0).data);
    const Shape& shape = context.in(0).shape();
    const int64_t height = shape[2], width = shape[3];
    const int64_t rows = geometry_.image[1], columns = geometry_.image[2];
    const int64_t above = params_.conv.pad_of(0), before = params_.conv.pad_of(1);
    const int64_t count = std::min(width, columns - before);
    auto* copy = context.workspace_of<float>(shape[0] * shape[1] * rows * columns);
    parallel_for(shape[0] * shape[1] * rows, static_cast<double>(columns),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) {
                     float* to = copy + i * columns;
                     std::fill_n(to, columns, 0.0F);
                     const int64_t row = i % rows - above;
                     if (row >= 0 && row < height)
                       std::copy_n(image + (i / rows * height + row) * width, count, to + before);
                   }
                 });
    return copy;
  }

  std::shared_ptr<const PackedWeight> pack(const KernelContext& context) const {
    const auto channels = static_cast<std::size_t>(geometry_.map_channels);
    auto packed =
        std::make_shared<PackedWeight>(descs_.weight.get_size(), channels * sizeof(float));
    const Folding folding(params_, context, packed->bias.floats());
    memory::dims part = onednn::ConvArrays(geometry_).weight(), at(part.size());
    const int64_t all = part[0], row = geometry_.image_group() * geometry_.kernel_size();
    const int64_t filters = geometry_.map_channels / all;  // in a line of the first dimension
    part[0] = folding.scales() == nullptr ? all : lines_at_a_time(all, filters * row);
    memory::desc wanted = descs_.weight.submemory_desc(part, at, /*allow_empty=*/true);
    if (part[0] == all || !wanted) {
      part[0] = all;
      wanted = descs_.weight;
    }
    const int64_t count = part[0] * filters;
    std::optional<PackedFloats> room;
    if (folding.scales() != nullptr)
      room.emplace(static_cast<std::size_t>(count * row) * sizeof(float));
    const memory from(onednn::plain_desc(part, kFloat), onednn::engine(), DNNL_MEMORY_NONE);
    const memory to(wanted, onednn::engine(), DNNL_MEMORY_NONE);
    const dnnl::reorder reorder(from, to);
    const auto bytes = static_cast<int64_t>(memory::data_type_size(wanted.get_data_type()));
    for (; at[0] < all; at[0] += part[0]) {
      const float* scaled =
          folding.multiplied(at[0] * filters, count, row, room ? room->floats() : nullptr);
      from.set_data_handle(const_cast<float*>(scaled));  // oneDNN takes inputs as void* too
      const memory::dim before =
          at[0] == 0 ? 0 : descs_.weight.submemory_desc(part, at).get_submemory_offset();
      to.set_data_handle(static_cast<char*>(packed->weight.data()) + before * bytes);
      onednn::execute(reorder, {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}});
    }
    return packed;
  }

  const FusedConvParams params_;
  const ConvGeometry geometry_;
  const bool copies_;
  const Descs descs_;
  const onednn::SharedPrimitive primitive_;
  mutable WeightKeeper keeper_;
};

}  // namespace

bool fused_conv_accepts(const FusedConvParams& params, const Signature& signature) {
  return implemented(params, signature, nullptr) != nullptr;
}

PreparedKernelRef prepare_fused_conv(const OpDef&, const void* params, const Signature& signature,
                                     std::span<const LayoutRef> layouts) {
  const auto& conv = *static_cast<const FusedConvParams*>(params);
  auto desc = implemented(conv, signature, layouts[0]);
  if (!desc) return nullptr;
  const DirectUnits direct = units_of(*desc);
  const bool by_columns = onednn::multiplies_columns(*desc);
  if (auto lines = by_columns ? prepare_conv_lines(conv, signature) : nullptr) return lines;
  if (auto winograd = prepare_winograd(conv, signature, layouts[0], direct)) return winograd;
  ConvGeometry g = geometry_of(conv, signature);
  auto on_copy = direct_on_copy(*desc, conv, g, signature, layouts[0]);
  const bool copies = on_copy != nullptr;
  if (copies) {
    desc = std::move(on_copy);
    g = with_zeros_in_place(g);
  }
  std::vector<LayoutRef> in(signature.in.size());
  in[0] = onednn::layout_of(desc->src_desc(), onednn::data_type(signature.in[0].dtype));
  LayoutRef out = onednn::layout_of(desc->dst_desc(), onednn::data_type(signature.out[0].dtype));
  if (conv.sum) in[1] = out;
  return std::make_shared<const FusedConv>(conv, g, copies, *desc, std::move(in), std::move(out));
}

}  // namespace mxnet

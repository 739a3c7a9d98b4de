// SPDX-License-Identifier: Apache-2.0
// Pooling primitives of oneDNN.
#include "op/nn/pooling_onednn.h"

#include <algorithm>

#include "op/onednn/lru_cache.h"
#include "op/onednn/operand.h"
#include "op/onednn/pooling.h"
#include "op/onednn/prepared.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Operand;

onednn::PoolWindows windows_of(const PoolGeometry& g) {
  const auto algorithm = g.type == PoolKind::kMax ? dnnl::algorithm::pooling_max
                         : g.include_pad          ? dnnl::algorithm::pooling_avg_include_padding
                                                  : dnnl::algorithm::pooling_avg_exclude_padding;
  return {algorithm, g.spatial, g.image, g.map, g.kernel, g.stride, g.pad};
}

// Our array of these spatial sizes, channels first or last.
memory::desc array_desc(const PoolGeometry& g, const PoolGeometry::Sizes& sizes,
                        memory::data_type type) {
  memory::dims dims{g.batch, g.channels};
  const memory::dims spatial = windows_of(g).existing(sizes);
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (!g.channels_last) return onednn::plain_desc(dims, type);
  memory::dims steps(dims.size());
  steps[1] = 1;
  memory::dim step = g.channels;
  for (std::size_t i = dims.size(); i-- > 2; step *= dims[i]) steps[i] = step;
  steps[0] = step;
  return {dims, type, steps};
}

// Maxima see pixels only, and averages divide by all of the window or by the pixels in it.
bool means_the_same(const PoolGeometry& g) {
  if (g.type != PoolKind::kMax && g.type != PoolKind::kAvg) return false;
  if (g.zero_padding && g.type == PoolKind::kMax && g.pad != PoolGeometry::Sizes{}) return false;
  const onednn::PoolWindows windows = windows_of(g);
  if (!windows.all_have_pixels()) return false;
  if (g.type == PoolKind::kMax || !g.include_pad || g.zero_padding) return true;
  for (std::size_t d = 0; d < 3; ++d)
    if (windows.reach_behind(d) > g.pad_behind[d]) return false;
  return true;
}

dnnl::pooling_forward::primitive_desc describe(const PoolGeometry& g, memory::data_type type) {
  return describe(windows_of(g), array_desc(g, g.image, type), array_desc(g, g.map, type));
}

dnnl::pooling_backward::primitive_desc describe_spread(const PoolGeometry& g,
                                                       const memory::desc& image,
                                                       const memory::desc& map) {
  const auto forward = describe(windows_of(g), image, map);
  return {onednn::engine(),
          forward.get_algorithm(),
          image,
          map,
          forward.get_strides(),
          forward.get_kernel(),
          forward.get_dilations(),
          forward.get_padding_l(),
          forward.get_padding_r(),
          forward,
          onednn::attributes()};
}

// Both directions: one array in, one out.
template <class Primitive>
struct PoolCall {
  Operand in, out;
  onednn::Scratchpad scratchpad;
  Primitive primitive;
};

using Forward = PoolCall<dnnl::pooling_forward>;
using Spread = PoolCall<dnnl::pooling_backward>;

std::unique_ptr<Forward> make(const PoolGeometry& g, DType dtype, Forward*) {
  const auto type = onednn::data_type(dtype);
  const auto desc = onednn::implemented([&] { return describe(g, type); });
  if (!desc) return nullptr;
  return std::make_unique<Forward>(
      Forward{Operand(array_desc(g, g.image, type), desc->src_desc(), false),
              Operand(array_desc(g, g.map, type), desc->dst_desc(), true),
              onednn::Scratchpad(desc->scratchpad_desc()), dnnl::pooling_forward(*desc)});
}

std::unique_ptr<Spread> make(const PoolGeometry& g, DType dtype, Spread*) {
  const auto type = onednn::data_type(dtype);
  const auto desc = onednn::implemented(
      [&] { return describe_spread(g, array_desc(g, g.image, type), array_desc(g, g.map, type)); });
  if (!desc) return nullptr;
  return std::make_unique<Spread>(
      Spread{Operand(array_desc(g, g.map, type), desc->diff_dst_desc(), false),
             Operand(array_desc(g, g.image, type), desc->diff_src_desc(), true),
             onednn::Scratchpad(desc->scratchpad_desc()), dnnl::pooling_backward(*desc)});
}

// Null where oneDNN has none.
template <class Call>
Call* call_of(const PoolGeometry& g, DType dtype) {
  onednn::Key key;
  key.add(static_cast<int64_t>(dtype))
      .add(static_cast<int64_t>(g.type))
      .add(g.include_pad)
      .add(g.zero_padding);
  key.add(g.spatial).add(g.channels_last).add(g.batch).add(g.channels);
  for (auto d = static_cast<std::size_t>(3 - g.spatial); d < 3; ++d) {
    key.add(g.image[d]).add(g.map[d]).add(g.kernel[d]).add(g.stride[d]);
    key.add(g.pad[d]).add(g.pad_behind[d]);
  }
  Call* kind = nullptr;
  return onednn::thread_cache<Call>().get(
      key, [&] { return means_the_same(g) ? make(g, dtype, kind) : nullptr; });
}

}  // namespace

bool pool_forward_onednn_accepts(const PoolParams& params, const Signature& signature) {
  if (!onednn::takes(signature)) return false;
  const Tensor& data = signature.in[0];
  return call_of<Forward>(pool_geometry(params, data.shape(), signature.out[0].shape()),
                          data.dtype) != nullptr;
}

void pool_forward_onednn(const PoolParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  Forward& call = *call_of<Forward>(pool_geometry(params, data.shape(), out.shape()), data.dtype);
  onednn::execute(call.primitive, {{DNNL_ARG_SRC, call.in.load(context, data.data)},
                                   {DNNL_ARG_DST, call.out.place(context, out.data)},
                                   {DNNL_ARG_SCRATCHPAD, call.scratchpad.take(context)}});
  call.out.store();
}

PreparedKernelRef prepare_pooling(const OpDef&, const void* params, const Signature& signature,
                                  std::span<const LayoutRef> layouts) {
  const Tensor &data = signature.in[0], &out = signature.out[0];
  const auto& pool = *static_cast<const PoolParams*>(params);
  if (layouts[0] == nullptr || !onednn::takes(signature) || channels_last(pool.layout))
    return nullptr;
  const PoolGeometry g = pool_geometry(pool, data.shape(), out.shape());
  if (!means_the_same(g)) return nullptr;
  const onednn::PoolWindows windows = windows_of(g);
  const memory::desc image = onednn::desc_in(layouts[0], data);
  const memory::desc any(onednn::dims(out.shape()), image.get_data_type(), memory::format_tag::any);
  const auto desc = onednn::implemented([&] { return describe(windows, image, any); });
  if (!desc) return nullptr;
  const memory::desc map = desc->dst_desc();
  std::vector<onednn::Argument> arguments{{DNNL_ARG_SRC, image, 0}, {DNNL_ARG_DST, map, 1}};
  // Windows that hardly overlap read the image about once.
  const int64_t read = g.map_size() * g.kernel[0] * g.kernel[1] * g.kernel[2];
  const onednn::Width width =
      read <= 4 * g.image_size() ? onednn::width_of_bytes(arguments) : onednn::Width::kAll;
  return onednn::prepared_primitive(
      onednn::compile_found(*desc, [windows, image, map] { return describe(windows, image, map); }),
      std::move(arguments), {layouts[0]}, {onednn::layout_of(map, onednn::data_type(out.dtype))},
      width);
}

// Inputs: gradient of the map, and an image that only has its shape; output: its gradient.
PreparedKernelRef prepare_pool_spread(const OpDef&, const void* params, const Signature& signature,
                                      std::span<const LayoutRef> layouts) {
  const Tensor &dmap = signature.in[0], &data = signature.in[1];
  const auto& pool = *static_cast<const PoolParams*>(params);
  const auto blocked = std::ranges::find_if(layouts, [](auto& l) { return l != nullptr; });
  if (blocked == layouts.end() || !onednn::takes(signature) || data.dtype != dmap.dtype ||
      !onednn::is_image(data) || channels_last(pool.layout))
    return nullptr;
  const PoolGeometry g = pool_geometry(pool, data.shape(), dmap.shape());
  if (g.type != PoolKind::kAvg || !means_the_same(g)) return nullptr;
  const memory::data_type type = onednn::data_type(data.dtype);
  const memory::desc image = onednn::images_in_training(onednn::dims(data.shape()), type),
                     map = onednn::images_in_training(onednn::dims(dmap.shape()), type);
  const auto describe = [g, image, map] { return describe_spread(g, image, map); };
  const auto found = onednn::implemented(describe);
  if (!found) return nullptr;
  const LayoutRef layout = onednn::layout_of(image);
  return onednn::prepared_primitive(onednn::compile_found(*found, describe),
                                    {{DNNL_ARG_DIFF_DST, map, 0}, {DNNL_ARG_DIFF_SRC, image, 2}},
                                    {onednn::layout_of(map), nullptr}, {layout});
}

bool pool_spread_onednn_accepts(const PoolParams& params, const Signature& signature) {
  if (!onednn::takes(signature) || params.type != PoolKind::kAvg) return false;
  const Tensor &dout = signature.in[0], &data = signature.in[1];
  return call_of<Spread>(pool_geometry(params, data.shape(), dout.shape()), dout.dtype) != nullptr;
}

void pool_spread_onednn(const PoolParams& params, KernelContext& context) {
  const Tensor &dout = context.in(0), &data = context.out(0);
  Spread& call = *call_of<Spread>(pool_geometry(params, data.shape(), dout.shape()), dout.dtype);
  onednn::execute(call.primitive, {{DNNL_ARG_DIFF_DST, call.in.load(context, dout.data)},
                                   {DNNL_ARG_DIFF_SRC, call.out.place(context, data.data)},
                                   {DNNL_ARG_SCRATCHPAD, call.scratchpad.take(context)}});
  call.out.store();
}

}  // namespace mxnet

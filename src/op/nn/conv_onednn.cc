// SPDX-License-Identifier: Apache-2.0
// The three products of a convolution as oneDNN primitives in layouts of its choice. A
// deconvolution uses the same three, in other roles.
#include "op/nn/conv_onednn.h"

#include "base/simd.h"
#include "op/nn/bias.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/nn/conv_lines.h"
#include "op/nn/trilinear_grad.h"
#include "op/onednn/layer.h"
#include "op/onednn/layout.h"
#include "op/onednn/lru_cache.h"
#include "op/onednn/width.h"

namespace mxnet {
namespace {

using dnnl::memory;
using onednn::Operand;
using Arrays = onednn::ConvArrays;
using onednn::any_layout;

// Where images and maps lie: as oneDNN likes them, which is mostly in blocks of channels, or with
// the channels behind, which need no padding.
enum class Lie : bool { kAsLiked, kChannelsBehind };

memory::desc lying(Lie lie, const memory::dims& dims, memory::data_type type) {
  return lie == Lie::kAsLiked ? any_layout(dims, type) : onednn::channels_behind(dims, type);
}

// What `describe` makes for the faster of the two; null where there is nothing fast at all.
template <class Describe>
auto implemented_lying(const ConvGeometry& g, DType dtype, const Describe& describe) {
  const auto in = [&](Lie lie) {
    return onednn::implemented_for(dtype,
                                   [&](memory::data_type type) { return describe(lie, type); });
  };
  if (dtype == DType::kFloat32 && g.spatial == 2 && g.groups == 1 && g.pads_much())
    if (auto desc = in(Lie::kChannelsBehind)) return desc;
  return in(Lie::kAsLiked);
}

dnnl::convolution_forward::primitive_desc describe_map(const ConvGeometry& g, bool bias, Lie lie,
                                                       memory::data_type type) {
  const Arrays a(g);
  return {onednn::engine(),
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          lying(lie, a.image(), type),
          any_layout(a.weight(), type),
          bias ? any_layout({g.map_channels}, type) : memory::desc(),
          lying(lie, a.map(), type),
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          onednn::attributes()};
}

// map = image * weight + bias
struct MapProduct : onednn::Layer<dnnl::convolution_forward> {
  using Layer::Layer;

  static std::unique_ptr<MapProduct> make(const ConvGeometry& g, DType dtype, bool with_bias) {
    const auto desc = implemented_lying(g, dtype, [&](Lie lie, memory::data_type type) {
      return describe_map(g, with_bias, lie, type);
    });
    if (!desc) return nullptr;
    const Arrays a(g);
    const auto type = onednn::data_type(dtype);
    const auto bias = with_bias ? onednn::plain_desc({g.map_channels}, type) : memory::desc();
    auto product = std::make_unique<MapProduct>(
        *desc,
        Plain{a.plain(a.image(), type), a.plain(a.weight(), type), bias, a.plain(a.map(), type)});
    product->by_lines = onednn::multiplies_columns(*desc) && suits_lines(g);
    return product;
  }

  bool by_lines = false;  // our own loops are faster
};

// image = map * transposed weight, of half types as float32 where a bias follows
struct ImageProduct {
  Operand map, weight, image;
  onednn::Scratchpad scratchpad;
  dnnl::convolution_backward_data primitive;

  static std::unique_ptr<ImageProduct> make(const ConvGeometry& g, DType dtype, bool with_bias) {
    const Arrays a(g);
    const auto image_type = onednn::data_type(with_bias ? DType::kFloat32 : dtype);
    const auto desc = implemented_lying(g, dtype, [&](Lie lie, memory::data_type type) {
      return dnnl::convolution_backward_data::primitive_desc(
          onednn::engine(), dnnl::algorithm::convolution_direct,
          lying(lie, a.image(), with_bias ? image_type : type), any_layout(a.weight(), type),
          lying(lie, a.map(), type), a.stride(), a.dilate(), a.pad(), a.pad_behind(),
          describe_map(g, false, lie, type), onednn::attributes());
    });
    if (!desc) return nullptr;
    const auto type = onednn::data_type(dtype);
    auto product = std::make_unique<ImageProduct>();
    product->map = Operand(a.plain(a.map(), type), desc->diff_dst_desc(), false);
    product->weight = Operand(a.plain(a.weight(), type), desc->weights_desc(), false);
    product->image = Operand(a.plain(a.image(), image_type), desc->diff_src_desc(), true);
    product->scratchpad = onednn::Scratchpad(desc->scratchpad_desc());
    product->primitive = dnnl::convolution_backward_data(*desc);
    return product;
  }

  // `loaded` is what map.load() gave.
  void run(const KernelContext& context, dnnl_memory_t loaded, const void* w, void* to) {
    onednn::execute(primitive, {{DNNL_ARG_DIFF_DST, loaded},
                                {DNNL_ARG_WEIGHTS, weight.load(context, w)},
                                {DNNL_ARG_DIFF_SRC, image.place(context, to)},
                                {DNNL_ARG_SCRATCHPAD, scratchpad.take(context)}});
    image.store();
  }
};

// weight = sum of image times map; bias = sums of map
struct WeightProduct {
  Operand image, map, weight, bias;
  onednn::Scratchpad scratchpad;
  dnnl::convolution_backward_weights primitive;

  static std::unique_ptr<WeightProduct> make(const ConvGeometry& g, DType dtype, bool with_bias) {
    if (!onednn::weight_gradient_is_right(g, dtype)) return nullptr;
    const Arrays a(g);
    const auto desc = implemented_lying(g, dtype, [&](Lie lie, memory::data_type type) {
      return dnnl::convolution_backward_weights::primitive_desc(
          onednn::engine(), dnnl::algorithm::convolution_direct, lying(lie, a.image(), type),
          any_layout(a.weight(), type),
          with_bias ? any_layout({g.map_channels}, type) : memory::desc(),
          lying(lie, a.map(), type), a.stride(), a.dilate(), a.pad(), a.pad_behind(),
          describe_map(g, with_bias, lie, type), onednn::attributes());
    });
    if (!desc) return nullptr;
    const auto type = onednn::data_type(dtype);
    auto product = std::make_unique<WeightProduct>();
    product->image = Operand(a.plain(a.image(), type), desc->src_desc(), false);
    product->map = Operand(a.plain(a.map(), type), desc->diff_dst_desc(), false);
    product->weight = Operand(a.plain(a.weight(), type), desc->diff_weights_desc(), true);
    if (with_bias)
      product->bias =
          Operand(onednn::plain_desc({g.map_channels}, type), desc->diff_bias_desc(), true);
    product->scratchpad = onednn::Scratchpad(desc->scratchpad_desc());
    product->primitive = dnnl::convolution_backward_weights(*desc);
    return product;
  }

  void run(const KernelContext& context, dnnl_memory_t loaded_image, dnnl_memory_t loaded_map,
           void* to, void* to_bias) {
    onednn::execute(primitive, {{DNNL_ARG_SRC, loaded_image},
                                {DNNL_ARG_DIFF_DST, loaded_map},
                                {DNNL_ARG_DIFF_WEIGHTS, weight.place(context, to)},
                                {DNNL_ARG_DIFF_BIAS, bias.place(context, to_bias)},
                                {DNNL_ARG_SCRATCHPAD, scratchpad.take(context)}});
    weight.store();
    bias.store();
  }
};

// The product of a geometry, null where oneDNN has none; `with` = with a bias.
template <class Product, class... With>
Product* product_of(const ConvGeometry& g, DType dtype, With... with) {
  onednn::Key key;
  key.add(static_cast<int64_t>(dtype)).add(g.spatial).add(g.channels_last).add(g.batch);
  key.add(g.groups).add(g.image_channels).add(g.map_channels);
  (key.add(int64_t{with}), ...);
  for (auto d = static_cast<std::size_t>(3 - g.spatial); d < 3; ++d) {
    key.add(g.image[d]).add(g.map[d]).add(g.kernel[d]);
    key.add(g.stride[d]).add(g.dilate[d]).add(g.pad[d]);
  }
  return onednn::thread_cache<Product>().get(key, [&] { return Product::make(g, dtype, with...); });
}

// The products of a backward call; those that are not wanted stay null.
struct BackwardProducts {
  ImageProduct* image = nullptr;
  MapProduct* map = nullptr;
  WeightProduct* weight = nullptr;

  BackwardProducts(const ConvParams& params, const ConvGeometry& g, DType dtype, bool transposed) {
    if (wants(params.wanted, kWantData)) {
      if (transposed) {
        map = product_of<MapProduct>(g, dtype, false);
      } else {
        image = product_of<ImageProduct>(g, dtype, false);
      }
      complete &= map != nullptr || image != nullptr;
    }
    if (wants(params.wanted, kWantWeight)) {
      weight = product_of<WeightProduct>(g, dtype, !transposed && wants(params.wanted, kWantBias));
      complete &= weight != nullptr;
    }
  }
  bool complete = true;
};

// Whether bringing the weight to its layout takes long beside the product: an image's last layers
// have large weights and few pixels ("Figures" in docs/onednn.md).
bool keeps_weight(const ConvGeometry& g) {
  constexpr int64_t kFewPixels = 1024, kSmallWeight = 1 << 14;
  return g.batch * g.map_size() <= kFewPixels &&
         g.image_group() * g.map_channels * g.kernel_size() >= kSmallWeight;
}

// Whether a convolution is soon done as a product of arrays where they lie: of kernels of one
// pixel, to bring the arrays into blocks of channels and back takes longer than to compute, where
// channels do not fill the blocks, up to 3.3 times as long in all. With full blocks, and from 8 MiB
// on, where it waits for memory, it depends ("Figures" in docs/onednn.md). Of one channel on either
// side the product is one with a vector, which reads its arrays once: a tenth of the time.
bool suits_product(const ConvGeometry& g, DType dtype) {
  constexpr int64_t kMost = 1 << 20;  // numbers of both
  if (dtype != DType::kFloat32 || g.groups != 1 || g.channels_last || !g.is_pointwise())
    return false;
  if (g.image_channels == 1 || g.map_channels == 1) return true;
  const int64_t block = simd_level() == 2 ? 16 : 8;
  return (g.image_channels % block != 0 || g.map_channels % block != 0) &&
         g.batch * g.image_size() * (g.image_channels + g.map_channels) <= kMost;
}

// Half types are brought into blocks and back by regions of their own: a second thread would wake
// up four times for what one does in less time.
bool is_for_one_thread(const ConvGeometry& g, DType dtype) {
  constexpr int64_t kFewProducts = int64_t{1} << 20;
  const int64_t products =
      g.batch * g.map_size() * g.map_channels * g.image_group() * g.kernel_size();
  return dtype != DType::kFloat32 && products <= kFewProducts;
}

template <bool kTransposed>
ConvGeometry geometry_of(const ConvParams& params, const Tensor& data, const Tensor& out) {
  return kTransposed ? conv_geometry(params, out.shape(), data.shape(), true)
                     : conv_geometry(params, data.shape(), out.shape(), false);
}

}  // namespace

template <bool kTransposed>
bool conv_forward_onednn_accepts(const ConvParams& params, const Signature& signature) {
  if (!onednn::takes(signature)) return false;
  const Tensor& data = signature.in[0];
  const ConvGeometry g = geometry_of<kTransposed>(params, data, signature.out[0]);
  const onednn::OneThreadIf narrow(is_for_one_thread(g, data.dtype));
  if constexpr (kTransposed)
    return product_of<ImageProduct>(g, data.dtype, !params.no_bias) != nullptr;
  if (suits_product(g, data.dtype) && (signature.training || !keeps_weight(g))) return false;
  const MapProduct* const product = product_of<MapProduct>(g, data.dtype, !params.no_bias);
  return product != nullptr && !product->by_lines;
}

template <bool kTransposed>
void conv_forward_onednn(const ConvParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &weight = context.in(1), &out = context.out(0);
  const ConvGeometry g = geometry_of<kTransposed>(params, data, out);
  const onednn::OneThreadIf narrow(is_for_one_thread(g, data.dtype));
  if constexpr (kTransposed) {
    ImageProduct& product = *product_of<ImageProduct>(g, data.dtype, !params.no_bias);
    Tensor sums = out;
    if (!params.no_bias && out.dtype != DType::kFloat32)
      sums = {context.workspace_of<float>(out.size()), out.shape_ptr, DType::kFloat32};
    product.run(context, product.map.load(context, data.data), weight.data, sums.data);
    if (!params.no_bias) add_bias(context.in(2), g.channels_last, sums, out);
  } else {
    MapProduct& product = *product_of<MapProduct>(g, data.dtype, !params.no_bias);
    const void* const bias = params.no_bias ? nullptr : context.in(2).data;
    if (!context.training() && keeps_weight(g)) {
      product.run_lasting(context, data.data, bias, out.data);
    } else {
      product.run(context, data.data, weight.data, bias, out.data);
    }
  }
}

template <bool kTransposed>
bool conv_backward_onednn_accepts(const ConvParams& params, const Signature& signature) {
  if (!onednn::takes(signature)) return false;
  const Tensor &dout = signature.in[0], &data = signature.in[1];
  const ConvGeometry g = geometry_of<kTransposed>(params, data, dout);
  const onednn::OneThreadIf narrow(is_for_one_thread(g, data.dtype));
  if (!kTransposed && suits_product(g, data.dtype)) return false;
  return BackwardProducts(params, g, data.dtype, kTransposed).complete;
}

template <bool kTransposed>
void conv_backward_onednn(const ConvParams& params, KernelContext& context) {
  const Tensor &dout = context.in(0), &data = context.in(1), &weight = context.in(2);
  const ConvGeometry g = geometry_of<kTransposed>(params, data, dout);
  const onednn::OneThreadIf narrow(is_for_one_thread(g, data.dtype));
  const BackwardProducts products(params, g, data.dtype, kTransposed);
  int o = 0;
  dnnl_memory_t loaded = nullptr;  // dout as the first product has it
  if (products.image != nullptr) {
    loaded = products.image->map.load(context, dout.data);
    products.image->run(context, loaded, weight.data, context.out(o++).data);
  }
  if (products.map != nullptr)
    products.map->run(context, dout.data, weight.data, nullptr, context.out(o++).data);
  const bool bias = wants(params.wanted, kWantBias);
  if (products.weight != nullptr) {
    WeightProduct& product = *products.weight;
    const Tensor &image = kTransposed ? dout : data, &map = kTransposed ? data : dout;
    if (loaded == nullptr || product.map.wanted() != products.image->map.wanted())
      loaded = product.map.load(context, map.data);
    void* sums = bias && !kTransposed ? context.out(o + 1).data : nullptr;
    product.run(context, product.image.load(context, image.data), loaded, context.out(o++).data,
                sums);
    if (sums != nullptr) return;
  }
  if (bias) sum_channels(dout, g.channels_last, context.out(o), context);
}

#define MX_INSTANTIATE(transposed)                                                             \
  template bool conv_forward_onednn_accepts<transposed>(const ConvParams&, const Signature&);  \
  template void conv_forward_onednn<transposed>(const ConvParams&, KernelContext&);            \
  template bool conv_backward_onednn_accepts<transposed>(const ConvParams&, const Signature&); \
  template void conv_backward_onednn<transposed>(const ConvParams&, KernelContext&);
MX_INSTANTIATE(false)
MX_INSTANTIATE(true)
#undef MX_INSTANTIATE

}  // namespace mxnet

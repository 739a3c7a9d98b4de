// SPDX-License-Identifier: Apache-2.0
// Layers of bytes as primitives of oneDNN. Bytes come and sums go in plain rows; what lies between
// is in its own layouts.
#include <limits>
#include <vector>

#include "op/onednn/layer.h"
#include "op/onednn/lru_cache.h"
#include "op/quantize/byte_layers.h"

namespace mxnet::quantize {
namespace {

using dnnl::memory;
using onednn::plain_desc;

constexpr auto kWeight = memory::data_type::s8;
constexpr auto kSum = memory::data_type::s32;

memory::desc any(const memory::dims& dims, memory::data_type type) {
  return {dims, type, memory::format_tag::any};
}

struct Convolution : onednn::Layer<dnnl::convolution_forward> {
  using Layer::Layer;

  static std::unique_ptr<Convolution> make(const ByteConvolution& layer, DType dtype) {
    const Windows& w = layer.windows;
    // Two dimensions where they do: more is implemented for them.
    const std::size_t skip = w.image[0] == 1 && w.kernel[0] == 1 && w.pad[0] == 0 ? 1 : 0;
    const auto with = [&](memory::dims dims, const Windows::Sizes& sizes) {
      dims.insert(dims.end(), sizes.begin() + static_cast<std::ptrdiff_t>(skip), sizes.end());
      return dims;
    };
    const memory::dims image = with({w.batch, w.channels}, w.image),
                       map = with({w.batch, layer.filters}, w.map);
    memory::dims front{layer.filters / layer.groups, w.channels / layer.groups};
    if (layer.groups > 1) front.insert(front.begin(), layer.groups);
    const memory::dims weight = with(front, w.kernel);
    memory::dims dilate = with({}, w.dilate), behind;
    for (auto& d : dilate) --d;
    for (std::size_t i = skip; i < 3; ++i)
      behind.push_back((w.map[i] - 1) * w.stride[i] + w.dilate[i] * (w.kernel[i] - 1) + 1 -
                       w.image[i] - w.pad[i]);
    const auto type = onednn::data_type(dtype);
    const auto desc = onednn::implemented([&] {
      return dnnl::convolution_forward::primitive_desc(
          onednn::engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
          any(image, type), any(weight, kWeight), memory::desc(), any(map, kSum),
          with({}, w.stride), dilate, with({}, w.pad), behind, onednn::attributes());
    });
    if (!desc) return nullptr;
    return std::make_unique<Convolution>(
        *desc, Plain{plain_desc(image, type), plain_desc(weight, kWeight), memory::desc(),
                     plain_desc(map, kSum)});
  }
};

struct Rows : onednn::Layer<dnnl::inner_product_forward> {
  using Layer::Layer;

  static std::unique_ptr<Rows> make(const ByteRows& layer, DType dtype) {
    const memory::dims data{layer.m, layer.k}, weight{layer.n, layer.k}, out{layer.m, layer.n};
    const auto type = onednn::data_type(dtype);
    const auto desc = onednn::implemented([&] {
      return dnnl::inner_product_forward::primitive_desc(
          onednn::engine(), dnnl::prop_kind::forward_inference, plain_desc(data, type),
          plain_desc(weight, kWeight), memory::desc(), plain_desc(out, kSum), onednn::attributes());
    });
    if (!desc) return nullptr;
    return std::make_unique<Rows>(*desc, Plain{plain_desc(data, type), plain_desc(weight, kWeight),
                                               memory::desc(), plain_desc(out, kSum)});
  }
};

// Offsets of 32 bits, and sums that leave them neither: what wraps around is for our own loops.
bool fits(int64_t data, int64_t weight, int64_t out, int64_t depth) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return data > 0 && out > 0 && weight > 0 && data <= kMost && weight <= kMost &&
         out * int64_t{sizeof(int32_t)} <= kMost && sums_fit(depth);
}

}  // namespace

bool onednn_bytes_are_exact() {
  static const bool exact = [] {
    constexpr int64_t kDepth = 64, kWidth = 16;
    const memory::dims row{1, kDepth}, square{kWidth, kDepth}, sums{1, kWidth};
    const auto desc = onednn::implemented([&] {
      return dnnl::inner_product_forward::primitive_desc(
          onednn::engine(), dnnl::prop_kind::forward_inference,
          plain_desc(row, memory::data_type::u8), plain_desc(square, kWeight), memory::desc(),
          plain_desc(sums, kSum), dnnl::primitive_attr());
    });
    if (!desc) return false;
    std::vector<uint8_t> data(kDepth, std::numeric_limits<uint8_t>::max());
    std::vector<int8_t> weight(kWidth * kDepth, std::numeric_limits<int8_t>::max());
    std::vector<int32_t> out(kWidth);
    const memory from(desc->src_desc(), onednn::engine(), data.data());
    const memory by(desc->weights_desc(), onednn::engine(), weight.data());
    const memory to(desc->dst_desc(), onednn::engine(), out.data());
    onednn::execute(
        dnnl::inner_product_forward(*desc),
        {{DNNL_ARG_SRC, from.get()}, {DNNL_ARG_WEIGHTS, by.get()}, {DNNL_ARG_DST, to.get()}});
    return out[0] == 255 * 127 * kDepth;
  }();
  return exact;
}

bool sums_fit(int64_t depth) { return depth <= std::numeric_limits<int32_t>::max() / (255 * 128); }

bool convolve_bytes_onednn(const ByteConvolution& layer, const Tensor& data, const int8_t* weight,
                           int32_t* out, KernelContext& context) {
  const Windows& w = layer.windows;
  const int64_t results = w.batch * layer.filters * w.map_size();
  if (!onednn::enabled() ||
      !fits(data.size(), layer.filters * layer.depth(), results, layer.depth()) ||
      !onednn_bytes_are_exact())
    return false;
  onednn::Key key;
  key.add(static_cast<int64_t>(data.dtype)).add(w.batch).add(w.channels).add(layer.groups);
  key.add(layer.filters);
  for (const Windows::Sizes* sizes : {&w.image, &w.map, &w.kernel, &w.stride, &w.dilate, &w.pad})
    key.add(*sizes);
  Convolution* call = onednn::thread_cache<Convolution>().get(
      key, [&] { return Convolution::make(layer, data.dtype); });
  if (call == nullptr) return false;
  call->run(context, data.data, weight, nullptr, out);
  return true;
}

bool multiply_bytes_onednn(const ByteRows& layer, const Tensor& data, const int8_t* weight,
                           int32_t* out, KernelContext& context) {
  const auto [m, n, k] = layer;
  // Fewer products than that are done before a primitive has been found.
  constexpr int64_t kFewProducts = 4096;
  if (m * n * k < kFewProducts || !onednn::enabled() || !fits(m * k, n * k, m * n, k) ||
      !onednn_bytes_are_exact())
    return false;
  onednn::Key key;
  key.add(static_cast<int64_t>(data.dtype)).add(m).add(n).add(k);
  Rows* call = onednn::thread_cache<Rows>().get(key, [&] { return Rows::make(layer, data.dtype); });
  if (call == nullptr) return false;
  call->run(context, data.data, weight, nullptr, out);
  return true;
}

}  // namespace mxnet::quantize

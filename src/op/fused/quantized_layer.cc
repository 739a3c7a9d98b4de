// SPDX-License-Identifier: Apache-2.0
// Exact sums of products, then everything else at once on pieces of them that stay in cache.
#include "op/fused/quantized_layer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "op/fused/quantized_weight.h"
#include "op/quantize/byte_layers.h"
#include "op/quantize/range.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using quantize::Range;
using quantize::read_range;
using quantize::steps_per_unit;
using quantize::wide_limit;

// Real numbers on their way through the steps behind the products.
constexpr int64_t kPiece = 1024;
using Piece = std::array<float, kPiece>;

template <class F>
void map(float* x, int64_t n, const F& fn) {
  for (int64_t i = 0; i < n; ++i) x[i] = fn(x[i]);
}

void activate(const PostOp& op, float* x, int64_t n) {
  const float a = op.alpha, b = op.beta;
  switch (op.kind) {
    case PostOp::Kind::kRelu:
      if (a == 0) return map(x, n, [](float v) { return v > 0 ? v : 0.0f; });
      return map(x, n, [a](float v) { return v > 0 ? v : a * v; });
    case PostOp::Kind::kSigmoid:
      return map(x, n, [](float v) { return 1 / (1 + std::exp(-v)); });
    case PostOp::Kind::kTanh:
      return map(x, n, [](float v) { return std::tanh(v); });
    case PostOp::Kind::kSoftRelu:
      return map(x, n, [](float v) {
        return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v));
      });
    case PostOp::Kind::kClip:
      return map(x, n, [a, b](float v) { return std::min(b, std::max(a, v)); });
    case PostOp::Kind::kElu:
      return map(x, n, [a](float v) { return v > 0 ? v : a * std::expm1(v); });
    case PostOp::Kind::kGelu:
      return map(x, n, [](float v) { return 0.5f * v * (1 + std::erf(v * float{M_SQRT1_2})); });
    case PostOp::Kind::kLinear:
      return map(x, n, [a, b](float v) { return a * v + b; });
    case PostOp::Kind::kSum:
      return;  // not one of these: it needs the other branch
  }
}

class Finish {
 public:
  Finish(const QuantizedLayer& layer, const KernelContext& context, QuantizedWeight weights)
      : layer_(layer), weights_(std::move(weights)), out_(context.out(0)) {
    const Tensor& data = context.in(0);
    const int ends = layer.num_arrays();
    const float data_step =
        read_range(context, ends, ends + 1).magnitude() / wide_limit(data.dtype);
    const float weight_step = *std::max_element(weights_.steps.begin(), weights_.steps.end());
    for (float& step : weights_.steps) step *= data_step;
    if (layer.sum) {
      const int last = layer.num_inputs();
      other_ = context.in(ends - 1);
      other_step_ = read_range(context, last - 2, last - 1).magnitude() / wide_limit(other_.dtype);
    }
    if (layer.float_result) return;
    if (layer.calibrated()) {
      const Range range{*layer.min, *layer.max};
      factor_ = steps_per_unit(wide_limit(out_.dtype), range.magnitude());
      quantize::write_range(context, range);
    } else {
      factor_ = data_step * weight_step > 0 ? 1 / (data_step * weight_step) : 0;
      quantize::write_product_range(context, data_step, weight_step);
    }
  }

  // Sums [at, at + n) of one channel.
  void channel(const int32_t* sums, int64_t at, int64_t n, std::size_t c) const {
    pieces(at, n,
           [&, step = weights_.steps[c], bias = weights_.bias[c]](float* x, int64_t first,
                                                                  int64_t count) {
             for (int64_t i = 0; i < count; ++i)
               x[i] = static_cast<float>(sums[first + i]) * step + bias;
           });
  }
  // Sums [at, at + n), one of each channel.
  void row(const int32_t* sums, int64_t at, int64_t n) const {
    pieces(at, n, [&](float* x, int64_t first, int64_t count) {
      const float* steps = weights_.steps.data() + (first - at);
      const float* bias = weights_.bias.data() + (first - at);
      for (int64_t i = 0; i < count; ++i)
        x[i] = static_cast<float>(sums[first + i]) * steps[i] + bias[i];
    });
  }

 private:
  template <class Load>
  void pieces(int64_t at, int64_t n, const Load& load) const {
    Piece x;
    for (int64_t first = at; first < at + n; first += kPiece) {
      const int64_t count = std::min(kPiece, at + n - first);
      load(x.data(), first, count);
      for (const PostOp& op : layer_.post_ops) {
        if (op.kind == PostOp::Kind::kSum) {
          add_other(x.data(), first, count);
        } else {
          activate(op, x.data(), count);
        }
      }
      store(x.data(), first, count);
    }
  }

  void add_other(float* x, int64_t first, int64_t count) const {
    dispatch_dtype<DTypeSet::of(DType::kInt8, DType::kUInt8)>(
        other_.dtype, "quantized sum", [&]<class T>(TypeTag<T>) {
          const T* other = other_.as<T>() + first;
          for (int64_t i = 0; i < count; ++i) x[i] += static_cast<float>(other[i]) * other_step_;
        });
  }

  void store(const float* x, int64_t first, int64_t count) const {
    if (layer_.float_result) {
      std::copy_n(x, count, out_.as<float>() + first);
    } else if (out_.dtype == DType::kInt32) {
      int32_t* to = out_.as<int32_t>() + first;
      for (int64_t i = 0; i < count; ++i) {
        const double steps = std::nearbyint(double{x[i]} * factor_);
        to[i] = static_cast<int32_t>(std::clamp(steps, -2147483648.0, 2147483647.0));
      }
    } else if (out_.dtype == DType::kUInt8) {
      store_bytes(x, count, out_.as<uint8_t>() + first);
    } else {
      store_bytes(x, count, out_.as<int8_t>() + first);
    }
  }
  template <class T>
  void store_bytes(const float* x, int64_t count, T* to) const {
    for (int64_t i = 0; i < count; ++i) to[i] = quantize::nearest<T>(x[i] * factor_);
  }

  const QuantizedLayer& layer_;
  QuantizedWeight weights_;
  const Tensor& out_;
  Tensor other_;
  float other_step_ = 0, factor_ = 0;
};

}  // namespace

DType QuantizedLayer::result_type() const {
  if (float_result) return DType::kFloat32;
  if (!calibrated()) return DType::kInt32;
  if (post_ops.empty()) return DType::kInt8;
  const PostOp& last = post_ops.back();
  const bool positive =
      (last.kind == PostOp::Kind::kRelu || last.kind == PostOp::Kind::kClip) && last.alpha == 0.0f;
  return positive ? DType::kUInt8 : DType::kInt8;
}

void run_quantized_layer(const QuantizedLayer& layer, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  QuantizedWeight weights(layer, context);
  int32_t* sums = context.workspace_of<int32_t>(out.size());
  const int8_t* bytes = weights.bytes;
  const int64_t channels = layer.channels();
  const Finish finish(layer, context, std::move(weights));
  if (layer.is_convolution) {
    const ConvParams& conv = layer.conv;
    const quantize::Windows w = quantize::windows({conv.kernel, conv.stride, conv.dilate, conv.pad},
                                                  data.shape(), out.shape());
    quantize::convolve_bytes({w, conv.num_group, channels}, data, bytes, sums, context);
    parallel_for(w.batch * channels, 2.0 * static_cast<double>(w.map_size()),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i)
                     finish.channel(sums, i * w.map_size(), w.map_size(),
                                    static_cast<std::size_t>(i % channels));
                 });
  } else {
    const DenseSizes sizes(layer.dense, data.shape(), context.in(1).shape());
    quantize::multiply_bytes({sizes.rows, channels, sizes.depth}, data, bytes, sums, context);
    parallel_for(sizes.rows, 2.0 * static_cast<double>(channels), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) finish.row(sums, i * channels, channels);
    });
  }
}

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Kernels before and behind convolutions (plugin/cuda/convolution.h).
#include "plugin/cuda/convolution.h"

#include <limits>

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

// Negative values times `slope`, then limits; NaN passes. Or a function.
template <class C>
struct Activation {
  enum class Kind : uint8_t { kLimits, kSigmoid, kTanh } kind = Kind::kLimits;
  C slope = C(1), low = -std::numeric_limits<C>::infinity(),
    high = std::numeric_limits<C>::infinity();

  Activation() = default;
  explicit Activation(const PostOp& op) {
    if (op.kind == PostOp::Kind::kSigmoid) kind = Kind::kSigmoid;
    if (op.kind == PostOp::Kind::kTanh) kind = Kind::kTanh;
    if (op.kind == PostOp::Kind::kRelu && op.alpha != 0) slope = static_cast<C>(op.alpha);
    if (op.kind == PostOp::Kind::kRelu && op.alpha == 0) low = C(0);
    if (op.kind == PostOp::Kind::kClip) {
      low = static_cast<C>(op.alpha);
      high = static_cast<C>(op.beta);
    }
  }
  MX_DEVICE C operator()(C x) const {
    if (kind == Kind::kSigmoid) return row_words::sigmoid(x);
    if (kind == Kind::kTanh) return row_words::tanh(x);
    const C y = x < C(0) ? x * slope : x;
    return y < low ? low : y > high ? high : y;
  }
};

template <class T, int kSize>
struct ApplySteps {
  using C = Compute<T>;
  T* y;
  const T *bias, *other;  // or null
  Activation<C> activation;
  Divider inner, channels;  // elements of a channel that lie together, and what repeats
  int64_t n;
  bool aligned;

  MX_DEVICE T result(int64_t i, C value, C addend) const {
    if (bias != nullptr) {
      const int64_t run = inner.quotient(i);
      value += widen(bias[run - channels.quotient(run) * channels.by()]);
    }
    return narrow<T>(activation(value + addend));
  }
  MX_DEVICE void operator()(int64_t pack) const {
    const int64_t first = pack * kSize;
    if (!aligned || first + kSize > n) {
      for (int64_t i = first; i < first + kSize && i < n; ++i)
        y[i] = result(i, widen(y[i]), other == nullptr ? C(0) : widen(other[i]));
      return;
    }
    using P = Pack<T, kSize>;
    P values = reinterpret_cast<const P*>(y)[pack];
    if (other == nullptr) {
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        values.values[k] = result(first + k, widen(values.values[k]), C(0));
    } else {
      const P addends = reinterpret_cast<const P*>(other)[pack];
#pragma unroll
      for (int k = 0; k < kSize; ++k)
        values.values[k] = result(first + k, widen(values.values[k]), widen(addends.values[k]));
    }
    reinterpret_cast<P*>(y)[pack] = values;
  }
};

// Element i of the new weights, or, behind those, of the new bias.
template <class T>
struct FoldWeight {
  using C = Compute<T>;
  const T *weight, *bias;
  const float *gamma, *beta, *mean, *variance;
  T *weight_to, *bias_to;
  C eps;
  int64_t num_weights, kernel;
  Divider filter, channels;  // weights of a filter; channels of a group if they are turned, else 1

  MX_DEVICE C scale(int64_t c) const {
    const C factor = gamma == nullptr ? C(1) : static_cast<C>(gamma[c]);
    return factor / row_words::sqrt(static_cast<C>(variance[c]) + eps);
  }
  MX_DEVICE void operator()(int64_t i) const {
    if (i >= num_weights) {
      const int64_t c = i - num_weights;
      const C given = bias == nullptr ? C(0) : widen(bias[c]);
      bias_to[c] =
          narrow<T>((given - static_cast<C>(mean[c])) * scale(c) + static_cast<C>(beta[c]));
      return;
    }
    const int64_t c = filter.quotient(i), place = i - c * filter.by();
    const int64_t tap = channels.quotient(place), channel = place - tap * channels.by();
    const C value = widen(weight[c * filter.by() + channel * kernel + tap]);
    weight_to[i] = narrow<T>(variance == nullptr ? value : value * scale(c));
  }
};

}  // namespace

void apply_steps(NativeStream* stream, const ConvolutionSteps& steps, bool channels_last,
                 const Tensor& result) {
  if (steps.none()) return;
  const int channel = channels_last ? result.ndim() - 1 : 1;
  int64_t inner = 1;
  for (int d = channel + 1; d < result.ndim(); ++d) inner *= result.dim(d);
  for_dtype<kFloating.bits_>(result.dtype, "Convolution", [&](auto type) {
    using T = decltype(type);
    using C = Compute<T>;
    constexpr int kSize = kPackSize<T>;
    const auto array = [](const Tensor* tensor) {
      return tensor == nullptr ? nullptr : static_cast<const T*>(tensor->data);
    };
    const int64_t n = result.size();
    for_each(stream, "convolution_steps", (n + kSize - 1) / kSize,
             ApplySteps<T, kSize>{
                 static_cast<T*>(result.data), array(steps.bias), array(steps.other),
                 steps.activation ? Activation<C>(*steps.activation) : Activation<C>(),
                 Divider(inner), Divider(result.dim(channel)), n,
                 is_aligned(result.data) && (!steps.other || is_aligned(steps.other->data))});
  });
}

void fold_weight(NativeStream* stream, const FoldCall& call) {
  const int64_t filters = call.weight.dim(0), inner = call.weight.dim(1), n = call.weight.size();
  const int64_t filter = filters == 0 ? 0 : n / filters;
  const bool turns = call.turns && n > 0;
  for_dtype<kFloating.bits_>(call.weight.dtype, "Convolution", [&](auto type) {
    using T = decltype(type);
    const bool folds = call.variance != nullptr;
    for_each(stream, "fold_weight", n + (folds ? filters : 0),
             FoldWeight<T>{static_cast<const T*>(call.weight.data),
                           call.bias == nullptr ? nullptr : static_cast<const T*>(call.bias->data),
                           call.gamma, call.beta, call.mean, call.variance,
                           static_cast<T*>(call.weight_to), static_cast<T*>(call.bias_to),
                           static_cast<Compute<T>>(call.eps), n, turns ? filter / inner : 1,
                           Divider(filter), Divider(turns ? inner : 1)});
  });
}

}  // namespace cuda
}  // namespace mxnet

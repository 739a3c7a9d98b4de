// SPDX-License-Identifier: Apache-2.0
// Drawing and using of masks.
#include "op/norm/keep_mask.h"

#include <algorithm>
#include <array>

#include "op/dispatch.h"
#include "op/parallel.h"
#include "op/random_draws.h"
#include "op/random_streams.h"

namespace mxnet {
namespace {

constexpr double kDrawCost = 8.0;  // elementary operations a number
constexpr int64_t kBatch = 512;    // numbers drawn at once; multiplied while in cache

// Numbers in [0, 1) as existing programs draw them for arrays of T: from one word for float, from
// two for others, half types included, which are compared as float.
template <class T>
void draw_uniform(Mt19937& stream, ComputeType<T>* out, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    stream.fill_uniform(out, n, 0.0f, 1.0f);
  } else {
    Draws draws(stream);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<ComputeType<T>>(draws.uniform<double>());
  }
}

// use(first, numbers, n) for batches of all of the mask.
template <class T, class Use>
void for_drawn(Device device, int64_t size, const Use& use) {
  RandomStreams::of(device).deal(size, kDrawCost,
                                 [&](Mt19937& stream, int64_t first, int64_t last) {
                                   std::array<ComputeType<T>, kBatch> numbers;
                                   for (int64_t at = first; at < last; at += kBatch) {
                                     const int64_t n = std::min(kBatch, last - at);
                                     draw_uniform<T>(stream, numbers.data(), n);
                                     use(at, numbers.data(), n);
                                   }
                                 });
}

// What draws below `keep` are multiplied by; nothing is kept of a probability of 0.
float factor_of(float keep) { return keep > 0.0f ? 1.0f / keep : 0.0f; }

}  // namespace

void fill_keep_mask(Device device, float keep, const Tensor& mask) {
  dispatch_dtype<kFloating>(mask.dtype, "Dropout", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T factor = static_cast<T>(factor_of(keep));
    for_drawn<T>(device, mask.size(), [&](int64_t first, const C* u, int64_t n) {
      T* m = mask.as<T>() + first;
      for (int64_t i = 0; i < n; ++i) m[i] = u[i] < C(keep) ? factor : T(0);
    });
  });
}

void fill_keep_mask(Device device, float keep, const Tensor& mask, const Tensor& in,
                    const Tensor& out) {
  dispatch_dtype<kFloating>(mask.dtype, "Dropout", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T factor = static_cast<T>(factor_of(keep));
    for_drawn<T>(device, mask.size(), [&](int64_t first, const C* u, int64_t n) {
      const T* x = in.as<T>() + first;
      T* m = mask.as<T>() + first;
      T* y = out.as<T>() + first;
      for (int64_t i = 0; i < n; ++i) {
        m[i] = u[i] < C(keep) ? factor : T(0);
        y[i] = static_cast<T>(static_cast<C>(x[i]) * static_cast<C>(m[i]));
      }
    });
  });
}

void fill_uniform_mask(Device device, float low, float high, const Tensor& mask) {
  dispatch_dtype<kFloating>(mask.dtype, "LeakyReLU", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    for_drawn<T>(device, mask.size(), [&](int64_t first, const C* u, int64_t n) {
      T* m = mask.as<T>() + first;
      for (int64_t i = 0; i < n; ++i) m[i] = static_cast<T>(u[i] * C(high - low) + C(low));
    });
  });
}

void fill_mask(const Tensor& mask, float value) {
  dispatch_dtype<kFloating>(mask.dtype, "mask", [&]<class T>(TypeTag<T>) {
    std::fill_n(mask.as<T>(), mask.size(), static_cast<T>(value));
  });
}

void multiply_by_mask(const Tensor& in, const Tensor& mask, const Tensor& out) {
  dispatch_dtype<kFloating>(in.dtype, "mask", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
      const T* x = in.as<T>();
      const T* m = mask.as<T>();
      T* y = out.as<T>();
      for (int64_t i = first; i < last; ++i)
        y[i] = static_cast<T>(static_cast<C>(x[i]) * static_cast<C>(m[i]));
    });
  });
}

void select_by_sign(const Tensor& sign, const Tensor& in, const Tensor& mask, const Tensor& out) {
  dispatch_dtype<kFloating>(in.dtype, "mask", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const C x = static_cast<C>(in.as<T>()[i]);
        const C m = static_cast<C>(mask.as<T>()[i]);
        out.as<T>()[i] = static_cast<T>(static_cast<C>(sign.as<T>()[i]) > C(0) ? x : x * m);
      }
    });
  });
}

}  // namespace mxnet

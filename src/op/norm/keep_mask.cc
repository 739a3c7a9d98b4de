// SPDX-License-Identifier: Apache-2.0
// Drawing and using of masks.
#include "op/norm/keep_mask.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/simd.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/parallel_each.h"

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
    std::array<uint32_t, 2 * kBatch> words;
    stream.fill(words.data(), 2 * n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      out[i] = static_cast<ComputeType<T>>(uniform_of(words[2 * i], words[2 * i + 1]));
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

// Draws below `keep` become what is multiplied by; nothing is kept of a probability of 0. In arrays
// of their own and without a branch, which would be guessed wrongly half of the time.
template <class T>
void keep_below(float keep, ComputeType<T>* u, int64_t n) {
  using C = ComputeType<T>;
  const auto limit = static_cast<C>(keep);
  const C factor = static_cast<C>(static_cast<T>(keep > 0.0f ? 1.0f / keep : 0.0f));
  for (int64_t i = 0; i < n; ++i) u[i] = u[i] < limit ? factor : C(0);
}

// y = x * m, of at most kBatch numbers; y may be x. Half types are converted in bulk.
template <class T>
void multiply_run(const T* x, const ComputeType<T>* m, T* y, int64_t n) {
  using C = ComputeType<T>;
  if constexpr (std::is_same_v<T, C>) {
    MX_INDEPENDENT_STEPS
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * m[i];
  } else {
    std::array<C, kBatch> numbers;
    convert_array(x, numbers.data(), n);
    for (int64_t i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] *= m[i];
    convert_array(numbers.data(), y, n);
  }
}

}  // namespace

void fill_keep_mask(Device device, float keep, const Tensor& mask) {
  dispatch_dtype<kFloating>(mask.dtype, "Dropout", [&]<class T>(TypeTag<T>) {
    for_drawn<T>(device, mask.size(), [&](int64_t first, ComputeType<T>* u, int64_t n) {
      keep_below<T>(keep, u, n);
      convert_array(u, mask.as<T>() + first, n);
    });
  });
}

void fill_keep_mask(Device device, float keep, const Tensor& mask, const Tensor& in,
                    const Tensor& out) {
  dispatch_dtype<kFloating>(mask.dtype, "Dropout", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    for_drawn<T>(device, mask.size(), [&](int64_t first, C* u, int64_t n) {
      keep_below<T>(keep, u, n);
      convert_array(u, mask.as<T>() + first, n);
      multiply_run(in.as<T>() + first, u, out.as<T>() + first, n);
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
      std::array<C, kBatch> factors;
      for (int64_t at = first; at < last; at += kBatch) {
        const int64_t n = std::min(kBatch, last - at);
        const C* by = factors.data();
        if constexpr (std::is_same_v<T, C>) {
          by = mask.as<T>() + at;
        } else {
          convert_array(mask.as<T>() + at, factors.data(), n);
        }
        multiply_run(in.as<T>() + at, by, out.as<T>() + at, n);
      }
    });
  });
}

void select_by_sign(const Tensor& sign, const Tensor& in, const Tensor& mask, const Tensor& out) {
  dispatch_dtype<kFloating>(in.dtype, "mask", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T *from = in.as<T>(), *by = mask.as<T>(), *by_sign = sign.as<T>();
    T* const to = out.as<T>();
    parallel_each(in.size(), 1.0, [=](int64_t i) {
      const C slope = static_cast<C>(by[i]);
      const C factor = static_cast<C>(by_sign[i]) > C(0) ? C(1) : slope;
      to[i] = static_cast<T>(static_cast<C>(from[i]) * factor);
    });
  });
}

}  // namespace mxnet

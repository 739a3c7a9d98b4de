// SPDX-License-Identifier: Apache-2.0
// Rows of one channel each (channels first), or rows of all channels (channels last).
#include "op/nn/bias.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Elements of a plane, and rows, that are added up in the element type before they go to the sum in
// double.
constexpr int64_t kBlockElements = 1024, kBlockRows = 64;
// Elements of a plane that are added to sums of their own.
constexpr int64_t kSums = 16;

template <class T>
void add_up(const T* values, int64_t size, double* sum) {
  using Sum = ComputeType<T>;
  for (int64_t i = 0; i < size; i += kBlockElements) {
    const int64_t end = std::min(size, i + kBlockElements);
    // Sums that do not wait for each other: of one, each addition would wait for the one before.
    std::array<Sum, kSums> parts{};
    int64_t j = i;
    for (; j + kSums <= end; j += kSums)
      for (int64_t k = 0; k < kSums; ++k)
        parts[static_cast<std::size_t>(k)] += convert<Sum>(values[j + k]);
    for (; j < end; ++j) parts[0] += convert<Sum>(values[j]);
    for (const Sum part : parts) *sum += static_cast<double>(part);
  }
}

// Channels first: each has a plane in each image.
template <class T>
void sum_planes(const Tensor& array, const Tensor& sums) {
  const T* from = array.as<const T>();
  T* to = sums.as<T>();
  const int64_t channels = sums.size(), batch = array.dim(0);
  const int64_t size = array.shape().size(2, array.ndim());
  parallel_for(
      channels, static_cast<double>(batch * size),
      [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          double sum = 0;
          for (int64_t b = 0; b < batch; ++b) add_up(from + (b * channels + c) * size, size, &sum);
          to[c] = convert<T>(sum);
        }
      },
      1);
}

// Channels last: a thread adds up rows of its channels.
template <class T>
void sum_columns(const Tensor& array, const Tensor& sums, KernelContext& context) {
  using Sum = ComputeType<T>;
  const T* from = array.as<const T>();
  T* to = sums.as<T>();
  const int64_t channels = sums.size(), rows = channels == 0 ? 0 : array.size() / channels;
  Sum* parts = context.workspace_of<Sum>(std::max<int64_t>(channels, 1));
  double* totals = context.workspace_of<double>(std::max<int64_t>(channels, 1));
  parallel_for(channels, static_cast<double>(rows), [&](int64_t first, int64_t last) {
    std::fill(totals + first, totals + last, 0.0);
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      std::fill(parts + first, parts + last, Sum{0});
      for (int64_t r = row; r < std::min(rows, row + kBlockRows); ++r)
        for (int64_t c = first; c < last; ++c) parts[c] += convert<Sum>(from[r * channels + c]);
      for (int64_t c = first; c < last; ++c) totals[c] += static_cast<double>(parts[c]);
    }
    for (int64_t c = first; c < last; ++c) to[c] = convert<T>(totals[c]);
  });
}

}  // namespace

void add_bias(const Tensor& bias, bool channels_last, const Tensor& sums, const Tensor& to) {
  const int64_t channels = bias.size();
  if (to.size() == 0) return;
  const int64_t size = channels_last ? channels : to.shape().size(2, to.ndim());
  dispatch_dtype<kFloating>(to.dtype, "bias", [&]<class T>(TypeTag<T>) {
    using Sum = ComputeType<T>;
    const T* b = bias.as<const T>();
    parallel_for(
        to.size() / size, static_cast<double>(size),
        [&](int64_t first, int64_t last) {
          for (int64_t row = first; row < last; ++row) {
            const Sum* in = sums.as<const Sum>() + row * size;
            T* out = to.as<T>() + row * size;
            if (channels_last) {
              for (int64_t i = 0; i < size; ++i) out[i] = convert<T>(in[i] + convert<Sum>(b[i]));
            } else {
              const Sum value = convert<Sum>(b[row % channels]);
              for (int64_t i = 0; i < size; ++i) out[i] = convert<T>(in[i] + value);
            }
          }
        },
        1);
  });
}

void sum_channels(const Tensor& array, bool channels_last, const Tensor& sums,
                  KernelContext& context) {
  dispatch_dtype<kFloating>(array.dtype, "bias", [&]<class T>(TypeTag<T>) {
    channels_last ? sum_columns<T>(array, sums, context) : sum_planes<T>(array, sums);
  });
}

}  // namespace mxnet

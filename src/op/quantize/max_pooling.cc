// SPDX-License-Identifier: Apache-2.0
// Maxima of windows of bytes with channels last: of the rows of a window first, with whole vectors,
// then of its pixels. oneDNN calls a function for each pixel of the map.
#include <algorithm>
#include <cstring>
#include <vector>

#include "op/quantize/channels_last.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

template <class T>
void raise(T* __restrict to, const T* __restrict from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] > to[i] ? from[i] : to[i];
}
template <class T>
void higher(const T* __restrict a, const T* __restrict b, T* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = a[i] > b[i] ? a[i] : b[i];
}

// Rows [first, last) of all maps.
template <class T>
void pool_rows(const Windows& w, const T* images, T* maps, int64_t first, int64_t last) {
  const int64_t channels = w.channels, width = w.image[2] * channels;
  std::vector<T> joined(static_cast<std::size_t>(width));
  for (int64_t row = first; row < last; ++row) {
    const Span deep = span_of(w, 0, row / w.map[1] % w.map[0]),
               high = span_of(w, 1, row % w.map[1]);
    const T* const image = images + row / (w.map[0] * w.map[1]) * w.image_size() * channels;
    const auto at = [&](int64_t z, int64_t y) { return image + (z * w.image[1] + y) * width; };
    std::memcpy(joined.data(), at(deep.first, high.first), joined.size());
    for (int64_t z = deep.first; z < deep.last; ++z)
      for (int64_t y = high.first; y < high.last; ++y) raise(joined.data(), at(z, y), width);
    T* to = maps + row * w.map[2] * channels;
    for (int64_t x = 0; x < w.map[2]; ++x, to += channels) {
      const Span wide = span_of(w, 2, x);
      const T* const from = joined.data() + wide.first * channels;
      const int64_t pixels = wide.size();
      higher(from, from + (pixels > 1 ? channels : 0), to, channels);
      for (int64_t i = 2; i < pixels; ++i) raise(to, from + i * channels, channels);
    }
  }
}

class MaxPooling final : public PreparedKernel {
 public:
  MaxPooling(const Windows& windows, const LayoutRef& image, const LayoutRef& map)
      : PreparedKernel("bytes", {image, nullptr, nullptr}, {map, nullptr, nullptr}),
        windows_(windows) {}
  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(windows_); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(const Windows& windows) : windows_(windows) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      const Windows& w = windows_;
      const Tensor &in = context.in(0), &out = context.out(0);
      const auto bytes = static_cast<double>((w.image[2] * w.kernel[1] + w.map[2] * w.kernel[2]) *
                                             w.channels * w.kernel[0]);
      dispatch_dtype<DTypeSet::of(DType::kInt8, DType::kUInt8)>(
          in.dtype, "_contrib_quantized_pooling", [&]<class T>(TypeTag<T>) {
            parallel_for(
                w.batch * w.map[0] * w.map[1], bytes / 16,
                [&](int64_t first, int64_t last) {
                  pool_rows(w, in.as<T>(), out.as<T>(), first, last);
                },
                1);
          });
      write_range(context, read_range(context, 1, 2));
    }

   private:
    const Windows windows_;
  };
  const Windows windows_;
};

}  // namespace

PreparedKernelRef prepare_max_pooling(const Windows& windows, const Signature& signature,
                                      const LayoutRef& layout) {
  if (layout == nullptr || !same_layout(layout, channels_last_layout(signature.in[0])))
    return nullptr;
  return std::make_shared<const MaxPooling>(windows, layout,
                                            channels_last_layout(signature.out[0]));
}

}  // namespace mxnet::quantize

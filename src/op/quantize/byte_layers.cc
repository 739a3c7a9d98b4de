// SPDX-License-Identifier: Apache-2.0
// Loops over widened columns and rows.
#include "op/quantize/byte_layers.h"

#include <algorithm>
#include <vector>

#include "op/quantize/byte_products.h"
#include "op/quantize/range.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

// Columns of `count` places from `first` on, of the channels of one group: a widened row each.
template <class T>
void gather(const Windows& w, const T* image, int64_t channels, int64_t first, int64_t count,
            int16_t* to) {
  const int64_t k = w.kernel_size(), padded = padded_row(channels * k), size = w.image_size();
  std::fill_n(to, count * padded, int16_t{0});
  for (int64_t i = 0; i < count; ++i) {
    w.visit(first + i, [&](int64_t in_kernel, int64_t in_image) {
      for (int64_t c = 0; c < channels; ++c)
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): the bytes are numbers
        to[i * padded + c * k + in_kernel] = image[c * size + in_image];
    });
  }
}

}  // namespace

void convolve_bytes(const ByteConvolution& layer, const Tensor& data, const int8_t* weight,
                    int32_t* out, KernelContext& context) {
  if (convolve_bytes_onednn(layer, data, weight, out, context)) return;
  constexpr int64_t kPlaces = 64;  // at a time: their columns stay in cache
  const Windows& w = layer.windows;
  const int64_t groups = layer.groups, filters = layer.filters / groups;
  const int64_t channels = w.channels / groups, depth = layer.depth();
  const int64_t padded = padded_row(depth), places = w.map_size();
  int16_t* weights = context.workspace_of<int16_t>(layer.filters * padded);
  widen_rows(weight, layer.filters, depth, weights);
  const int64_t blocks = (places + kPlaces - 1) / kPlaces;
  dispatch_dtype<kBytes>(data.dtype, "quantized convolution", [&]<class T>(TypeTag<T>) {
    parallel_for(
        w.batch * groups * blocks, static_cast<double>(kPlaces * filters * depth) / 8,
        [&](int64_t first, int64_t last) {
          std::vector<int16_t> columns(static_cast<std::size_t>(kPlaces * padded));
          for (int64_t unit = first; unit < last; ++unit) {
            const int64_t image = unit / blocks, group = image % groups;
            const int64_t place = unit % blocks * kPlaces;
            const int64_t count = std::min(kPlaces, places - place);
            gather(w, data.as<T>() + image * channels * w.image_size(), channels, place, count,
                   columns.data());
            byte_products(filters, count, depth, weights + group * filters * padded, columns.data(),
                          out + image * filters * places + place, places);
          }
        },
        1);
  });
}

void multiply_bytes(const ByteRows& layer, const Tensor& data, const int8_t* weight, int32_t* out,
                    KernelContext& context) {
  if (multiply_bytes_onednn(layer, data, weight, out, context)) return;
  constexpr int64_t kColumns = 64;  // of the output at a time: their weights stay in cache
  const auto [m, n, k] = layer;
  int16_t* rows = context.workspace_of<int16_t>(m * padded_row(k));
  int16_t* weights = context.workspace_of<int16_t>(n * padded_row(k));
  dispatch_dtype<kBytes>(data.dtype, "quantized rows",
                         [&, rows_of = m, depth = k]<class T>(TypeTag<T>) {
                           widen_rows(data.as<T>(), rows_of, depth, rows);
                         });
  parallel_for(
      n, static_cast<double>(k * (m + 1)) / 8,
      [&, rows_of = m, width = n, depth = k](int64_t first, int64_t last) {
        for (int64_t j = first; j < last; j += kColumns) {
          const int64_t count = std::min(kColumns, last - j);
          int16_t* part = weights + j * padded_row(depth);
          widen_rows(weight + j * depth, count, depth, part);
          byte_products(rows_of, count, depth, rows, part, out + j, width);
        }
      },
      4);
}

}  // namespace mxnet::quantize

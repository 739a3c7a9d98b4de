// SPDX-License-Identifier: Apache-2.0
// The steps of Winograd convolutions apart, on one thread and 56 tiles: what bounds each layer.
#include <cstdio>

#include "op/nn/winograd_loops.h"
#include "winograd_bench.h"

namespace mxnet::winograd_bench {
namespace {

constexpr int64_t kTiles = 56;

void print_limits(const Layer& layer, int tile) {
  const WinogradLoops& loops = *winograd_loops(WinogradConv::best_isa());
  const int64_t lanes = loops.lanes;
  // Images enough for the tiles.
  const int64_t a_row = (layer.size + 2 * layer.pad - 2 + tile - 1) / tile;
  const WinogradDesc desc{.batch = (kTiles + a_row * a_row - 1) / (a_row * a_row),
                          .channels = layer.channels,
                          .filters = layer.filters,
                          .height = layer.size,
                          .width = layer.size,
                          .pad_y = layer.pad,
                          .pad_x = layer.pad,
                          .tile = tile,
                          .src_blocked = layer.channels > 3,
                          .dst_blocked = true};
  const WinogradShape shape = winograd_shape(desc, lanes);
  const int64_t line = kTiles * lanes, points = shape.points();
  const int64_t in_point = line * shape.channel_blocks + 16;
  const int64_t out_point = line * shape.filter_blocks + 16;
  const Array src = floats(shape.batch * shape.channel_blocks * lanes * shape.height * shape.width),
              dst = floats(shape.batch * shape.filter_blocks * lanes * shape.out_height *
                           shape.out_width),
              in = floats(points * in_point), out = floats(points * out_point),
              weights = floats(points * shape.channels * shape.filter_blocks * lanes);
  const double transform = seconds([&] {
    for (int64_t block = 0; block < shape.channel_blocks; ++block)
      loops.transform[tile == 4](shape, src.get(), block, 0, kTiles, in.get() + block * line,
                                 in_point);
  });
  const double multiply = seconds([&] {
    for (int64_t point = 0; point < points; ++point) {
      for (int64_t block = 0; block < shape.filter_blocks; block += loops.vectors) {
        const int64_t vectors = std::min<int64_t>(loops.vectors, shape.filter_blocks - block);
        loops.multiply(kTiles, shape.channels, vectors, in.get() + point * in_point, line,
                       weights.get() + (block * points + point * vectors) * shape.channels * lanes,
                       out.get() + point * out_point + block * line, line);
      }
    }
  });
  const double restore = seconds([&] {
    for (int64_t block = 0; block < shape.filter_blocks; ++block)
      loops.restore[tile == 4](shape, out.get() + block * line, out_point, block, 0, kTiles,
                               {.low = 0}, dst.get());
  });
  const double all = transform + multiply + restore;
  const auto tiles = static_cast<double>(points * kTiles);
  // Transforms: what they write, or read, as transformed data.
  std::printf("%-20s F(%d,3) %8.0f %8.1f %8.1f %9.0f%% %9.0f%% %9.0f%%\n", layer.name, tile,
              2e-9 * tiles * static_cast<double>(layer.channels * layer.filters) / multiply,
              4e-9 * tiles * static_cast<double>(shape.channel_blocks * lanes) / transform,
              4e-9 * tiles * static_cast<double>(shape.filter_blocks * lanes) / restore,
              100 * transform / all, 100 * multiply / all, 100 * restore / all);
}

}  // namespace

void print_limits() {
  std::printf("%-20s %-6s %8s %8s %8s %10s %10s %10s\n", "one thread", "", "GFLOP/s", "GB/s in",
              "GB/s out", "transform", "products", "restore");
  for (const Layer& layer : kLayers) {
    for (const int tile : {4, 2}) print_limits(layer, tile);
  }
}

}  // namespace mxnet::winograd_bench

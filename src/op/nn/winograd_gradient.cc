// SPDX-License-Identifier: Apache-2.0
// Splits the gradient of the weights over threads, and its tiles into cuts.
#include "op/nn/winograd_gradient.h"

#include <algorithm>

#include "base/error.h"
#include "op/nn/winograd_loops.h"

namespace mxnet {
namespace {

// Transformed tiles of a cut stay in a second-level cache; but a sum is read and written once a
// cut, which so many tiles at least make cheap.
constexpr int64_t kCutBytes = int64_t{1} << 20;
constexpr int64_t kLeastTiles = 192;

}  // namespace

WinogradWeightGradient::WinogradWeightGradient(const WinogradDesc& desc, WinogradConv::Isa isa)
    : loops_(*winograd_loops(isa)), shape_(winograd_shape(desc, loops_.lanes)) {
  MX_ASSERT(WinogradConv::supported(desc, isa) && desc.tile == 4 && desc.kernel_y == 3 &&
            desc.kernel_x == 3 && desc.src_blocked && desc.dst_blocked);
}

WinogradWeightGradient::Plan WinogradWeightGradient::plan(int threads) const {
  Plan p{};
  const int64_t lanes = loops_.lanes, points = shape_.points();
  // As square as the number of threads allows, and pairs of filters' groups stay together.
  p.channel_parts = 1;
  for (int64_t parts = 2; parts * parts <= threads; ++parts)
    if (threads % parts == 0) p.channel_parts = std::min(parts, shape_.channel_blocks);
  p.filter_parts = std::min<int64_t>(threads / p.channel_parts,
                                     winograd_units(shape_.filter_blocks, loops_.vectors));
  const int64_t channels = winograd_units(shape_.channel_blocks, p.channel_parts);
  const int64_t pairs =
      winograd_units(winograd_units(shape_.filter_blocks, loops_.vectors), p.filter_parts);
  const int64_t filters = pairs * loops_.vectors;
  const int64_t a_tile = points * (channels + filters) * lanes * int64_t{sizeof(float)};
  p.tiles = std::min(std::max(kCutBytes / a_tile, kLeastTiles), shape_.tiles);
  p.image_line = p.map_line = p.tiles * lanes;
  p.image_point = winograd_point(p.image_line * channels);
  p.map_point = winograd_point(p.map_line * filters);
  p.sums_point = winograd_point(channels * lanes * filters * lanes);
  p.bias = points * (p.image_point + p.map_point + p.sums_point);
  p.size = p.bias + winograd_point(filters * lanes);
  return p;
}

WinogradWeightGradient::Part WinogradWeightGradient::part(const Plan& plan, int64_t at) const {
  const int64_t pairs = winograd_units(shape_.filter_blocks, loops_.vectors);
  const int64_t c = at / plan.filter_parts, f = at % plan.filter_parts;
  const auto bound = [](int64_t count, int64_t i, int64_t parts) { return count * i / parts; };
  Part part{};
  part.first_channel = bound(shape_.channel_blocks, c, plan.channel_parts);
  part.channels = bound(shape_.channel_blocks, c + 1, plan.channel_parts) - part.first_channel;
  part.first_filter = bound(pairs, f, plan.filter_parts) * loops_.vectors;
  part.filters =
      std::min(bound(pairs, f + 1, plan.filter_parts) * loops_.vectors, shape_.filter_blocks) -
      part.first_filter;
  return part;
}

size_t WinogradWeightGradient::workspace_bytes(int threads) const {
  const Plan p = plan(threads);
  return static_cast<size_t>(p.channel_parts * p.filter_parts * p.size) * sizeof(float);
}

void WinogradWeightGradient::run(const float* src, const float* dmap, float* dweights, float* dbias,
                                 void* workspace, int threads) const {
  const Plan p = plan(threads);
  const int64_t parts = p.channel_parts * p.filter_parts;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t at = 0; at < parts; ++at) {
    const Part own = part(p, at);
    const Memory used = memory(p, static_cast<float*>(workspace) + at * p.size);
    sum_up(p, own, src, dmap, used);
    finish(p, own, used.sums, dweights);
    if (dbias == nullptr || own.first_channel > 0) continue;
    const int64_t first = own.first_filter * loops_.lanes;
    std::copy_n(used.bias, std::min(own.filters * loops_.lanes, shape_.filters - first),
                dbias + first);
  }
}

WinogradWeightGradient::Memory WinogradWeightGradient::memory(const Plan& plan,
                                                              float* of_part) const {
  float* const map = of_part + shape_.points() * plan.image_point;
  return {of_part, map, map + shape_.points() * plan.map_point, of_part + plan.bias};
}

void WinogradWeightGradient::sum_up(const Plan& plan, const Part& part, const float* src,
                                    const float* dmap, const Memory& memory) const {
  const int64_t lanes = loops_.lanes;
  for (int64_t tile = 0; tile < shape_.tiles; tile += plan.tiles) {
    const int64_t tiles = std::min(plan.tiles, shape_.tiles - tile);
    for (int64_t c = 0; c < part.channels; ++c) {
      loops_.transform[shape_.form](shape_, src, part.first_channel + c, tile, tiles,
                                    memory.image + c * plan.image_line, plan.image_point);
    }
    for (int64_t f = 0; f < part.filters; ++f) {
      loops_.transform_map(shape_, dmap, part.first_filter + f, tile, tiles,
                           memory.map + f * plan.map_line, plan.map_point, memory.bias + f * lanes);
    }
    for (int64_t point = 0; point < shape_.points(); ++point) {
      loops_.accumulate(tiles, part.channels, part.filters, memory.image + point * plan.image_point,
                        plan.image_line, memory.map + point * plan.map_point, plan.map_line,
                        memory.sums + point * plan.sums_point, tile > 0);
    }
  }
}

void WinogradWeightGradient::finish(const Plan& plan, const Part& part, const float* sums,
                                    float* dweights) const {
  constexpr int64_t kKernel = 9;
  const int64_t lanes = loops_.lanes, all = part.channels * lanes;
  const int64_t first = part.first_channel * lanes;
  const int64_t channels = std::min(all, shape_.channels - first), step = shape_.channels * kKernel;
  for (int64_t f = 0; f < part.filters; ++f) {
    const int64_t pair = f / loops_.vectors * loops_.vectors;
    const int64_t width = std::min<int64_t>(loops_.vectors, part.filters - pair) * lanes;
    const int64_t filter = (part.first_filter + f) * lanes;
    for (int64_t c = 0; c < channels; ++c) {
      loops_.gradient(std::min(lanes, shape_.filters - filter),
                      sums + pair * lanes * all + c * width + (f - pair) * lanes, plan.sums_point,
                      dweights + filter * step + (first + c) * kKernel, step);
    }
  }
}

}  // namespace mxnet

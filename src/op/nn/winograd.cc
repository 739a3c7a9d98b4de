// SPDX-License-Identifier: Apache-2.0
// Cuts a Winograd convolution into parts that fit the second-level cache, and splits them over
// threads.
#include "op/nn/winograd.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bfloat16_pairs.h"
#include "base/error.h"
#include "base/simd.h"
#include "op/nn/winograd_loops.h"
#include "op/nn/winograd_pairs.h"

namespace mxnet {
namespace {

// Bytes of transformed data that a thread works on at a time: with the weights that meet them they
// stay in a second-level cache of 2 MiB, and nearly so in one of 1 MiB.
constexpr int64_t kCutBytes = int64_t{1} << 20;
// Filters whose points are computed before they become pixels: fewer would read the transformed
// image more often.
constexpr int64_t kCutFilters = 128;
// Tiles that make the reading of weights cheap, if need be beyond kCutBytes.
constexpr int64_t kLeastTiles = 56;
// Threads that would get fewer tiles than this share them all and divide the filters, so that
// weights are read once; above, the exchange of transformed tiles costs more than that.
constexpr int64_t kLeastOwnTiles = 28;
// Tiles of a group of channels that threads which share them transform at a time.
constexpr int64_t kPieceTiles = 32;

}  // namespace

WinogradConv::Isa WinogradConv::best_isa() { return static_cast<Isa>(simd_level()); }
bool WinogradConv::has(Isa isa) { return static_cast<int>(isa) <= simd_level(); }

bool WinogradConv::supported(const WinogradDesc& d, Isa isa) {
  const auto fits = [](int64_t size, int64_t pad, int64_t kernel) {
    return size > 0 && pad >= 0 && pad < kernel && size + 2 * pad >= kernel;
  };
  const int form = winograd_form(d);
  if (form < 0 || winograd_loops(isa) == nullptr) return false;
  const auto type_fits = [form](bool blocked, bool narrow) {
    return !narrow || (blocked && kWinogradForms[form].may_be_narrow());
  };
  if (d.pairs && !(isa == Isa::kAvx512 && has_winograd_pairs() && d.channels % 2 == 0 &&
                   kWinogradForms[form].may_multiply_pairs()))
    return false;
  return d.batch > 0 && d.channels > 0 && d.filters > 0 && fits(d.height, d.pad_y, d.kernel_y) &&
         fits(d.width, d.pad_x, d.kernel_x) && type_fits(d.src_blocked, d.src_narrow) &&
         type_fits(d.dst_blocked, d.dst_narrow);
}

WinogradConv::WinogradConv(const WinogradDesc& desc, Isa isa)
    : loops_(*winograd_loops(isa)),
      shape_(winograd_shape(desc, loops_.lanes)),
      kernel_size_(desc.kernel_y * desc.kernel_x) {
  MX_ASSERT(supported(desc, isa));
}

int WinogradConv::block() const { return loops_.lanes; }

int64_t WinogradConv::weights_point() const {
  const int64_t steps = shape_.pairs ? shape_.channels / 2 : shape_.channels;
  return winograd_point(steps * loops_.vectors * loops_.lanes);
}

size_t WinogradConv::packed_bytes() const {
  const int64_t panels = winograd_units(shape_.filter_blocks, loops_.vectors);
  return static_cast<size_t>(panels * shape_.points() * weights_point()) * sizeof(float);
}

const float* WinogradConv::panel_of(const float* weights, int64_t first, int64_t count,
                                    int64_t step, const Scales& by) {
  const float* const from = weights + first * step;
  if (by.of_filters == nullptr) return from;
  float* const to = by.room + omp_get_thread_num() * by.own;
  for (int64_t f = 0; f < count; ++f)
    for (int64_t i = f * step; i < (f + 1) * step; ++i)
      to[i] = static_cast<float>(double{from[i]} * by.of_filters[first + f]);
  return to;
}

void WinogradConv::pack(const float* weights, WeightOrder order, float* packed, int threads,
                        const double* scales) const {
  const int64_t most = std::max<int64_t>(kWinogradPairFilters, loops_.vectors * loops_.lanes);
  const int64_t own = scales == nullptr ? 0 : most * shape_.channels * kernel_size_;
  std::vector<float> room(static_cast<std::size_t>(threads * own));
  const Scales by{scales, room.data(), own};
  if (shape_.pairs) return pack_pairs(weights, order, packed, threads, by);
  const auto transform = loops_.weights[shape_.form];
  const int64_t lanes = loops_.lanes, panel = loops_.vectors * lanes;
  const int64_t stored = shape_.filter_blocks * lanes, kernel = kernel_size_;
  const int64_t filters = shape_.filters, channels = shape_.channels, point = weights_point();
  const int64_t panel_size = shape_.points() * point;
  const bool adjoint = order == WeightOrder::kAdjoint;
  const int64_t filter_step = adjoint ? kernel : channels * kernel;
  const int64_t channel_step = adjoint ? filters * kernel : kernel;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t first = 0; first < stored; first += panel) {
    const int64_t width = std::min(panel, stored - first);
    float* to = packed + first / panel * panel_size;
    const float* from = panel_of(weights, first, std::min(width, filters - first), filter_step, by);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t f = first; f < first + width; f += lanes) {
        transform(std::clamp<int64_t>(filters - f, 0, lanes),
                  from + (f - first) * filter_step + c * channel_step, filter_step, adjoint,
                  to + c * width + f - first, point);
      }
    }
  }
}

void WinogradConv::pack_pairs(const float* weights, WeightOrder order, float* packed, int threads,
                              const Scales& by) const {
  const auto transform = loops_.weights[shape_.form];
  constexpr int64_t kPanel = kWinogradPairFilters;
  const int64_t panels = winograd_units(shape_.filter_blocks, loops_.vectors);
  const int64_t channels = shape_.channels, points = shape_.points(), point = weights_point();
  const bool adjoint = order == WeightOrder::kAdjoint;
  const int64_t filter_step = kernel_size_ * (adjoint ? 1 : channels);
  const int64_t channel_step = kernel_size_ * (adjoint ? shape_.filters : 1);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t panel = 0; panel < panels; ++panel) {
    float* to = packed + panel * points * point;
    const int64_t first = panel * kPanel;
    const float* from =
        panel_of(weights, first, std::min(kPanel, shape_.filters - first), filter_step, by);
    for (int64_t c = 0; c < channels; c += 2, to += kPanel) {
      constexpr int kPoints = kWinogradForms[winograd_pairs_form()].points();
      alignas(64) float values[2][kPoints * kPanel];
      Bfloat16Pair pairs[kPanel];
      for (int64_t i = 0; i < kPanel; i += loops_.lanes) {
        for (int64_t k = 0; k < 2; ++k) {
          transform(std::clamp<int64_t>(shape_.filters - first - i, 0, loops_.lanes),
                    from + i * filter_step + (c + k) * channel_step, filter_step, adjoint,
                    values[k] + i, kPanel);
        }
      }
      for (int64_t p = 0; p < points; ++p) {
        pair_up(values[0] + p * kPanel, values[1] + p * kPanel, kPanel, pairs);
        std::memcpy(to + p * point, pairs, sizeof(pairs));
      }
    }
  }
}

WinogradConv::Plan WinogradConv::plan(int threads) const {
  const int64_t lanes = loops_.lanes, panel = loops_.vectors * lanes, points = shape_.points();
  const int64_t group = group_floats();
  Plan p{};
  p.all_panels = winograd_units(shape_.filter_blocks, loops_.vectors);
  p.panels = std::min<int64_t>(p.all_panels, kCutFilters / panel);
  p.share = threads > 1 && shape_.tiles < threads * kLeastOwnTiles;
  if (p.share) {
    p.filter_parts = std::min<int64_t>(p.all_panels, threads);
    p.panels = std::min(p.panels, winograd_units(p.all_panels, p.filter_parts));
    p.cuts = std::min(threads / p.filter_parts, shape_.tiles);
  } else {
    const int64_t a_tile = points * (shape_.channel_blocks * group + p.panels * panel) * 4;
    const int64_t fit = std::max(kCutBytes / a_tile / loops_.rows * loops_.rows, kLeastTiles);
    p.cuts = winograd_units(winograd_units(shape_.tiles, fit), threads) * threads;
  }
  p.tiles = winograd_units(shape_.tiles, p.cuts);
  p.input_line = (p.share ? shape_.tiles : p.tiles) * group;
  p.input_point = winograd_point(p.input_line * shape_.channel_blocks);
  p.input_size = p.input_point * points;
  p.output_line = p.tiles * lanes;
  p.output_point = winograd_point(p.output_line * p.panels * loops_.vectors);
  p.output_size = p.output_point * points;
  return p;
}

size_t WinogradConv::workspace_bytes(int threads) const {
  const Plan p = plan(threads);
  return static_cast<size_t>((p.share ? 1 : threads) * p.input_size + threads * p.output_size) *
         sizeof(float);
}

void WinogradConv::run(const void* src, const float* packed, const LayerPost& post, void* dst,
                       void* workspace, int threads) const {
  const Plan p = plan(threads);
  auto* input = static_cast<float*>(workspace);
  if (p.share) {
    run_shared(p, src, packed, post, dst, input, input + p.input_size, threads);
  } else {
    run_cuts(p, src, packed, post, dst, input, input + threads * p.input_size, threads);
  }
}

void WinogradConv::run_shared(const Plan& plan, const void* src, const float* packed,
                              const LayerPost& post, void* dst, float* input, float* outputs,
                              [[maybe_unused]] int threads) const {
  const int64_t parts = plan.cuts * plan.filter_parts,
                pieces = winograd_units(shape_.tiles, kPieceTiles);
  const auto transform = shape_.pairs ? loops_.transform_to_pairs : loops_.transform[shape_.form];
#pragma omp parallel num_threads(threads)
  {
#pragma omp for collapse(2) schedule(static)
    for (int64_t block = 0; block < shape_.channel_blocks; ++block) {
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t tile = piece * kPieceTiles;
        transform(shape_, src, block, tile, std::min(kPieceTiles, shape_.tiles - tile),
                  input + block * plan.input_line + tile * group_floats(), plan.input_point);
      }
    }
    // The barrier between the loops: products need all channels.
#pragma omp for schedule(static)
    for (int64_t at = 0; at < parts; ++at) {
      const int64_t cut = at / plan.filter_parts, filters = at % plan.filter_parts;
      const int64_t tile = shape_.tiles * cut / plan.cuts;
      const Part part{tile, shape_.tiles * (cut + 1) / plan.cuts - tile,
                      plan.all_panels * filters / plan.filter_parts,
                      plan.all_panels * (filters + 1) / plan.filter_parts};
      run_part(plan, part, input + tile * group_floats(), packed, post,
               outputs + at * plan.output_size, dst);
    }
  }
}

void WinogradConv::run_cuts(const Plan& plan, const void* src, const float* packed,
                            const LayerPost& post, void* dst, float* inputs, float* outputs,
                            int threads) const {
  const auto transform = shape_.pairs ? loops_.transform_to_pairs : loops_.transform[shape_.form];
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int thread = 0; thread < threads; ++thread) {
    float* input = inputs + thread * plan.input_size;
    const int64_t last = plan.cuts * (thread + 1) / threads;
    for (int64_t cut = plan.cuts * thread / threads; cut < last; ++cut) {
      const int64_t tile = shape_.tiles * cut / plan.cuts;
      const Part part{tile, shape_.tiles * (cut + 1) / plan.cuts - tile, 0, plan.all_panels};
      for (int64_t block = 0; block < shape_.channel_blocks; ++block) {
        transform(shape_, src, block, tile, part.tiles, input + block * plan.input_line,
                  plan.input_point);
      }
      run_part(plan, part, input, packed, post, outputs + thread * plan.output_size, dst);
    }
  }
}

void WinogradConv::run_part(const Plan& plan, const Part& part, const float* input,
                            const float* packed, const LayerPost& post, float* output,
                            void* dst) const {
  const int64_t points = shape_.points(), weights = weights_point();
  const int64_t step = loops_.vectors;
  for (int64_t panel = part.first; panel < part.last; panel += plan.panels) {
    const int64_t begin = panel * step;
    const int64_t end =
        std::min(std::min(panel + plan.panels, part.last) * step, shape_.filter_blocks);
    for (int64_t point = 0; point < points; ++point) {
      float* to = output + point * plan.output_point;
      for (int64_t block = begin; block < end; block += step) {
        const int64_t vectors = std::min(step, end - block);
        const float *left = input + point * plan.input_point,
                    *right = packed + (block / step * points + point) * weights;
        float* product = to + (block - begin) * plan.output_line;
        if (shape_.pairs) {
          multiply_winograd_pairs(part.tiles, shape_.channels / 2, left, plan.input_line, right,
                                  product, plan.output_line);
        } else {
          loops_.multiply(part.tiles, shape_.channels, vectors, left, plan.input_line, right,
                          product, plan.output_line);
        }
      }
    }
    for (int64_t block = begin; block < end; ++block) {
      loops_.restore[shape_.form](shape_, output + (block - begin) * plan.output_line,
                                  plan.output_point, block, part.tile, part.tiles, post, dst);
    }
  }
}

}  // namespace mxnet

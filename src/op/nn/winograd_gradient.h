// SPDX-License-Identifier: Apache-2.0
// The gradient of the weights of a 3x3 convolution with step 1 by Winograd's method: the adjoint of
// F(4x4, 3x3) by its weights, with a quarter of a direct one's multiplications. float32.
#pragma once
#include <cstddef>

#include "op/nn/winograd.h"

namespace mxnet {

// Immutable, so any number of threads may use one at a time, each with a workspace of its own.
class WinogradWeightGradient {
 public:
  // `desc` is that of the convolution, its image and map in blocks, its tiles of four.
  // REQUIRES WinogradConv::supported(desc, isa).
  WinogradWeightGradient(const WinogradDesc& desc, WinogradConv::Isa isa);

  // Aligned to 64 bytes.
  size_t workspace_bytes(int threads) const;
  // dweights in the plain layout (filter, channel, row, column); dbias may be null. Any number of
  // threads gives the same bits.
  void run(const float* src, const float* dmap, float* dweights, float* dbias, void* workspace,
           int threads) const;

 private:
  // Threads divide channels and filters, so that each sums up weights of its own; tiles of the
  // image are transformed once for each part of the filters, those of the map for each part of the
  // channels.
  struct Plan {
    int64_t channel_parts, filter_parts;
    int64_t tiles;                    // transformed at a time
    int64_t image_line, image_point;  // floats: from a group of channels to the next, from
    int64_t map_line, map_point;      // a point to the next,
    int64_t sums_point;               // and that of the sums
    int64_t bias, size;               // where the sums of pixels are; all of one part
  };
  struct Part {
    int64_t first_channel, channels, first_filter, filters;  // in groups
  };
  Plan plan(int threads) const;
  Part part(const Plan& plan, int64_t at) const;
  // What of a part's memory is what.
  struct Memory {
    float *image, *map, *sums, *bias;
  };
  Memory memory(const Plan& plan, float* of_part) const;
  void sum_up(const Plan& plan, const Part& part, const float* src, const float* dmap,
              const Memory& memory) const;
  void finish(const Plan& plan, const Part& part, const float* sums, float* dweights) const;

  const WinogradLoops& loops_;
  WinogradShape shape_;
};

}  // namespace mxnet

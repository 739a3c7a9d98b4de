// SPDX-License-Identifier: Apache-2.0
// Convolution with step 1 by the minimal filtering of Winograd: F(4x4, 3x3) needs 36
// multiplications for what takes a direct convolution 144, F(2x2, 3x3) 16 for 36, F(2x2, 5x5) 36
// for 100, F(4, 3) and F(4, 7) along rows or columns 6 for 12 and 10 for 28. Forward only, in
// float32 or with products of bfloat16; weights are transformed once and used many times.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/nn/winograd_shape.h"
#include "op/products/layer_post.h"

namespace mxnet {

struct WinogradLoops;

// Immutable, so any number of threads may use one at a time, each with a workspace of its own.
class WinogradConv {
 public:
  enum class Isa : int8_t { kBaseline, kAvx2, kAvx512 };
  static Isa best_isa();
  // Whether this CPU has it.
  static bool has(Isa isa);

  // REQUIRES has(isa).
  static bool supported(const WinogradDesc& desc, Isa isa = best_isa());
  // REQUIRES supported(desc, isa).
  WinogradConv(const WinogradDesc& desc, Isa isa);

  // Channels that lie together in blocked layouts.
  int block() const;

  size_t packed_bytes() const;
  // From the plain layout (filter, channel, row, column). Aligned to 64 bytes, as the workspace.
  // `scales`, if not null: what each filter is multiplied by before, a few at a time, since memory
  // for all of them would cost more than the multiplying.
  void pack(const float* weights, float* packed, int threads,
            const double* scales = nullptr) const {
    pack(weights, WeightOrder::kOwn, packed, threads, scales);
  }
  // kAdjoint: `weights` are those of the convolution whose gradient by its image this one is, so
  // that its channels are filters here, and its kernels lie turned by half a circle.
  enum class WeightOrder : bool { kOwn, kAdjoint };
  // Filters that are channels have no scales.
  void pack(const float* weights, WeightOrder order, float* packed, int threads,
            const double* scales = nullptr) const;

  size_t workspace_bytes(int threads) const;
  // Arrays of float32 or, where they are narrow, bfloat16.
  void run(const void* src, const float* packed, const LayerPost& post, void* dst, void* workspace,
           int threads) const;

 private:
  // How the work is cut up for a number of threads. Either each thread takes cuts of tiles, from
  // the image to the map; or, with few tiles, all share one transformed image, of which they divide
  // the filters and, with fewer filters than threads, the tiles.
  struct Plan {
    bool share;
    int64_t cuts, tiles;                // cuts of tiles, and the most tiles that one has
    int64_t filter_parts;               // of threads that share
    int64_t all_panels, panels;         // of filters; those between two inverse transforms
    int64_t input_line, input_point;    // floats: from a group of channels to the next, from a
    int64_t output_line, output_point;  // point to the next,
    int64_t input_size, output_size;    // of all points
  };
  // A thread's share of the products: tiles and panels of filters.
  struct Part {
    int64_t tile, tiles, first, last;
  };
  Plan plan(int threads) const;
  // Floats' worth of memory: of a tile's group of channels,
  int64_t group_floats() const { return shape_.pairs ? block() / 2 : block(); }
  int64_t weights_point() const;  // floats from a point of packed weights to the next
  void run_shared(const Plan& plan, const void* src, const float* packed, const LayerPost& post,
                  void* dst, float* input, float* outputs, int threads) const;
  void run_cuts(const Plan& plan, const void* src, const float* packed, const LayerPost& post,
                void* dst, float* inputs, float* outputs, int threads) const;
  // The map of a part; `input` is where its first tile is.
  void run_part(const Plan& plan, const Part& part, const float* input, const float* packed,
                const LayerPost& post, float* output, void* dst) const;

  struct Scales {
    const double* of_filters;
    float* room;  // for products
    int64_t own;  // floats of it for each thread
  };
  // The filters [first, first + count), `step` floats each, times their scales.
  [[gnu::noinline]] static const float* panel_of(const float* weights, int64_t first, int64_t count,
                                                 int64_t step, const Scales& by);
  void pack_pairs(const float* weights, WeightOrder order, float* packed, int threads,
                  const Scales& by) const;

  const WinogradLoops& loops_;
  WinogradShape shape_;
  int64_t kernel_size_;
};

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Copies in which neighbours of one array are far apart in the other: transpositions. A block reads
// a tile along the lines of one array and writes it along those of the other, so that both move in
// whole lines; a thread an element would touch a line of its own at each end.
#pragma once
#include <cstdint>
#include <optional>

#include "plugin/cuda/tiles.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {

// `read` is the dimension whose neighbours lie together in `in`, `write` that of `out`; `others`
// are all but these two. E has the size of an element.
template <class E>
struct TurnTiles {
  static constexpr int kBytes = static_cast<int>(sizeof(E));
  // A line of a tile is 64 bytes at least. Lines begin in another bank each.
  static constexpr int kSide = kBytes < 4 ? 64 : 32;
  static constexpr int kPitch = kSide + (kBytes < 4 ? 4 / kBytes : 1);
  static constexpr int kLines = kThreads / kSide;  // that the threads move at once
  struct Tile {
    E at[kSide * kPitch];
  };

  const E* in;
  E* out;
  Walk<2> others;
  int64_t read_size, write_size;
  int64_t in_step, out_step;  // of `write` in `in`, of `read` in `out`
  Divider across, down;       // tiles along `read`, along `write`

  TurnTiles(const void* in_, void* out_, const Walk<2>& walk, int read, int write)
      : in(static_cast<const E*>(in_)),
        out(static_cast<E*>(out_)),
        read_size(walk.sizes[read].by()),
        write_size(walk.sizes[write].by()),
        in_step(walk.steps[write][0]),
        out_step(walk.steps[read][1]),
        across((read_size + kSide - 1) / kSide),
        down((write_size + kSide - 1) / kSide) {
    for (int d = 0; d < walk.ndim; ++d)
      if (d != read && d != write) others.add(walk.sizes[d].by(), walk.steps[d]);
  }
  int64_t tiles(int64_t elements) const {
    return elements / (read_size * write_size) * across.by() * down.by();
  }

  struct Place {
    int64_t read, write;  // the tile's first
    int64_t at[2];        // where the matrix begins
  };
  MX_DEVICE Place place(int64_t i) const {
    const int64_t row = across.quotient(i), matrix = down.quotient(row);
    Place p{(i - row * across.by()) * kSide, (row - matrix * down.by()) * kSide, {}};
    others.offsets(matrix, p.at);
    return p;
  }
  MX_DEVICE void load(int64_t i, int thread, Tile* tile) const {
    const Place p = place(i);
    const int lane = thread % kSide, line = thread / kSide;
    if (p.read + lane >= read_size) return;
    const E* const from = in + p.at[0] + p.read + lane;
#pragma unroll
    for (int k = 0; k < kSide; k += kLines)
      if (p.write + line + k < write_size)
        tile->at[(line + k) * kPitch + lane] = from[(p.write + line + k) * in_step];
  }
  MX_DEVICE void store(int64_t i, int thread, const Tile& tile) const {
    const Place p = place(i);
    const int lane = thread % kSide, line = thread / kSide;
    if (p.write + lane >= write_size) return;
    E* const to = out + p.at[1] + p.write + lane;
#pragma unroll
    for (int k = 0; k < kSide; k += kLines)
      if (p.read + line + k < read_size)
        to[(p.read + line + k) * out_step] = tile.at[lane * kPitch + line + k];
  }
};

// The dimension whose neighbours lie together in one array (0: in, 1: out) and not in the other, if
// it is long enough for a tile not to be mostly empty: shorter lines are what the caches are for.
inline std::optional<int> line_of_one(const Walk<2>& walk, int array) {
  constexpr int64_t kShortest = 16;
  for (int d = 0; d < walk.ndim; ++d)
    if (walk.steps[d][array] == 1 && walk.steps[d][1 - array] != 1 &&
        walk.sizes[d].by() >= kShortest)
      return d;
  return std::nullopt;
}

// Whether it has copied `n` elements by tiles. REQUIRES: `out` is written once everywhere.
template <class E>
bool copy_by_tiles(NativeStream* stream, const Walk<2>& walk, int64_t n, const void* in,
                   void* out) {
  const std::optional<int> read = line_of_one(walk, 0), write = line_of_one(walk, 1);
  if (!read || !write) return false;
  const TurnTiles<E> tiles(in, out, walk, *read, *write);
  for_each_tile(stream, "copy_by_tiles", tiles.tiles(n), tiles);
  return true;
}

}  // namespace cuda
}  // namespace mxnet

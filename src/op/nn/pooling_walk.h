// SPDX-License-Identifier: Apache-2.0
// Loops over planes (one channel of one image) and lines of pooling's arrays.
#pragma once
#include "op/run/parallel.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {

// fn(plane) for all planes, in threads.
template <class F>
void for_each_plane(const PoolGeometry& g, double cost, const F& fn) {
  parallel_for(
      g.batch * g.channels, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t plane = first; plane < last; ++plane) fn(plane);
      },
      1);
}

// visit(place of the line's first window in the map, windows of planes and lines) for each line.
template <class Visit>
void for_each_line(const PoolGeometry& g, const Visit& visit) {
  int64_t place = 0;
  for (int64_t z = 0; z < g.map[0]; ++z) {
    for (int64_t y = 0; y < g.map[1]; ++y, place += g.map[2])
      visit(place, z, y, g.window(0, z), g.window(1, y));
  }
}

// visit(line's first pixel) for the lines of the image that windows of a line of the map see.
template <class Visit>
void for_each_seen(const PoolGeometry& g, const PoolGeometry::Window& planes,
                   const PoolGeometry::Window& lines, const Visit& visit) {
  for (int64_t z = planes.begin; z < planes.end; ++z)
    for (int64_t y = lines.begin; y < lines.end; ++y) visit((z * g.image[1] + y) * g.image[2]);
}

}  // namespace mxnet

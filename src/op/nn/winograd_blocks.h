// SPDX-License-Identifier: Apache-2.0
// How the products of a Winograd convolution at one point are cut into blocks that the registers
// and the first-level cache hold.
#pragma once
#include <algorithm>
#include <cstdint>

#include "op/nn/winograd_shape.h"

namespace mxnet {

// Steps [start, start + depth) of tiles [from, from + rows): the `part`th of `parts` that meet the
// same weights.
struct WinogradBlock {
  int64_t start, depth, from, rows, part, parts;
};

// At most `most_rows` tiles and `most_steps` steps at a time, whose weights stay in the first-level
// cache while all tiles meet them. Steps come in groups and are divided evenly, because each block
// asks for as much of what comes next as it has. Tiles are divided evenly too: two times 8 is
// faster than 14 and 2.
template <class F>
void for_each_winograd_block(int64_t tiles, int64_t most_rows, int64_t steps, int64_t most_steps,
                             int64_t group, const F& visit) {
  const int64_t even = winograd_units(steps, winograd_units(steps, most_steps) * group) * group;
  const int64_t parts = winograd_units(tiles, most_rows);
  for (int64_t start = 0; start < steps; start += even) {
    const int64_t depth = std::min(even, steps - start);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t from = tiles * part / parts, rows = tiles * (part + 1) / parts - from;
      visit(WinogradBlock{start, depth, from, rows, part, parts});
    }
  }
}

}  // namespace mxnet

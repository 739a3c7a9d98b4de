// SPDX-License-Identifier: Apache-2.0
// Sizes of a Winograd convolution from its description.
#include "op/nn/winograd_shape.h"

namespace mxnet {

WinogradShape winograd_shape(const WinogradDesc& desc, int64_t lanes) {
  WinogradShape s{};
  s.batch = desc.batch;
  s.channels = desc.channels;
  s.filters = desc.filters;
  s.height = desc.height;
  s.width = desc.width;
  s.pad_y = desc.pad_y;
  s.pad_x = desc.pad_x;
  s.out_height = desc.height + 2 * desc.pad_y - 2;
  s.out_width = desc.width + 2 * desc.pad_x - 2;
  s.tile = desc.tile;
  s.tiles_y = winograd_units(s.out_height, s.tile);
  s.tiles_x = winograd_units(s.out_width, s.tile);
  s.tiles = s.batch * s.tiles_y * s.tiles_x;
  s.channel_blocks = winograd_units(s.channels, lanes);
  s.filter_blocks = winograd_units(s.filters, lanes);
  s.src_blocked = desc.src_blocked;
  s.dst_blocked = desc.dst_blocked;
  s.src_narrow = desc.src_narrow;
  s.dst_narrow = desc.dst_narrow;
  return s;
}

}  // namespace mxnet

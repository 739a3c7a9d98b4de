// SPDX-License-Identifier: Apache-2.0
// Sizes of a Winograd convolution from its description.
#include "op/nn/winograd_shape.h"

namespace mxnet {

int winograd_form(const WinogradDesc& desc) {
  const auto tile = [&](int64_t kernel) { return kernel == 1 ? 1 : desc.tile; };
  for (int i = 0; i < kCountOfWinogradForms; ++i) {
    const WinogradForm& form = kWinogradForms[i];
    if (form.kernel_y == desc.kernel_y && form.kernel_x == desc.kernel_x &&
        form.tile_y == tile(desc.kernel_y) && form.tile_x == tile(desc.kernel_x))
      return i;
  }
  return -1;
}

WinogradShape winograd_shape(const WinogradDesc& desc, int64_t lanes) {
  WinogradShape s{};
  s.batch = desc.batch;
  s.channels = desc.channels;
  s.filters = desc.filters;
  s.height = desc.height;
  s.width = desc.width;
  s.pad_y = desc.pad_y;
  s.pad_x = desc.pad_x;
  s.out_height = desc.height + 2 * desc.pad_y - desc.kernel_y + 1;
  s.out_width = desc.width + 2 * desc.pad_x - desc.kernel_x + 1;
  s.form = winograd_form(desc);
  s.tiles_y = winograd_units(s.out_height, kWinogradForms[s.form].tile_y);
  s.tiles_x = winograd_units(s.out_width, kWinogradForms[s.form].tile_x);
  s.tiles = s.batch * s.tiles_y * s.tiles_x;
  s.channel_blocks = winograd_units(s.channels, lanes);
  s.filter_blocks = winograd_units(s.filters, lanes);
  s.src_blocked = desc.src_blocked;
  s.dst_blocked = desc.dst_blocked;
  s.src_narrow = desc.src_narrow;
  s.dst_narrow = desc.dst_narrow;
  s.pairs = desc.pairs;
  return s;
}

}  // namespace mxnet

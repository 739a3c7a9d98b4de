// SPDX-License-Identifier: Apache-2.0
// Lists of numbers that say how a window moves: kernel, stride, dilate, pad.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "op/infer.h"

namespace mxnet {

// As it was given: in a shape a number below 0 is one that is not known.
inline std::string shown_list(const Shape& values) {
  std::string shown;
  for (const int64_t value : values) shown += (shown.empty() ? "" : ",") + std::to_string(value);
  return "(" + shown + (values.ndim() == 1 ? ",)" : ")");
}

// None, or one for each spatial dimension, from `least` on, and such that an image that is as many
// times larger or smaller still has a size that libraries count.
inline void check_window_list(const char* name, const Shape& values, int64_t least, int spatial,
                              Infer& infer) {
  constexpr int64_t kMost = 1 << 24;
  bool fits = values.empty() || values.ndim() == spatial;
  for (const int64_t value : values) fits = fits && value >= least && value <= kMost;
  if (fits) return;
  infer.fail(
      fmt::format("given {} {}, expected for each of {} spatial dimensions a number from {} to {}",
                  name, shown_list(values), spatial, least, kMost));
}

}  // namespace mxnet

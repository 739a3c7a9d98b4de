// SPDX-License-Identifier: Apache-2.0
// Where the channels of images lie: a parameter of convolutions and of pooling.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace mxnet {

// The number of spatial dimensions follows from the array's rank; kDefault is channels first.
enum class Layout : int8_t { kDefault, kNCW, kNCHW, kNCDHW, kNWC, kNHWC, kNDHWC };

inline bool channels_last(Layout layout) { return layout >= Layout::kNWC; }
// Spatial dimensions that a layout says; 0 for the default.
inline int spatial_of(Layout layout) {
  return layout == Layout::kDefault ? 0 : (static_cast<int>(layout) - 1) % 3 + 1;
}

// What users write for them, out of what an operator knows.
inline std::vector<std::pair<std::string_view, Layout>> layout_choices(
    std::initializer_list<Layout> known) {
  static constexpr const char* kNames[] = {"None", "NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"};
  std::vector<std::pair<std::string_view, Layout>> choices;
  choices.reserve(known.size());
  for (const Layout layout : known)
    choices.emplace_back(kNames[static_cast<std::size_t>(layout)], layout);
  return choices;
}

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// The links between simulated devices as MXNET_SIM_GPU_LINKS writes them.
#pragma once
#include <string_view>
#include <vector>

namespace mxnet {

// The weights that `text` gives for `devices` devices, [a * devices + b]: rows parted by
// semicolons, their numbers by spaces or commas; empty = 1 everywhere. Throws Error(kValue) unless
// it is a symmetric square of finite numbers of which none is negative.
std::vector<double> parse_sim_links(std::string_view text, int devices);

}  // namespace mxnet

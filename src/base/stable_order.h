// SPDX-License-Identifier: Apache-2.0
// Places in order of their keys, those of equal keys as they were. One function a type of keys for
// all who sort by a number: std::stable_sort is five kilobytes of code for every comparison that it
// is given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mxnet {

// The largest first. Where NaN comes is not said, each place is there once all the same.
std::vector<std::size_t> places_by_descending(std::span<const double> keys);

// The smallest first.
std::vector<std::size_t> places_by_ascending(std::span<const int64_t> keys);

}  // namespace mxnet

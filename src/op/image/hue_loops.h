// SPDX-License-Identifier: Apache-2.0
// Hues of many pixels, by vectors.
#pragma once
#include <cstdint>

#include "op/image/colours.h"

namespace mxnet::image {

// Of `count` pixels of three numbers, which are float or double; y may be x. The same numbers as
// ChangeHue gives for each.
template <class C>
void turn_hues(const ChangeHue& change, const C* x, C* y, int64_t count);

}  // namespace mxnet::image

// SPDX-License-Identifier: Apache-2.0
// How many arrays one call of an operator may take or give.
#pragma once

namespace mxnet {

// The largest known networks have a few thousand; a parameter may ask for any number.
inline constexpr int kMostValues = 1 << 20;

}  // namespace mxnet

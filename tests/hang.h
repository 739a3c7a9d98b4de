// SPDX-License-Identifier: Apache-2.0
// For children and helpers of tests: one that hangs ends by a signal, which its parent sees.
#pragma once
#include <unistd.h>

namespace mxnet {

// Many times what the longest of them needs on a machine that is busy with other things, and less
// than a test may take.
inline void end_if_it_hangs() { ::alarm(240); }

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// How this library was compiled, as constants: code asks these instead of the preprocessor.
#pragma once

namespace mxnet {

#if defined(NDEBUG)
inline constexpr bool kDebugBuild = false;
#else
inline constexpr bool kDebugBuild = true;
#endif

}  // namespace mxnet

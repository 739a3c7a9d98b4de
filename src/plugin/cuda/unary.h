// SPDX-License-Identifier: Apache-2.0
// The GPU's elementwise functions, made from unary_rows.h. C++17: unary.cu includes it.
#pragma once
#include <cstdint>

namespace mxnet {

struct NativeStream;

namespace cuda {

using UnaryLauncher = void (*)(NativeStream* stream, const void* x, void* y, int64_t n);

// See PluginTable::find_unary.
UnaryLauncher find_unary(const char* name, int32_t dtype) noexcept;

}  // namespace cuda
}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Portable kernels (op/run/gpu.h) that take memory of a GPU in some calls only; the others run on
// the host.
#pragma once
#include <string_view>

#include "op/kernel.h"

namespace mxnet {

using AcceptsOnGpu = bool (*)(const void* params, const Signature& signature);

// For initializers: true. Called by the file that defines the operator, before main.
bool mark_portable_if(std::string_view op, AcceptsOnGpu accepts);

}  // namespace mxnet

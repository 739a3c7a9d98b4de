// SPDX-License-Identifier: Apache-2.0
// How CPU kernels that stand in for device kernels reach device memory:
//   api.host_call(device, stream, [=] {
//     relu(static_cast<const float*>(sim_translate(x, n * 4)),
//          static_cast<float*>(sim_translate(y, n * 4)), n);
//   });
#pragma once
#include <cstddef>

namespace mxnet {

// Only inside a host_call of the simulator: where the `bytes` bytes at `data` lie. They must be
// memory of the stream's device, of a peer that it was given access to, or pinned. Throws
// Error(kValue) otherwise, where a real kernel would fault.
void* sim_translate(const void* data, std::size_t bytes);

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// Numbers that the host has to see before a kernel's call ends. It waits for them: the operator is
// marked as waiting (op/run/read_back.h), so that it is no part of a CUDA graph.
#pragma once
#include <vector>

#include "op/kernel.h"

namespace mxnet {
namespace cuda {

template <class T>
std::vector<T> host_values(const KernelContext& context, const T* on_device, int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count == 0) return values;
  Stream& stream = *context.stream();
  stream.api().copy(values.data(), Device::cpu(), on_device, context.device(),
                    values.size() * sizeof(T), stream.native());
  stream.synchronize();
  return values;
}

}  // namespace cuda
}  // namespace mxnet

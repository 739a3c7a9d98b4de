// SPDX-License-Identifier: Apache-2.0
// Convolutions and products say it as one: a network has both.
#include "plugin/cuda/tensor_cores.h"

#include <fmt/format.h>

#include <atomic>

#include "base/log.h"

namespace mxnet::cuda {

void say_tensor_cores_all_the_same(const Error& why) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  log(LogLevel::kWarning,
      fmt::format("{}; it is computed on tensor cores all the same, as others like it",
                  why.message()));
}

}  // namespace mxnet::cuda

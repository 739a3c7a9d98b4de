// SPDX-License-Identifier: Apache-2.0
// Every other walk goes backwards.
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// What is less lies in the second-level cache from one walk to the next.
constexpr int64_t kFar = int64_t{1} << 20;

}  // namespace

Sweep::Sweep(int64_t bytes) noexcept {
  [[gnu::tls_model("initial-exec")]] constinit static thread_local bool backwards = false;
  if (bytes >= kFar) backwards = !backwards;
  back_ = bytes >= kFar && backwards;
}

}  // namespace mxnet

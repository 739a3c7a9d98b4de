// SPDX-License-Identifier: Apache-2.0
// The lock of first uses, and its place among the handlers of fork.
#include "base/first_use.h"

#include "base/fork_order.h"
#include "base/leaked.h"

namespace mxnet {

Mutex& first_use_mutex() {
  static Leaked<Mutex> mutex;
  return *mutex;
}

namespace {
[[gnu::constructor(kForkOrderFirstUse)]] void register_handlers() {
  hold_over_forks<first_use_mutex>();
}
}  // namespace

}  // namespace mxnet

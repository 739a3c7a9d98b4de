// SPDX-License-Identifier: Apache-2.0
// Here, and not inline: plug-ins and the core mean the same rehearsal of a thread.
#include "device/rehearsal.h"

namespace mxnet {

thread_local Rehearsal* Rehearsal::current_ = nullptr;

Rehearsal::~Rehearsal() {
  current_ = outer_;
  if (!settled_) again();
}

void Rehearsal::again() noexcept {
  if (current_ != nullptr) current_->settled_ = false;
}

}  // namespace mxnet

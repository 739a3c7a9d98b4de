// SPDX-License-Identifier: Apache-2.0
// The plain run of calls that are to be recorded as a graph of the device: what a kernel does in it
// is what the recording would have for ever. A kernel that is about to be replaced by a better one,
// which is still being compiled, says so, and the calls are rehearsed once more.
#pragma once
#include "base/export.h"

namespace mxnet {

// The calling thread rehearses as long as it lives. One inside of another is part of it.
class Rehearsal {
 public:
  Rehearsal() : outer_(current_) { current_ = this; }
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  // Whether all kernels did what they will do from now on.
  bool settled() const { return settled_; }
  // For kernels: a later call will be done otherwise. Nothing happens where nobody rehearses.
  MX_PLUGIN_API static void again() noexcept;

 private:
  Rehearsal* const outer_;
  bool settled_ = true;
  static thread_local Rehearsal* current_;
};

}  // namespace mxnet

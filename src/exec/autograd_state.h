// SPDX-License-Identifier: Apache-2.0
// The two switches of autograd. Per thread, both off at first.
#pragma once
#include <utility>

namespace mxnet {

struct AutogradState {
  bool recording = false;
  bool training = false;
  // A backward pass runs that keeps its graph: what a gradient needs must survive it.
  bool retaining = false;
};

inline AutogradState& autograd_state() {
  // Each call reads it; see storage/lane_set.h.
  [[gnu::tls_model("initial-exec")]] thread_local constinit AutogradState state;
  return state;
}

// Other switches until the end of a scope.
class AutogradScope {
 public:
  explicit AutogradScope(AutogradState inside)
      : outside_(std::exchange(autograd_state(), inside)) {}
  ~AutogradScope() { autograd_state() = outside_; }
  AutogradScope(const AutogradScope&) = delete;
  AutogradScope& operator=(const AutogradScope&) = delete;

 private:
  const AutogradState outside_;
};

}  // namespace mxnet

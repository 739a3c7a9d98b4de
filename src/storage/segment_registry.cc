// SPDX-License-Identifier: Apache-2.0
// See segment_registry.h.
#include "storage/segment_registry.h"

#include "base/leaked.h"

namespace mxnet {

SegmentRegistry& SegmentRegistry::get() {
  static Leaked<SegmentRegistry> registry;
  return *registry;
}

void SegmentRegistry::add(int fd) {
  SpinGuard guard(lock_);
  fds_.insert(fd);
}

void SegmentRegistry::remove(int fd) noexcept {
  SpinGuard guard(lock_);
  fds_.erase(fd);
}

bool SegmentRegistry::contains(int fd) const {
  SpinGuard guard(lock_);
  return fds_.contains(fd);
}

}  // namespace mxnet

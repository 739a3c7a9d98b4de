// SPDX-License-Identifier: Apache-2.0
// A flag of the process and one of each thread.
#include "base/numpy_shape.h"

#include <fmt/format.h>

#include <atomic>

#include "base/error.h"

namespace mxnet {
namespace {

// Relaxed throughout: a flag that orders nothing; who switches it for all threads synchronises
// them.
std::atomic<bool> g_global{false};
thread_local bool t_local = false;

}  // namespace

NumpyShape numpy_shape() noexcept {
  if (g_global.load(std::memory_order_relaxed)) return NumpyShape::kGlobal;
  return t_local ? NumpyShape::kThread : NumpyShape::kOff;
}

NumpyShape set_numpy_shape(int mode) {
  const NumpyShape before = numpy_shape();
  switch (mode) {
    case static_cast<int>(NumpyShape::kOff):
      t_local = false;
      g_global.store(false, std::memory_order_relaxed);
      return before;
    case static_cast<int>(NumpyShape::kThread):
      t_local = true;
      return before;
    case static_cast<int>(NumpyShape::kGlobal):
      g_global.store(true, std::memory_order_relaxed);
      return before;
    default:
      throw Error(
          ErrorCode::kValue, "numpy_shape",
          fmt::format("given mode {}, expected 0 (off), 1 (this thread) or 2 (all threads)", mode));
  }
}

}  // namespace mxnet

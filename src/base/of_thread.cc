// SPDX-License-Identifier: Apache-2.0
// The list of what a thread ends with is the C++ library's.
#include "base/of_thread.h"

#include <cxxabi.h>

// This library, for dlclose; the C++ ABI names it.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" char __dso_handle __attribute__((visibility("hidden")));

namespace mxnet {

void at_end_of_thread(void (*forget)(void*)) {
  abi::__cxa_thread_atexit(forget, nullptr, &__dso_handle);
}

}  // namespace mxnet

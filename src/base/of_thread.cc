// SPDX-License-Identifier: Apache-2.0
// The list of what a thread ends with is the C++ library's.
#include "base/of_thread.h"

#include <cxxabi.h>

extern "C" char __dso_handle __attribute__((visibility("hidden")));  // this library, for dlclose

namespace mxnet {

void at_end_of_thread(void (*forget)(void*)) {
  abi::__cxa_thread_atexit(forget, nullptr, &__dso_handle);
}

}  // namespace mxnet

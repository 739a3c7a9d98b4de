// SPDX-License-Identifier: Apache-2.0
// For tests that fork while other threads allocate or are still starting.
#pragma once
#include <gtest/gtest.h>

// The runtimes of both sanitizers fork without their allocators' locks (mended in LLVM 17 and GCC
// 14; GCC 12's `__tsan::ForkBefore` takes the registry of threads and two locks of reports): if
// another thread holds one at that moment, and a thread takes some as it starts, the child's first
// allocation waits for ever, whatever the tested code does. Such a test says so at its start;
// forks of processes whose other threads stand still are tested under them too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR()                                          \
  GTEST_SKIP() << "the sanitizer's allocator does not survive a fork beside a thread that " \
                  "allocates"
#else
#define MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR() static_cast<void>(0)
#endif

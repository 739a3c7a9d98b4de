// SPDX-License-Identifier: Apache-2.0
// GNU's OpenMP is not built with the thread sanitizer's annotations: it does not see that the
// threads of a region wait for each other, and takes each of them for a race. Tests whose kernels
// share out their work keep their arrays small there, or are skipped.
#pragma once

#include <gtest/gtest.h>

namespace mxnet {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kOpenMpIsSeen = false;
#else
inline constexpr bool kOpenMpIsSeen = true;
#endif

}  // namespace mxnet

// A macro, for GTEST_SKIP returns from the function that holds it.
#define MX_SKIP_WHERE_OPENMP_IS_UNSEEN() \
  if (!mxnet::kOpenMpIsSeen) GTEST_SKIP() << "the sanitizer does not see OpenMP's waits"

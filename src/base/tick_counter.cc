// SPDX-License-Identifier: Apache-2.0
// Asking processor and kernel about the counter.
#include "base/tick_counter.h"

#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {
namespace {

bool is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

// It gives up on the counter as a clock where cores disagree.
bool kernel_trusts_it() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return static_cast<bool>(file >> name) && name == "tsc";
}

}  // namespace

bool tick_counter_is_clock() { return is_invariant() && kernel_trusts_it(); }

}  // namespace mxnet

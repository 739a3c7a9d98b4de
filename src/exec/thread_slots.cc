// SPDX-License-Identifier: Apache-2.0
// Numbers of threads: a place for each of those that there are.
#include "exec/thread_slots.h"

#include <bit>

namespace mxnet {
namespace {

std::atomic<uint64_t> g_taken{0};  // bit n - 1: a thread has number n

// Gives it back when the thread ends.
struct Returned {
  uint32_t number = 0;
  ~Returned() {
    if (number != 0) g_taken.fetch_and(~(uint64_t{1} << (number - 1)), std::memory_order_relaxed);
  }
};

// Relaxed: only the numbers matter.
uint32_t next_number() {
  for (uint64_t taken = g_taken.load(std::memory_order_relaxed); ~taken != 0;) {
    const int at = std::countr_one(taken);
    if (!g_taken.compare_exchange_weak(taken, taken | uint64_t{1} << at, std::memory_order_relaxed))
      continue;
    thread_local Returned returned;
    returned.number = static_cast<uint32_t>(at) + 1;
    return returned.number;
  }
  static std::atomic<uint32_t> more{65};
  return more.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

uint32_t thread_number() {
  // Without an end: what a thread destroys last may ask.
  constinit static thread_local uint32_t number = 0;
  if (number == 0) [[unlikely]]
    number = next_number();
  return number;
}

}  // namespace mxnet

// SPDX-License-Identifier: Apache-2.0
// The Linux system call behind futex.h.
#include "engine/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace mxnet::engine {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// Errors (the word changed, a signal, the time is up) all mean "look again", which every caller
// does.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value,
           const timespec* timeout) noexcept {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value,
          timeout, nullptr, 0);
}

}  // namespace

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT, expected, nullptr);
}

void futex_wait_for(std::atomic<uint32_t>& word, uint32_t expected,
                    std::chrono::nanoseconds timeout) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec relative{static_cast<time_t>(seconds.count()),
                          static_cast<long>((timeout - seconds).count())};
  futex(word, FUTEX_WAIT, expected, &relative);
}

void futex_wake_one(std::atomic<uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1, nullptr); }
void futex_wake_all(std::atomic<uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace mxnet::engine

// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking on one word: what the engine's waits are built from.
// The wait of std::atomic would do, but it spins by its own rules and knows no deadline.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace mxnet::engine {

// Sleeps while `word` holds `expected`, until woken. May return for no reason.
void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) noexcept;
void futex_wait_for(std::atomic<uint32_t>& word, uint32_t expected,
                    std::chrono::nanoseconds timeout) noexcept;
void futex_wake_one(std::atomic<uint32_t>& word) noexcept;
void futex_wake_all(std::atomic<uint32_t>& word) noexcept;

}  // namespace mxnet::engine

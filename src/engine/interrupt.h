// SPDX-License-Identifier: Apache-2.0
// Lets the program end a wait early: an interpreter asks its signals (KeyboardInterrupt) here.
#pragma once
#include <chrono>

namespace mxnet::engine {

// Returns not 0 to end the wait of the thread that asks. Called without locks, on any thread.
using InterruptCheck = int (*)();
// Null takes it away. Thread-safe.
void set_interrupt_check(InterruptCheck check) noexcept;
InterruptCheck interrupt_check() noexcept;

// How long a wait sleeps before it asks again: soon enough for a person.
inline constexpr std::chrono::milliseconds kInterruptSlice(100);

// What an ended wait throws. The work that was waited for goes on.
[[noreturn]] void throw_interrupted();

}  // namespace mxnet::engine

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

// Of one wait, whose thread runs operations meanwhile: asks between them, once a slice.
class LeaveWatch {
 public:
  explicit LeaveWatch(InterruptCheck check) noexcept : check_(check) {
    if (check_ != nullptr) next_ = std::chrono::steady_clock::now() + kInterruptSlice;
  }
  // True from the moment on at which the program has ended the wait: it says so once.
  bool leaves() {
    if (leaves_ || check_ == nullptr) return leaves_;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + kInterruptSlice;
    return leaves_ = check_() != 0;
  }

 private:
  const InterruptCheck check_;
  std::chrono::steady_clock::time_point next_;
  bool leaves_ = false;
};

// What an ended wait throws. The work that was waited for goes on.
[[noreturn]] void throw_interrupted();

}  // namespace mxnet::engine

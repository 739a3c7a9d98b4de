// SPDX-License-Identifier: Apache-2.0
// Whether a thread that has just had work waits for more of it awake: the next message of an
// exchange comes sooner than a sleeper wakes. Not beside other programs: who stays awake gives way
// to them and waits for the ends of their turns, where a sleeper gets a core when it is woken.
#pragma once
#include <chrono>

namespace mxnet::mpi {

class Awake {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kAwake{50};  // after work
  // Processes of a job hand a core over sooner than this; other programs keep it longer.
  static constexpr std::chrono::microseconds kTurn{300};
  // After another program's turn; then it looks again.
  static constexpr std::chrono::milliseconds kCrowd{500};

  bool stays(Clock::time_point last_work, Clock::time_point now) const {
    return now - last_work < kAwake && now >= alone_from_;
  }
  // It stayed, and gave way to others meanwhile.
  void gave_way(Clock::time_point from, Clock::time_point to) {
    if (to - from > kTurn) alone_from_ = to + kCrowd;
  }

 private:
  Clock::time_point alone_from_{};  // as far as it has seen
};

}  // namespace mxnet::mpi

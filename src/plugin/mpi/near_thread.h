// SPDX-License-Identifier: Apache-2.0
// A thread of another process of this machine, and whether its silence says that it is gone: one
// that is ready to run, and gets no core, can give no sign of life. Knows nothing of MPI.
#pragma once
#include <chrono>
#include <optional>

namespace mxnet::mpi {

// One thread.
class NearThread {
 public:
  // What the system tells of it.
  struct Look {
    bool ready = false;               // it runs, waits for a core, or for a page or a disk
    std::chrono::milliseconds ran{};  // on a core, since it began
  };

  NearThread() = default;  // of nobody
  // By their numbers, which are those of a thread that is there now.
  NearThread(int process, int thread);
  NearThread(NearThread&& other) noexcept;
  NearThread& operator=(NearThread&& other) noexcept;
  ~NearThread();

  // Nothing once it has ended, also where another one has its number by then.
  std::optional<Look> look() const;

 private:
  int file_ = -1;
};

// Looks at a thread that is late with a sign of life.
class Starving {
 public:
  // Of which it would have spent a part of this on the sign, had it run so long.
  static constexpr std::chrono::milliseconds kEnough{200};
  // So much silence, in all, can be for want of a core.
  explicit Starving(std::chrono::steady_clock::duration most) : most_(most) {}

  // Whether `silence`, the time since the last look, is not to be held against it.
  bool excuses(const std::optional<NearThread::Look>& look,
               std::chrono::steady_clock::duration silence);
  // It gave a sign.
  void end() { begun_.reset(); }

 private:
  const std::chrono::steady_clock::duration most_;
  std::optional<std::chrono::milliseconds> begun_;  // what it had run when it was late first
  std::chrono::steady_clock::duration excused_{};
};

}  // namespace mxnet::mpi

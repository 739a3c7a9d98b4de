// SPDX-License-Identifier: Apache-2.0
// How a thread that sleeps hears of work at once: MPI wakes nobody. Processes of one machine see
// each other's bell, and whoever has sent another something rings it.
#pragma once
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace mxnet::mpi {

// ring() may be called by any thread, all else by the one that calls MPI. Never destroyed.
class Doorbell {
 public:
  Doorbell();

  // All processes of `comm` call it. Those that cannot see another's bell do without it.
  void meet(MPI_Comm comm);
  // Whether every other process of meet()'s can be woken by this one, and the other way round.
  bool all_near() const { return all_near_; }
  // The thread that sleeps at another's bell, by its rank in meet()'s; nobody if it is not seen.
  struct Sleeper {
    int process = 0, thread = 0;
  };
  Sleeper sleeper(int rank) const { return sleepers_[static_cast<std::size_t>(rank)]; }

  // Wakes this process.
  void ring() { ring(*own_); }
  // Wakes another one, by its rank in meet()'s; nothing if it is not seen.
  void ring(int rank) {
    if (Bell* const bell = others_[static_cast<std::size_t>(rank)]) ring(*bell);
  }
  // Read before one looks for work, and handed to sleep() where there was none.
  uint32_t rings() const { return own_->rings.load(std::memory_order_seq_cst); }
  // Until somebody rings, or has since `heard`; at most so long.
  void sleep(uint32_t heard, std::chrono::nanoseconds most);

 private:
  // In memory that others see; they write there too, and nothing is made of it but to look again.
  struct Bell {
    std::atomic<uint32_t> rings{0}, sleeps{0};
    uint64_t key = 0;  // of this bell: process numbers and descriptors are given anew
  };
  static void ring(Bell& bell);
  static Bell* map(int descriptor);
  static Bell* see(int process, int descriptor, uint64_t key);

  int descriptor_ = -1;  // until meet() has shown it
  Bell* own_ = nullptr;
  std::vector<Bell*> others_;  // by rank; null: not seen, or this one's own
  std::vector<Sleeper> sleepers_;
  bool all_near_ = false;
};

}  // namespace mxnet::mpi

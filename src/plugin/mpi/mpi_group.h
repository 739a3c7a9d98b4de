// SPDX-License-Identifier: Apache-2.0
// A group of MPI processes. One thread of each makes all calls of MPI: it tells rank 0 what this
// rank wants, hears what all are to do next, does it, and watches for signs of life.
#pragma once
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/lock.h"
#include "kvstore/process_group.h"
#include "plugin/mpi/coordinator.h"
#include "plugin/mpi/ring_sum.h"

namespace mxnet::mpi {

// As ProcessGroup. Never destroyed; leave() ends its thread.
class MpiGroup final : public kvstore::ProcessGroup {
 public:
  explicit MpiGroup(const kvstore::ProcessGroupOptions& options);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void submit(kvstore::CollectiveRequest request) override;
  int lost() const override { return lost_.load(std::memory_order_relaxed); }  // a plain counter

  // Waits until all leave, and ends MPI; returns at once if somebody is lost. Idempotent.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  struct Outgoing {
    std::vector<char> bytes;
    MPI_Request request;
  };
  struct Peer {
    Clock::time_point heard;
    bool leaving = false;  // known to rank 0 only
  };

  void run(std::promise<void>& joined);
  void close();
  void start_mpi();
  bool turn(bool leaving);
  void take_submitted();
  bool receive();
  void decide(bool leaving);
  void tell_all(const Decision& decision);
  void obey(const Decision& decision);
  void run_batch(const std::vector<uint64_t>& ids);
  void run_one(const kvstore::CollectiveRequest& what, char* data, int64_t count);
  void complete(uint64_t id, std::exception_ptr error);
  void wait(MPI_Request& request);
  void hear_heartbeats();
  void watch();
  void lose(int rank);
  void send(int to, int tag, std::vector<char> bytes);
  void reap_sends();
  std::exception_ptr loss() const;

  const kvstore::ProcessGroupOptions options_;
  int rank_ = 0, size_ = 1;
  std::thread thread_;
  std::atomic<int> lost_{0};

  Mutex mutex_;
  CondVar submitted_changed_;
  std::deque<kvstore::CollectiveRequest> submitted_ MX_GUARDED_BY(mutex_);
  bool leaving_ MX_GUARDED_BY(mutex_) = false;
  bool closed_ MX_GUARDED_BY(mutex_) = false;  // the thread has ended

  // The thread's own.
  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  std::map<uint64_t, std::deque<kvstore::CollectiveRequest>> pending_;  // by id, oldest first
  std::unique_ptr<Coordinator> coordinator_;                            // of rank 0
  std::unique_ptr<RingSum> ring_;
  std::list<Outgoing> outgoing_;
  std::vector<Peer> peers_;
  int lost_rank_ = -1;  // the first one
  bool ended_ = false;  // all have left
  std::vector<char> batch_;
  Clock::time_point next_beat_, next_check_;
};

}  // namespace mxnet::mpi

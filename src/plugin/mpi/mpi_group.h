// SPDX-License-Identifier: Apache-2.0
// A group of MPI processes: workers and servers. One thread of each makes all calls of MPI: it
// tells rank 0 what this rank wants, hears what all are to do next, does it, and watches for signs
// of life.
#pragma once
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/lock.h"
#include "kvstore/process_group.h"
#include "plugin/mpi/calls.h"
#include "plugin/mpi/coordinator.h"
#include "plugin/mpi/doorbell.h"
#include "plugin/mpi/mpi_types.h"
#include "plugin/mpi/near_thread.h"
#include "plugin/mpi/ring_sum.h"
#include "plugin/mpi/shared_sum.h"

namespace mxnet::mpi {

// As ProcessGroup. Never destroyed; leave() ends its thread.
class MpiGroup final : public kvstore::ProcessGroup {
 public:
  explicit MpiGroup(const kvstore::ProcessGroupOptions& options);

  bool is_server() const override { return options_.server; }
  int rank() const override { return is_server() ? rank_ - size_ : rank_; }
  int size() const override { return size_; }
  int servers() const override { return all_ - size_; }
  bool shares_memory() const override { return shared_->near(); }
  void submit(kvstore::CollectiveRequest request) override;
  void call(kvstore::ServerCall call) override { calls_.submit(std::move(call)); }
  bool next_call(kvstore::ServedCall& call) override { return calls_.next(call); }
  void make_bodies_by(const kvstore::BodyMaker& maker) override { calls_.make_bodies_by(maker); }
  int lost_workers() const override;
  int lost_servers() const override;
  double timeout_seconds() const override { return options_.timeout_seconds; }

  // Waits until all leave, and ends MPI; returns at once if somebody is lost. Idempotent.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration seconds(double value) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
  }
  enum Tag : int { kWish = 1, kDecision, kHeartbeat, kGoodbye, kLoss };
  struct Outgoing {
    std::vector<char> bytes;
    MPI_Request request;
  };
  struct Peer {
    Clock::time_point heard;
    NearThread thread;  // that gives signs of life, where that can be seen
    Starving starving;
    bool leaving = false;  // known to rank 0 and servers only
  };

  void run(std::promise<void>& joined);
  void close();
  void start_mpi();
  Clock::duration nap(Clock::time_point last_active) const;
  void say_goodbye();
  bool turn(bool leaving);
  bool take_submitted();
  void ask(kvstore::CollectiveRequest request, std::vector<Wish>& wishes);
  void ask_rank_zero(const std::vector<Wish>& wishes);
  void split(const std::vector<uint64_t>& ids);
  // Throws BadMessage, as what it calls.
  bool receive();
  void hear(int from, int tag, const std::vector<char>& bytes);
  void decide(bool leaving);
  void tell_all(const Decision& decision);
  void obey(const Decision& decision);
  void run_batch(const std::vector<uint64_t>& ids);
  void run_one(const kvstore::CollectiveRequest& what, char* data, int64_t count);
  void known(const std::vector<uint64_t>& ids) const;
  void complete(uint64_t id, std::exception_ptr error);
  void gather(char* data, int64_t count, const MpiSum& sum);
  bool wait(MPI_Request& request);
  void hear_of_others();
  void watch();
  void excuse(Peer& peer, Clock::time_point now, Clock::duration since);
  void lose(int rank, const std::string& why = {});
  void tell_loss(int rank, std::string_view why);
  void hear_loss(const std::vector<char>& bytes);
  void send(int to, int tag, std::vector<char> bytes);
  void reap_sends();
  std::exception_ptr loss() const;

  const kvstore::ProcessGroupOptions options_;
  int rank_ = 0, size_ = 1, all_ = 1;  // rank among all; workers; workers and servers
  std::thread thread_;
  std::atomic<int> lost_{-1};  // as lost_rank_, for other threads

  Mutex mutex_;
  std::deque<kvstore::CollectiveRequest> submitted_ MX_GUARDED_BY(mutex_);
  bool leaving_ MX_GUARDED_BY(mutex_) = false;
  bool closed_ MX_GUARDED_BY(mutex_) = false;  // the thread has ended

  Doorbell bell_;  // rung when there is something to do
  Calls calls_;

  // The thread's own.
  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  using Rounds = std::map<uint64_t, std::deque<kvstore::CollectiveRequest>>;
  Rounds pending_, given_up_;                 // by id, oldest first; by a loss
  std::set<uint64_t> split_;                  // lists, of which only the parts are asked for
  std::unique_ptr<Coordinator> coordinator_;  // of rank 0
  uint64_t odds_asked_ = 0;                   // rank 0: wishes when ranks began to be at odds,
  Clock::time_point odds_since_{};            // and when that was
  std::unique_ptr<RingSum> ring_;
  std::unique_ptr<SharedSum> shared_;
  std::list<Outgoing> outgoing_;
  std::vector<Peer> peers_;
  int lost_rank_ = -1;  // the first one
  std::string why_lost_;
  bool ended_ = false;  // all have left
  std::vector<char> batch_;
  Clock::time_point next_beat_, next_check_;
};

}  // namespace mxnet::mpi

// SPDX-License-Identifier: Apache-2.0
// Servers and workers with a thread each, as processes have one: calls wait in a queue, answers
// come on whatever thread ends an operation.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/lock.h"
#include "kvstore/reducer.h"
#include "kvstore/served.h"
#include "kvstore/server.h"
#include "kvstore/servers.h"
#include "kvstore/stores.h"
#include "ndarray/sparse_store.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)

// What waits for one server. Thread-safe.
class Inbox {
 public:
  void add(ServedCall call) {
    const MutexLock lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_one();
  }
  void close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }
  bool next(ServedCall& call) {
    const MutexLock lock(mutex_);
    while (calls_.empty() && !closed_) changed_.wait(mutex_);
    if (calls_.empty()) return false;
    call = std::move(calls_.front());
    calls_.pop_front();
    return true;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<ServedCall> calls_ MX_GUARDED_BY(mutex_);
  bool closed_ MX_GUARDED_BY(mutex_) = false;
};

// One process of the job.
class Process final : public ProcessGroup {
 public:
  Process(std::vector<Inbox>& inboxes, int workers, int rank, bool server)
      : inboxes_(inboxes), workers_(workers), rank_(rank), server_(server) {}
  bool is_server() const override { return server_; }
  int rank() const override { return rank_; }
  int size() const override { return workers_; }
  int servers() const override { return static_cast<int>(inboxes_.size()); }
  void submit(CollectiveRequest request) override { request.done(nullptr); }
  bool next_call(ServedCall& call) override {
    return inboxes_[static_cast<std::size_t>(rank_)].next(call);
  }
  int lost_workers() const override { return 0; }
  int lost_servers() const override { return 0; }
  void call(ServerCall call) override {
    inboxes_[static_cast<std::size_t>(call.server)].add(served_as(call, rank_));
  }

 private:
  std::vector<Inbox>& inboxes_;
  const int workers_, rank_;
  const bool server_;
};

constexpr int kWorkers = 3, kServers = 2, kRounds = 20, kKeys = 6;

void add_to_stored(const Key&, const NDArray& pushed, const NDArray& stored) {
  const NDArray dense =
      pushed.is_sparse() ? NDArray(pushed.shape(), pushed.dtype(), Device::cpu()) : pushed;
  if (pushed.is_sparse()) transfer(pushed, dense, 0);
  const NDArray held =
      stored.is_sparse() ? NDArray(stored.shape(), stored.dtype(), Device::cpu()) : stored;
  if (stored.is_sparse()) transfer(stored, held, 0);
  const std::array<Var*, 1> reads{dense.var()}, writes{held.var()};
  Engine::get().push(
      [dense, held](const RunContext&) {
        for (int64_t i = 0; i < held.size(); ++i)
          held.data_as<float>()[i] += dense.data_as<float>()[i];
      },
      {.device = Device::cpu(), .reads = reads, .writes = writes, .name = "add"});
  if (stored.is_sparse()) transfer(held, stored, 0);
}

// Of each key some elements; key 5 is row_sparse. Every worker adds its rank and one, each round.
void work(Process& process, const KvstoreConfig& config, bool sync) {
  Servers servers(process, config, 0, sync, false);
  std::vector<NDArray> mirrors;
  for (int key = 0; key < kKeys; ++key) {
    mirrors.push_back(key == 5 ? make_row_sparse({4, 2}, {0, 0}, {1}) : filled({40 * key + 1}, 0));
    if (process.rank() == 0) servers.init(key, mirrors.back());
  }
  const auto mine = static_cast<float>(process.rank() + 1);
  for (int round = 0; round < kRounds; ++round) {
    for (int key = 0; key < kKeys; ++key) {
      const NDArray& mirror = mirrors[static_cast<std::size_t>(key)];
      servers.push(
          key, key == 5 ? make_row_sparse({4, 2}, {mine, mine}, {1}) : filled(mirror.shape(), mine),
          mirror, key);
      servers.pull(key, mirror, 0);
    }
    if (round % 7 == 0) servers.command(1, "hear");
    if (round % 5 == 0) {
      const std::string own = "of " + std::to_string(process.rank());
      EXPECT_EQ(servers.command(kFirstCommandOfAll, own),
                std::vector<std::string>(kServers, "of 0"));
    }
    const float sum = static_cast<float>(round + 1) * 6;
    for (const NDArray& mirror : mirrors) {
      mirror.wait_to_read();
      const float* values = mirror.is_sparse() ? static_cast<const float*>(mirror.sparse().values())
                                               : mirror.data_as<float>();
      if (sync) {
        ASSERT_EQ(*values, sum) << "round " << round;
      } else {
        ASSERT_GE(*values, mine * static_cast<float>(round + 1));
      }
    }
  }
}

TEST(ServerThreads, WorkersAndServersRunBesideEachOther) {
  for (const bool sync : {true, false}) {
    KvstoreConfig config;
    config.bigarray_bound = 64;
    std::vector<Inbox> inboxes(kServers);
    std::vector<std::unique_ptr<Process>> processes;
    for (int s = 0; s < kServers; ++s)
      processes.push_back(std::make_unique<Process>(inboxes, kWorkers, s, true));
    for (int r = 0; r < kWorkers; ++r)
      processes.push_back(std::make_unique<Process>(inboxes, kWorkers, r, false));
    std::vector<std::unique_ptr<Server>> servers;
    std::vector<std::thread> threads;
    for (int s = 0; s < kServers; ++s) {
      servers.push_back(std::make_unique<Server>(*processes[static_cast<std::size_t>(s)]));
      servers.back()->set_updater(add_to_stored);
      threads.emplace_back([&server = *servers.back()] {
        server.run([](int, const std::string& text) { return text; });
      });
    }
    std::vector<std::thread> workers;
    for (int r = 0; r < kWorkers; ++r)
      workers.emplace_back([&process = *processes[static_cast<std::size_t>(kServers + r)], &config,
                            sync] { work(process, config, sync); });
    for (std::thread& worker : workers) worker.join();
    for (Inbox& inbox : inboxes) inbox.close();
    for (std::thread& server : threads) server.join();
    Engine::get().wait_for_all();
  }
}

}  // namespace
}  // namespace mxnet::kvstore

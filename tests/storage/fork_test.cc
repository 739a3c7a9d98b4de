// SPDX-License-Identifier: Apache-2.0
// fork() at any moment leaves both processes with working pools.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/config.h"
#include "device/sim/sim_device_api.h"
#include "fake_memory.h"
#include "fork_under_load.h"
#include "hang.h"

namespace mxnet::testing {
namespace {

constexpr int kForks = 50;

// Runs `body` in a child; true when it returned true there.
template <class Body, class Fork>
bool in_child(const Body& body, const Fork& fork) {
  const pid_t child = fork();
  if (child == 0) {
    end_if_it_hangs();
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <class Body>
bool in_child(const Body& body) {
  return in_child(body, fork);
}

TEST(Fork, UnderLoadLeavesTheChildAndTheParentWorking) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  ForkBesideSteps load;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      while (!stop) {
        load.step([&] {
          storage.release(storage.allocate(1 + random() % 100000, Device::cpu(), "load"));
          if (random() % 50 == 0) storage.empty_cache(Device::cpu());
          if (random() % 50 == 0) storage.stats(Device::cpu());
        });
      }
    });
  }
  const auto works = [&] {
    for (std::size_t size = 1; size < 1000000; size *= 3) {
      storage.release(storage.allocate(size, Device::cpu(), "child"));
    }
    storage.empty_cache(Device::cpu());
    return storage.stats(Device::cpu()).cached == 0 &&
           storage.table(Device::cpu()).find("cpu(0)") != std::string::npos;
  };
  for (int i = 0; i < kForks; ++i)
    ASSERT_TRUE(in_child(works, [&] { return load.fork(); })) << "fork " << i;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(storage.stats(Device::cpu()).in_use, 0u);
}

// Stands for the engine: its handler, registered after the library was loaded, drains operations
// that use pools.
Storage* g_drained = nullptr;
void drain_before_fork() {
  if (g_drained == nullptr) return;
  std::thread([] {
    g_drained->release(g_drained->allocate(5000, Device::cpu()));
    g_drained->empty_cache(Device::cpu());
  }).join();
}

TEST(Fork, LeavesThePoolsUsableForHandlersOfHigherLayers) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  ASSERT_EQ(pthread_atfork(drain_before_fork, nullptr, nullptr), 0);
  g_drained = &storage;
  EXPECT_TRUE(in_child([&] {
    storage.release(storage.allocate(5000, Device::cpu()));
    return true;
  }));
  g_drained = nullptr;
  EXPECT_EQ(memory.allocations(), 1u);  // the drain's; the child's is the child's
}

TEST(Fork, GivesTheChildTheLanesOfTheThreadsThatAreGone) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  std::atomic<bool> cached{false}, stop{false};
  std::thread other([&] {
    storage.release(storage.allocate(50000, Device::cpu()));
    cached = true;
    cached.notify_one();
    stop.wait(false);
  });
  cached.wait(false);
  EXPECT_TRUE(in_child([&] {
    const uint64_t before = memory.allocations();
    storage.release(storage.allocate(50000, Device::cpu()));
    return memory.allocations() == before;
  }));
  stop = true;
  stop.notify_one();
  other.join();
}

TEST(Fork, MakesDeviceMemoryAClearErrorInTheChildAndNoCrash) {
  CpuDeviceApi host;
  DeviceConfig config;
  config.sim_gpus = 1;
  SimDeviceApi sim(config);
  Storage storage(StorageConfig(), with_gpu(host, sim));
  const Block live = storage.allocate(100, Device::gpu());
  storage.release(storage.allocate(5000, Device::gpu()));
  EXPECT_TRUE(in_child([&] {
    storage.release(live);  // of the parent: forgotten
    storage.empty_cache(Device::gpu());
    const std::string message =
        error_of(ErrorCode::kGeneric, [&] { storage.allocate(100, Device::gpu()); });
    return message.find("spawn") != std::string::npos;
  }));
  EXPECT_EQ(storage.stats(Device::gpu()).in_use, 4096u);
  EXPECT_EQ(storage.stats(Device::gpu()).cached, 8192u);
  storage.release(live);
}

}  // namespace
}  // namespace mxnet::testing

// SPDX-License-Identifier: Apache-2.0
// A request that a full GPU has no memory for, while releases are on their way.
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arrays.h"
#include "base/memory_relief.h"
#include "engine/engine.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

using testing_arrays::make;
using testing_arrays::values;

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kBig = 40 * kMiB;  // of 64 (sim_gpus.cc): two have no room

// Kept once a request has found no memory; requests of several workers may be the first.
std::atomic<std::promise<void>*> g_asked{nullptr};
MemoryRelief g_engines = nullptr;

void keep_asked() {
  if (std::promise<void>* const asked = g_asked.exchange(nullptr)) asked->set_value();
}

class FullGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    Engine::get().wait_for_all();
    Storage::get().empty_cache(kGpu);
    g_engines = g_memory_relief.load();
    g_asked = &asked_;
    g_memory_relief.store([](Device device, MemoryRetry retry, void* request) {
      keep_asked();
      g_engines(device, retry, request);
    });
    big_.emplace(make(Shape{static_cast<int64_t>(kBig)}, std::vector<uint8_t>(kBig, 7), kGpu));
  }
  void TearDown() override {
    keep_asked();  // nobody asked
    Engine::get().wait_for_all();
    g_memory_relief.store(g_engines);
  }

  // An operation of the GPU's that holds a worker, and reads `reads`, until `until` is there.
  static void hold(std::shared_future<void> until, std::span<Var* const> reads = {}) {
    auto begun = std::make_shared<std::promise<void>>();  // which may outlive this call
    auto has_begun = begun->get_future();
    Engine::get().push([until, begun](const RunContext&) { begun->set_value(), until.wait(); },
                       {.device = kGpu, .reads = reads, .writes = {}, .name = "hold"});
    has_begun.wait();
  }
  // Asks for memory as a kernel does, once `when` is there; the error, if any, is in the future.
  static std::future<void> ask(std::shared_future<void> when) {
    auto answer = std::make_shared<std::promise<void>>();
    auto said = answer->get_future();
    Engine::get().push(
        [when, answer](const RunContext& context) {
          when.wait();
          try {
            take(context.stream);
            answer->set_value();
          } catch (...) {
            answer->set_exception(std::current_exception());
          }
        },
        {.device = kGpu, .reads = {}, .writes = {}, .name = "ask"});
    return said;
  }
  static void take(Stream* stream) {
    const Block block = Storage::get().allocate(kBig, kGpu, "test", stream);
    ASSERT_NE(block.data, nullptr);
    Storage::get().release(block, stream);
  }
  static std::shared_future<void> now() {
    std::promise<void> kept;
    kept.set_value();
    return kept.get_future().share();
  }

  static constexpr Device kGpu = Device::gpu(0);
  std::promise<void> asked_;
  std::optional<NDArray> big_;
};

TEST_F(FullGpu, WaitsForAReleaseBehindAnOperationThatRuns) {
  Var* const var = big_->var();
  hold(asked_.get_future().share(), {&var, 1});  // ends once the request has been made
  big_.reset();
  ask(now()).get();
}

TEST_F(FullGpu, AProgramsThreadWaitsLikewise) {
  Var* const var = big_->var();
  hold(asked_.get_future().share(), {&var, 1});
  big_.reset();
  take(nullptr);
}

TEST_F(FullGpu, AReleaseOfABulkIsPushed) {
  const int before = Engine::get().set_bulk_size(16);
  Engine::get().push([](const RunContext&) {},
                     {.device = kGpu, .reads = {}, .writes = {}, .name = "small"});
  big_.reset();  // behind it: a release alone begins no bulk
  take(nullptr);
  Engine::get().set_bulk_size(before);
}

TEST_F(FullGpu, RunsAReleaseThatNoWorkerIsFreeFor) {
  std::promise<void> told, queued;
  hold(told.get_future().share());
  auto answer = ask(queued.get_future().share());
  big_.reset();  // both workers are busy: it is ready, and waits
  queued.set_value();
  EXPECT_NO_THROW(answer.get());
  told.set_value();
}

TEST_F(FullGpu, LeavesWhatIsNoReleaseToTheWorkers) {
  std::promise<void> told, queued;
  hold(told.get_future().share());
  auto answer = ask(queued.get_future().share());
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    Engine::get().push(
        [&ran](const RunContext&) { ++ran; },
        {.device = kGpu, .reads = {}, .writes = {}, .priority = i % 3 - 1, .name = "other"});
    if (i == 50) big_.reset();
  }
  queued.set_value();
  EXPECT_NO_THROW(answer.get());
  told.set_value();
  Engine::get().wait_for_all();
  EXPECT_EQ(ran, 100);
}

TEST_F(FullGpu, RefusesWhatIsInUse) {
  EXPECT_THROW(ask(now()).get(), Error);
  EXPECT_THROW(take(nullptr), Error);
  EXPECT_EQ(values<uint8_t>(*big_).back(), 7);
}

// Nothing but an end of the wait lets the other one go on.
TEST_F(FullGpu, RefusesAtLastWhereOthersWaitForTheRequest) {
  std::promise<void> told;
  Var* const var = big_->var();
  hold(told.get_future().share(), {&var, 1});
  big_.reset();
  EXPECT_THROW(ask(now()).get(), Error);
  told.set_value();
}

TEST_F(FullGpu, RequestsOfAllWorkersDoNotWaitForEachOther) {
  std::promise<void> begin;
  const std::shared_future<void> both = begin.get_future().share();
  auto first = ask(both), second = ask(both);
  begin.set_value();
  EXPECT_THROW(first.get(), Error);
  EXPECT_THROW(second.get(), Error);
}

}  // namespace
}  // namespace mxnet

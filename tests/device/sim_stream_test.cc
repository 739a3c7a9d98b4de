// SPDX-License-Identifier: Apache-2.0
// Order on and between streams of the simulator, and when their threads exist.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "sim_fixture.h"

namespace mxnet::testing {
namespace {

class SimStreams : public ::testing::Test {
 protected:
  SimDeviceApi api_{sim_config(2)};

  template <class F>
  void call(Stream& stream, F&& fn) {
    api_.host_call(stream.device(), stream.native(), std::forward<F>(fn));
  }
};

// By their numbers: one that has been joined is listed until the system has done with it.
using Threads = std::set<pid_t>;
Threads threads_of_this_process() {
  Threads threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(std::stoi(task.path().filename()));
  return threads;
}
Threads started_since(const Threads& before) {
  Threads started = threads_of_this_process();
  for (const pid_t thread : before) started.erase(thread);
  return started;
}
bool all_end_that_started_since(const Threads& before) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!started_since(before).empty()) {
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_F(SimStreams, ThreadsStartWithTheFirstWorkAndEndWithTheStream) {
  std::thread([] {}).join();  // a sanitizer's own thread starts with the first
  const Threads before = threads_of_this_process();
  {
    Stream idle(api_, 0), used(api_, 0);
    EXPECT_EQ(started_since(before), Threads());
    for (int i = 0; i < 2; ++i) {
      pid_t of_the_stream = 0;
      call(used, [&] { of_the_stream = ::gettid(); });
      used.synchronize();
      EXPECT_EQ(started_since(before), Threads{of_the_stream});
    }
  }
  EXPECT_TRUE(all_end_that_started_since(before));
}

TEST_F(SimStreams, RunAtTheSameTime) {
  Stream a(api_, 0), b(api_, 0);
  std::latch both(2);  // neither passes alone
  call(a, [&both] { both.arrive_and_wait(); });
  call(b, [&both] { both.arrive_and_wait(); });
  a.synchronize();
  b.synchronize();
  EXPECT_TRUE(both.try_wait());
}

TEST_F(SimStreams, OvertakeEachOtherUnlessJoined) {
  Stream slow(api_, 0), fast(api_, 0);
  Gate gate;
  std::vector<int> order;
  gate.close(slow);
  call(slow, [&order] { order.push_back(1); });
  call(fast, [&order] { order.push_back(2); });
  fast.synchronize();
  gate.open();
  slow.synchronize();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST_F(SimStreams, KeepOrderWhenJoinedByAnEvent) {
  Stream first(api_, 0), second(api_, 0);
  Event event(api_, 0);
  Gate gate;
  std::vector<int> order;
  gate.close(first);
  call(first, [&order] { order.push_back(1); });
  event.record(first);
  event.block(second);
  call(second, [&order] { order.push_back(2); });
  EXPECT_FALSE(event.done());
  gate.open();
  second.synchronize();
  EXPECT_TRUE(event.done());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(SimStreams, EventJoinsStreamsOfTwoDevices) {
  Stream first(api_, 0), second(api_, 1);
  Event event(api_, 0);
  Gate gate;
  int value = 0;
  gate.close(first);
  call(first, [&value] { value = 1; });
  event.record(first);
  event.block(second);
  call(second, [&value] { value *= 10; });
  gate.open();
  second.synchronize();
  EXPECT_EQ(value, 10);
}

TEST_F(SimStreams, WaitMeansTheRecordBeforeIt) {
  Stream first(api_, 0), second(api_, 0);
  Event event(api_, 0);
  event.record(first);
  event.block(second);
  Gate gate;
  gate.close(first);
  event.record(first);  // later than the wait: must not hold `second`
  second.synchronize();
  EXPECT_FALSE(event.done());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.done());
}

TEST_F(SimStreams, EventOutlivesItsStream) {
  Event event(api_, 0);
  {
    Stream stream(api_, 0);
    call(stream, [] {});
    event.record(stream);
  }
  EXPECT_TRUE(event.done());
  Stream other(api_, 0);
  event.block(other);
  EXPECT_NO_THROW(other.synchronize());
}

TEST_F(SimStreams, DestructionFinishesTheWork) {
  int ran = 0;
  {
    Stream stream(api_, 0);
    for (int i = 0; i < 100; ++i) call(stream, [&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

TEST_F(SimStreams, WhatATaskHoldsIsGoneWhenItIsDone) {
  Stream stream(api_, 0);
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watch = held;
  call(stream, [held = std::move(held)] {});
  stream.synchronize();
  EXPECT_TRUE(watch.expired());
}

TEST_F(SimStreams, FirstErrorIsKeptUntilSynchronize) {
  Stream stream(api_, 0);
  Event event(api_, 0);
  for (const char* text : {"first", "second"}) {
    call(stream, [text] { throw Error(ErrorCode::kGeneric, text); });
  }
  event.record(stream);
  EXPECT_THROW(event.synchronize(), Error);  // who waits for an event only must learn of it, too
  try {
    stream.synchronize();
    FAIL() << "expected the first error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "first");
  }
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(SimStreams, StreamOrEventOfAnotherDeviceIsAnError) {
  Stream stream(api_, 0);
  Event event(api_, 0), other(api_, 1);
  EXPECT_THROW(api_.synchronize(1, stream.native()), Error);
  EXPECT_THROW(api_.record(1, event.native(), stream.native()), Error);
  EXPECT_THROW(api_.record(0, other.native(), stream.native()), Error);
  EXPECT_THROW(api_.host_call(0, nullptr, [] {}), Error);
  EXPECT_THROW(api_.done(1, event.native()), Error);
  EXPECT_THROW(api_.wait(0, stream.native(), nullptr), Error);
}

TEST_F(SimStreams, HostCallMustNotCallTheApi) {
  Stream stream(api_, 0), other(api_, 0);
  call(stream, [&] { other.synchronize(); });
  EXPECT_THROW(stream.synchronize(), Error);
  call(stream, [&] { api_.allocate(0, 16); });
  EXPECT_THROW(stream.synchronize(), Error);
  call(stream, [&] { call(other, [] {}); });
  EXPECT_THROW(stream.synchronize(), Error);
}

TEST_F(SimStreams, SixtyFourStreamsFeedFromFourThreads) {
  constexpr int kStreams = 64, kRounds = 50;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<int> counts(kStreams, 0);
  for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<Stream>(api_, i % 2));
  std::vector<std::thread> pushers;
  for (int t = 0; t < 4; ++t) {
    pushers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < kStreams; ++i) call(*streams[i], [&count = counts[i]] { ++count; });
      }
    });
  }
  for (std::thread& pusher : pushers) pusher.join();
  for (auto& stream : streams) stream->synchronize();
  for (const int count : counts) EXPECT_EQ(count, 4 * kRounds);
}

// Random programs over cells that kernels on random streams read and write, joined by events
// exactly where two of them touch the same cell, give what the same program gives in order.
TEST_F(SimStreams, RandomProgramsJoinedByEventsMatchTheSerialAnswer) {
  constexpr int kCells = 6, kStreams = 5, kSteps = 300;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<Stream>(api_, i % 2));
    std::vector<uint64_t> cells(kCells, 1), serial(kCells, 1);
    // For each cell, the events behind all work that touched it; an event is made for every step.
    std::vector<std::vector<Event*>> touched(kCells);
    std::vector<std::unique_ptr<Event>> events;
    for (int step = 0; step < kSteps; ++step) {
      const std::size_t to = random() % kCells, from = random() % kCells;
      Stream& stream = *streams[random() % kStreams];
      for (const std::size_t cell : {to, from}) {
        for (Event* event : touched[cell]) event->block(stream);
        touched[cell].clear();
      }
      call(stream, [&cells, to, from, step] { cells[to] = cells[to] * 3 + cells[from] + step; });
      serial[to] = serial[to] * 3 + serial[from] + step;
      events.push_back(std::make_unique<Event>(api_, stream.device()));
      events.back()->record(stream);
      touched[to].push_back(events.back().get());
      touched[from].push_back(events.back().get());
    }
    for (auto& stream : streams) stream->synchronize();
    EXPECT_EQ(cells, serial);
  }
}

}  // namespace
}  // namespace mxnet::testing

// SPDX-License-Identifier: Apache-2.0
// Sessions: what reaches the file and when, while an engine works.
#include "profiler/profiler.h"
#include "base/config.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "engine/engine.h"
#include "profiler/user_objects.h"
#include "trace.h"

namespace mxnet::profiler_test {
namespace {

using namespace mxnet::profiler;

ProfilerConfig with_ring(int events) {
  ProfilerConfig config;
  config.ring_events = events;
  return config;
}

// Never destroyed, as hooks.h asks, but held, so that a leak checker knows.
Profiler& new_profiler(int ring_events) {
  static auto* const all = new std::vector<Profiler*>;
  return *all->emplace_back(new Profiler(with_ring(ring_events)));
}

// A profiler and an engine to watch.
class ProfilerSession : public testing::Test {
 protected:
  explicit ProfilerSession(int ring_events = 1 << 16)
      : profiler(new_profiler(ring_events)), engine(make_engine(engine_config())) {
    settings.file_name = file.path;
    settings.continuous_dump = false;
    profiler.configure(settings);
    var = engine->new_variable();
  }
  ~ProfilerSession() override {
    profiler.stop();
    engine->delete_variable(var, {});
  }
  static EngineConfig engine_config() {
    EngineConfig config;
    config.type = EngineType::kThreadedPerDevice;
    config.cpu_worker_nthreads = 3;
    return config;
  }
  void push(const char* name, Var* writes = nullptr) {
    Var* const target = writes != nullptr ? writes : var;
    engine->push([](const RunContext&) {},
                 {.device = {}, .reads = {}, .writes = {&target, 1}, .name = name});
  }
  void push_times(int times, const char* name) {
    for (int i = 0; i < times; ++i) push(name);
  }
  void work(int times, const char* name) {
    push_times(times, name);
    engine->wait_for_all();
  }

  TemporaryFile file;
  Settings settings;
  Profiler& profiler;
  std::unique_ptr<Engine> engine;
  Var* var;
};

TEST_F(ProfilerSession, EveryOperationIsInTheTrace) {
  work(3, "before");
  profiler.run();
  work(50, "dot");
  profiler.stop();
  work(3, "after");
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.spans_of("operator", "dot").size(), 50U);
  EXPECT_EQ(trace.count("B", "before"), 0);
  EXPECT_EQ(trace.count("B", "after"), 0);
  EXPECT_EQ(trace.other.at("dropped_events"), 0);
  EXPECT_EQ(trace.process(trace.spans.front().pid), "cpu/0");
}

TEST_F(ProfilerSession, ABulkShowsItsOperationsInside) {
  profiler.run();
  engine->set_bulk_size(5);
  push_times(10, "add");
  engine->set_bulk_size(0);
  engine->wait_for_all();
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.spans_of("segment", "bulk").size(), 2U);
  const auto operators = trace.spans_of("operator", "add");
  EXPECT_EQ(operators.size(), 10U);
  for (const Span& span : operators) EXPECT_EQ(span.outer, std::vector<std::string>{"bulk"});
}

TEST_F(ProfilerSession, WithBulkOffNothingIsInsideAnythingElse) {
  profiler.run();
  work(10, "add");
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_TRUE(trace.spans_of("segment").empty());
  for (const Span& span : trace.spans_of("operator")) EXPECT_TRUE(span.outer.empty());
}

TEST_F(ProfilerSession, OperationsAreShownOnTheThreadsThatRanThem) {
  std::atomic<int> meeting{0};
  std::atomic<int64_t> threads[2];
  Var* const other = engine->new_variable();
  profiler.run();
  int i = 0;
  for (Var* target : {var, other}) {
    engine->push(
        [&meeting, &mine = threads[i++]](const RunContext&) {
          mine = ::gettid();
          ++meeting;
          while (meeting < 2) std::this_thread::yield();  // both at once
        },
        {.device = {},
         .reads = {},
         .writes = {&target, 1},
         .name = target == var ? "first" : "second"});
  }
  engine->wait_for_all();
  profiler.dump(true);
  const Trace trace(file.path);
  const auto first = trace.spans_of("operator", "first"),
             second = trace.spans_of("operator", "second");
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(first[0].tid, threads[0].load());
  EXPECT_EQ(second[0].tid, threads[1].load());
  EXPECT_LT(std::max(first[0].begin, second[0].begin), std::min(first[0].end, second[0].end));
  engine->delete_variable(other, {});
}

TEST_F(ProfilerSession, AsynchronousOperationsLastUntilTheyAreCompleted) {
  profiler.run();
  engine->push_async([](const RunContext&, OnComplete done) { std::thread(done).detach(); },
                     {.device = {}, .reads = {}, .writes = {&var, 1}, .name = "remote"});
  engine->wait_for_all();
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.count("b", "remote"), 1);
  EXPECT_EQ(trace.count("e", "remote"), 1);
}

TEST_F(ProfilerSession, DumpsAddToTheFileUntilOneFinishes) {
  profiler.run();
  work(2, "one");
  profiler.dump(false);
  EXPECT_EQ(Trace(file.path).spans_of("operator", "one").size(), 2U);
  work(3, "two");
  profiler.dump(false);
  {
    const Trace trace(file.path);
    EXPECT_EQ(trace.spans_of("operator", "one").size(), 2U);
    EXPECT_EQ(trace.spans_of("operator", "two").size(), 3U);
  }
  profiler.dump(true);
  EXPECT_FALSE(profiler.recording());
  EXPECT_THROW(profiler.dump(false), Error);
  profiler.run();
  work(1, "three");
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_TRUE(trace.spans_of("operator", "one").empty());
  EXPECT_EQ(trace.spans_of("operator", "three").size(), 1U);
}

TEST_F(ProfilerSession, NothingToDumpIsAnError) {
  EXPECT_THROW(profiler.dump(true), Error);
  profiler.run();
  profiler.stop();
  EXPECT_NO_THROW(profiler.dump(true));
  EXPECT_TRUE(Trace(file.path).spans.empty());
}

TEST_F(ProfilerSession, PausesLeaveAGap) {
  profiler.pause(true);
  profiler.run();
  EXPECT_FALSE(profiler.recording());
  work(1, "paused");
  profiler.pause(true);
  profiler.pause(false);  // pauses do not count
  work(2, "seen");
  profiler.pause(true);
  work(4, "paused");
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.spans_of("operator", "seen").size(), 2U);
  EXPECT_TRUE(trace.spans_of("operator", "paused").empty());
}

TEST_F(ProfilerSession, ANewFileNameEndsTheOldFile) {
  profiler.run();
  work(2, "one");
  Settings other = settings;
  other.file_name = file.path + ".second";
  profiler.configure(other);
  work(3, "two");
  profiler.dump(true);
  EXPECT_EQ(Trace(file.path).spans_of("operator").size(), 2U);
  EXPECT_EQ(Trace(other.file_name).spans_of("operator").size(), 3U);
  ::unlink(other.file_name.c_str());
}

TEST_F(ProfilerSession, ContinuousDumpWritesByItself) {
  settings.continuous_dump = true;
  settings.dump_period = 0.01;
  profiler.configure(settings);
  profiler.run();
  work(5, "dot");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::size_t seen = 0;
  while (seen < 5 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    if (::access(file.path.c_str(), R_OK) == 0) seen = Trace(file.path).spans_of("operator").size();
  }
  EXPECT_EQ(seen, 5U);
}

TEST_F(ProfilerSession, DumpsWhileOperationsRunAreWholeAndLoseNothing) {
  constexpr int kOperations = 5000;
  std::atomic<int> pushed{0};
  profiler.run();
  std::thread pusher([&] {
    while (pushed < kOperations) {
      push("op");
      if (++pushed % 100 == 0) engine->wait_for_var(var);
    }
  });
  std::size_t last = 0;
  while (pushed < kOperations) {
    profiler.dump(false);
    const Trace trace(file.path);  // parses, nests
    const std::size_t now = trace.spans_of("operator", "op").size();
    EXPECT_GE(now, last);
    last = now;
  }
  pusher.join();
  engine->wait_for_all();
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.spans_of("operator", "op").size(), static_cast<std::size_t>(kOperations));
  EXPECT_EQ(trace.other.at("dropped_events"), 0);
}

TEST_F(ProfilerSession, StatesMayBeChangedByManyThreadsAtOnce) {
  settings.continuous_dump = true;
  settings.dump_period = 0.001;
  settings.aggregate_stats = true;
  profiler.configure(settings);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        profiler.run();
        push("op");
        profiler.pause((i + t) % 2 == 0);
        static_cast<void>(profiler.aggregate({}, i % 7 == 0));
        if (i % 10 == t) profiler.stop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  profiler.pause(false);
  profiler.run();
  work(1, "last");
  profiler.dump(true);
  EXPECT_EQ(Trace(file.path).spans_of("operator", "last").size(), 1U);
}

TEST_F(ProfilerSession, TablesAreKeptOnlyWhereAskedFor) {
  profiler.run();
  work(5, "dot");
  EXPECT_EQ(profiler.aggregate({}, false), "");
  settings.aggregate_stats = true;
  profiler.configure(settings);
  work(7, "dot");
  const auto count = [&](bool reset) {
    const Json json = Json::parse(profiler.aggregate({.format = ReportFormat::kJson}, reset));
    const Json& time = json.at("Time");
    return time.contains("operator") ? time.at("operator").at("dot").at("Count").get<int>() : 0;
  };
  EXPECT_EQ(count(false), 7);
  EXPECT_EQ(count(true), 7);
  EXPECT_EQ(count(false), 0);
  work(2, "dot");
  EXPECT_EQ(count(false), 2);
}

TEST_F(ProfilerSession, TheTableCountsMarkersAsInstantsWithoutDuration) {
  settings.aggregate_stats = true;
  profiler.configure(settings);
  Domain domain("steps");
  profiler.run();
  for (const char scope : {'g', 'p', 't'}) set_marker(profiler, domain, "here", scope);
  const Json json = Json::parse(profiler.aggregate({.format = ReportFormat::kJson}, false));
  const Json& marker = json.at("Time").at("steps,instant_marker").at("here");
  EXPECT_EQ(marker.at("Count"), 3);
  EXPECT_EQ(marker.at("Total"), 0);
}

class SmallRing : public ProfilerSession {
 protected:
  SmallRing() : ProfilerSession(32) {}
};

TEST_F(SmallRing, WhatIsDroppedIsCountedInTheTraceAndNotMissingInTheTable) {
  settings.aggregate_stats = true;
  profiler.configure(settings);
  profiler.run();
  const EngineConfig naive = [] {
    EngineConfig config;
    config.type = EngineType::kNaive;  // all on this thread: one ring
    return config;
  }();
  const auto here = make_engine(naive);
  Var* const mine = here->new_variable();
  for (int i = 0; i < 1000; ++i)
    here->push([](const RunContext&) {},
               {.device = {}, .reads = {}, .writes = {&mine, 1}, .name = i < 990 ? "old" : "new"});
  const std::string table = profiler.aggregate({.format = ReportFormat::kJson}, false);
  profiler.dump(true);
  const Trace trace(file.path);
  const std::size_t kept = trace.spans_of("operator").size();
  EXPECT_GE(kept, 32U);
  EXPECT_LE(kept, 64U);
  EXPECT_EQ(trace.spans_of("operator", "new").size(), 10U);
  EXPECT_EQ(trace.other.at("dropped_events"), 1000 - static_cast<int>(kept));
  const Json json = Json::parse(table);
  EXPECT_EQ(json.at("Time").at("operator").at("old").at("Count"), 990);
  EXPECT_EQ(json.at("MissingInTrace"), 1000 - static_cast<int>(kept));
  here->delete_variable(mine, {});
}

TEST_F(ProfilerSession, UsersMarkTheirOwnWork) {
  const Domain domain("training");
  Duration task(profiler, EventKind::kTask, &domain, "epoch");
  Duration frame(profiler, EventKind::kFrame, &domain, "batch");
  Duration event(profiler, EventKind::kUserEvent, nullptr, "load");
  Counter counter(profiler, domain, "images");
  task.start();  // before it runs: kept
  counter.set(5);
  profiler.run();
  task.stop();
  task.stop();  // nothing to stop
  frame.stop();
  frame.start();
  event.start();
  frame.stop();
  event.stop();
  counter.adjust(3);
  counter.adjust(-10);
  set_marker(profiler, domain, "here", 'g');
  profiler.dump(true);
  const Trace trace(file.path);
  for (const char* name : {"epoch", "batch", "load"}) {
    EXPECT_EQ(trace.count("b", name), 1) << name;
    EXPECT_EQ(trace.count("e", name), 1) << name;
  }
  std::vector<int> values;
  for (const Json& e : trace.events) {
    if (e.at("ph") == "C") values.push_back(e.at("args").at("images").get<int>());
    if (e.at("ph") == "i") {
      EXPECT_EQ(e.at("s"), "g");
    }
  }
  EXPECT_EQ(values, (std::vector<int>{8, -2}));
  EXPECT_EQ(trace.count("i", "here"), 1);
}

}  // namespace
}  // namespace mxnet::profiler_test

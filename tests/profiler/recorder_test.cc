// SPDX-License-Identifier: Apache-2.0
// From hooks to events: what becomes an operator, a segment or nothing, by mode and by nesting.
#include "profiler/recorder.h"

#include <gtest/gtest.h>

#include <barrier>
#include <map>
#include <string>
#include <thread>

namespace mxnet::profiler {
namespace {

class Recording : public testing::Test {
 protected:
  explicit Recording(unsigned mode = kModeAll) { recorder.set_mode(mode); }

  // As the engine reports an operation around `inside`.
  template <class Inside>
  void operation(const char* name, Inside inside) {
    const uint64_t sequence = ++sequence_;
    recorder.operation_begin(name, Device::cpu(), sequence);
    inside();
    recorder.operation_end(name, Device::cpu(), sequence);
  }
  void operation(const char* name) {
    operation(name, [] {});
  }
  template <class Inside>
  void span(SpanKind kind, const char* name, Inside inside) {
    recorder.span_begin(kind, name);
    inside();
    recorder.span_end(kind, name);
  }
  void span(SpanKind kind, const char* name) {
    span(kind, name, [] {});
  }
  std::vector<Event> fetch(uint64_t* missed = nullptr) {
    std::vector<Event> events;
    std::vector<Recorder::ThreadName> names;
    const uint64_t lost = recorder.fetch(events, names);
    if (missed != nullptr) *missed = lost;
    return events;
  }
  // "operator dot, segment bulk", in the order in which they ended.
  std::string recorded() {
    static const std::map<EventKind, std::string> kKinds = {{EventKind::kOperator, "operator"},
                                                            {EventKind::kSegment, "segment"},
                                                            {EventKind::kAsync, "async"},
                                                            {EventKind::kCCall, "call"},
                                                            {EventKind::kMemory, "memory"}};
    std::string text;
    for (const Event& event : fetch())
      text += (text.empty() ? "" : ", ") + kKinds.at(event.kind) + " " + event.name;
    return text;
  }

  Recorder recorder{1000};

 private:
  uint64_t sequence_ = 0;
};

TEST_F(Recording, AnOperationIsAnOperator) {
  operation("dot");
  operation(nullptr);
  EXPECT_EQ(recorded(), "operator dot, operator (unnamed)");
}

TEST_F(Recording, ABulkIsASegmentWithItsOperationsInside) {
  span(SpanKind::kSegment, "bulk", [&] {
    operation("a");
    operation("b");
  });
  const std::vector<Event> events = fetch();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_STREQ(events[2].name, "bulk");
  EXPECT_EQ(events[2].kind, EventKind::kSegment);
  EXPECT_LT(events[2].start, events[0].start);
  EXPECT_LT(events[0].start + events[0].value, events[1].start);
  EXPECT_GT(events[2].start + events[2].value, events[1].start + events[1].value);
}

TEST_F(Recording, AnOperationAroundOperatorsOfAGraphIsASegment) {
  operation("forward", [&] {
    span(SpanKind::kSymbolic, "conv");
    span(SpanKind::kSymbolic, "relu");
  });
  EXPECT_EQ(recorded(), "operator conv, operator relu, segment forward");
}

TEST_F(Recording, AnOperationAroundOneOperatorOfItsNameIsThatOperator) {
  const std::string same = "conv";  // another address
  operation("conv", [&] { span(SpanKind::kSymbolic, same.c_str()); });
  EXPECT_EQ(recorded(), "operator conv");
  operation("node7", [&] { span(SpanKind::kSymbolic, "conv"); });
  EXPECT_EQ(recorded(), "operator conv, segment node7");
}

TEST_F(Recording, AnOperatorInsideACallIsRecordedBeside) {
  span(SpanKind::kCCall, "MXImperativeInvoke", [&] { operation("dot"); });
  EXPECT_EQ(recorded(), "operator dot, call MXImperativeInvoke");
}

TEST_F(Recording, SymbolicModeLeavesOutWhatIsEager) {
  recorder.set_mode(kModeSymbolic);
  operation("eager");
  span(SpanKind::kImperative, "boolean_mask");
  span(SpanKind::kCCall, "MXFoo");
  recorder.memory_event(Device::cpu(), nullptr, 10);
  operation("forward", [&] {
    span(SpanKind::kSymbolic, "conv");
    span(SpanKind::kSymbolic, "relu");
  });
  EXPECT_EQ(recorded(), "operator conv, operator relu, segment forward");
}

TEST_F(Recording, ImperativeModeLeavesOutTheOperatorsOfGraphs) {
  recorder.set_mode(kModeImperative);
  operation("eager");
  span(SpanKind::kImperative, "boolean_mask");
  operation("conv", [&] { span(SpanKind::kSymbolic, "conv"); });
  EXPECT_EQ(recorded(), "operator eager, operator boolean_mask");
}

TEST_F(Recording, CallsAndMemoryHaveTheirOwnBits) {
  recorder.set_mode(kModeCCalls);
  span(SpanKind::kCCall, "MXFoo", [&] {
    operation("a");
    recorder.memory_event(Device::cpu(), nullptr, 10);
  });
  EXPECT_EQ(recorded(), "call MXFoo");
  recorder.set_mode(kModeMemory);
  span(SpanKind::kCCall, "MXFoo", [&] { recorder.memory_event(Device::cpu(), nullptr, 10); });
  EXPECT_EQ(recorded(), "memory Memory");
}

TEST_F(Recording, MemoryEventsSayWhatIsInUse) {
  recorder.set_memory_in_use(Device::cpu(), 100);
  recorder.memory_event(Device::cpu(3), nullptr, 50);  // all numbers are the one CPU
  recorder.memory_event(Device::gpu(1), nullptr, 7);
  recorder.memory_event(Device::cpu(), nullptr, -120);
  const std::vector<Event> events = fetch();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].value, 150U);
  EXPECT_EQ(events[0].device, Device::cpu());
  EXPECT_EQ(events[1].value, 7U);
  EXPECT_EQ(events[1].device, Device::gpu(1));
  EXPECT_EQ(events[2].value, 30U);
}

TEST_F(Recording, AnEndWithoutItsBeginIsNothing) {
  recorder.operation_end("a", Device::cpu(), 77);
  recorder.span_end(SpanKind::kCCall, "MXFoo");
  operation("outer", [&] {
    recorder.operation_end("a", Device::cpu(), 78);
    recorder.span_end(SpanKind::kSymbolic, "b");
  });
  EXPECT_EQ(recorded(), "operator outer");
}

TEST_F(Recording, ABeginWithoutItsEndDoesNotHideWhatIsAround) {
  operation("outer", [&] { recorder.operation_begin("cancelled", Device::cpu(), 99); });
  operation("next");
  EXPECT_EQ(recorded(), "operator outer, operator next");
}

TEST_F(Recording, WhatIsNestedTooDeepIsCountedAsMissed) {
  constexpr int kDepth = 70, kStack = 64;
  for (int i = 0; i < kDepth; ++i) recorder.operation_begin("deep", Device::cpu(), 1000 + i);
  for (int i = kDepth; i-- > 0;) recorder.operation_end("deep", Device::cpu(), 1000 + i);
  uint64_t missed = 0;
  EXPECT_EQ(fetch(&missed).size(), static_cast<std::size_t>(kStack));
  EXPECT_EQ(missed, static_cast<uint64_t>(kDepth - kStack));
  operation("after");
  EXPECT_EQ(recorded(), "operator after");
}

TEST_F(Recording, AnAsynchronousOperationMayEndOnAnotherThread) {
  recorder.async_begin("push", Device::gpu(2), 5);
  operation("between");
  std::thread([&] { recorder.async_end("push", Device::gpu(2), 5); }).join();
  std::map<std::string, Event> events;
  for (const Event& event : fetch()) events[event.name] = event;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events["push"].kind, EventKind::kAsync);
  EXPECT_EQ(events["push"].device, Device::gpu(2));
  EXPECT_LT(events["push"].start, events["between"].start);
  EXPECT_GT(events["push"].start + events["push"].value,
            events["between"].start + events["between"].value);
}

TEST_F(Recording, ThreadsAreToldApartAlsoWhenOneTakesOverTheLogOfAnother) {
  uint32_t numbers[2];
  for (uint32_t& number : numbers) {
    std::thread([&] {
      operation("work");
      number = static_cast<uint32_t>(::gettid());
    }).join();
  }
  const std::vector<Event> events = fetch();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].thread, numbers[0]);
  EXPECT_EQ(events[1].thread, numbers[1]);
}

TEST_F(Recording, ManyThreadsAndAReaderLoseNothing) {
  constexpr int kThreads = 4, kEvents = 5000;
  Recorder large(kEvents * 3);
  large.set_mode(kModeAll);
  large.set_aggregate(true);
  std::atomic<int> running{kThreads};
  std::barrier all(kThreads);  // all at once: one that comes later would take over a log
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      static_cast<void>(large.stamp());
      all.arrive_and_wait();
      for (int i = 0; i < kEvents; ++i) {
        const auto sequence = static_cast<uint64_t>(t * kEvents + i);
        large.operation_begin("op", Device::cpu(), sequence);
        large.memory_event(Device::cpu(), nullptr, 1);
        large.operation_end("op", Device::cpu(), sequence);
      }
      all.arrive_and_wait();
      --running;
    });
  }
  std::vector<Event> events;
  std::vector<Recorder::ThreadName> names;
  uint64_t missed = 0;
  while (running > 0) {
    missed += large.fetch(events, names);
    static_cast<void>(large.stats());
  }
  for (std::thread& thread : threads) thread.join();
  missed += large.fetch(events, names);
  EXPECT_EQ(missed, 0U);
  EXPECT_EQ(events.size(), static_cast<std::size_t>(kThreads * kEvents * 2));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kThreads));
  uint64_t counted = 0;
  for (const Stat& stat : large.stats()) counted += stat.count;
  EXPECT_EQ(counted, events.size());
}

TEST_F(Recording, StampsOfAThreadAreDistinctNanoseconds) {
  TickScale scale;
  scale.settle();
  std::vector<uint64_t> stamps(1000);
  for (uint64_t& stamp : stamps) stamp = recorder.stamp();
  for (std::size_t i = 1; i < stamps.size(); ++i)
    ASSERT_LT(scale.nanoseconds(stamps[i - 1]), scale.nanoseconds(stamps[i]));
}

TEST(TickScale, MeasuresTheRateOfTheClock) {
  TickScale scale;
  scale.settle();
  const uint64_t ticks = Clock::now(), ns = Clock::system_nanoseconds();
  while (Clock::system_nanoseconds() < ns + 5'000'000) {
  }
  const uint64_t took = scale.duration(Clock::now() - ticks);
  EXPECT_GE(took, 4'900'000U);  // no upper bound: the thread may sleep in between
}

}  // namespace
}  // namespace mxnet::profiler

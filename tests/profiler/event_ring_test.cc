// SPDX-License-Identifier: Apache-2.0
// The ring keeps the last events, in order and whole, and counts the others.
#include "profiler/event_ring.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace mxnet::profiler {
namespace {

// An event whose words all follow from its number.
Event numbered(uint64_t i) {
  return {.start = i,
          .value = i * 3,
          .name = reinterpret_cast<const char*>(i * 5),
          .domain = reinterpret_cast<const char*>(i * 7),
          .kind = static_cast<EventKind>(i % 10),
          .device = Device::gpu(static_cast<int32_t>(i % 100)),
          .thread = static_cast<uint32_t>(i)};
}

bool is_whole(const Event& e) {
  const Event expected = numbered(e.start);
  return e.value == expected.value && e.name == expected.name && e.domain == expected.domain &&
         e.kind == expected.kind && e.device == expected.device && e.thread == expected.thread;
}

TEST(EventRing, GivesBackWhatWasPushedInOrder) {
  EventRing ring(16);
  std::vector<Event> out;
  for (uint64_t round = 0; round < 5; ++round) {
    for (uint64_t i = 0; i < 16; ++i) ring.push(numbered(round * 16 + i));
    EXPECT_EQ(ring.missed(), 0U);
    EXPECT_EQ(ring.fetch(out), 0U);
  }
  ASSERT_EQ(out.size(), 80U);
  for (uint64_t i = 0; i < 80; ++i) {
    EXPECT_EQ(out[i].start, i);
    EXPECT_TRUE(is_whole(out[i])) << i;
  }
}

TEST(EventRing, KeepsTheLastEventsAndCountsTheOthers) {
  EventRing ring(15);
  for (uint64_t i = 0; i < 100; ++i) ring.push(numbered(i));
  EXPECT_EQ(ring.missed(), 85U);
  std::vector<Event> out;
  EXPECT_EQ(ring.fetch(out), 85U);
  ASSERT_EQ(out.size(), 15U);
  EXPECT_EQ(out.front().start, 85U);
  EXPECT_EQ(out.back().start, 99U);
  EXPECT_EQ(ring.missed(), 0U);
}

TEST(EventRing, SkippedEventsAreNotMissed) {
  EventRing ring(15);
  for (uint64_t i = 0; i < 100; ++i) ring.push(numbered(i));
  ring.skip();
  ring.push(numbered(100));
  std::vector<Event> out;
  EXPECT_EQ(ring.fetch(out), 0U);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].start, 100U);
}

TEST(EventRing, AReaderBesideTheWriterGetsWholeEventsAndMissesNoneUncounted) {
  constexpr uint64_t kEvents = 200'000;
  EventRing ring(64);  // small: the writer overtakes the reader all the time
  std::thread writer([&] {
    for (uint64_t i = 0; i < kEvents; ++i) ring.push(numbered(i));
  });
  std::vector<Event> out;
  uint64_t missed = 0, fetched = 0, next = 0;
  while (missed + fetched < kEvents) {
    out.clear();
    missed += ring.fetch(out);
    fetched += out.size();
    for (const Event& event : out) {
      ASSERT_TRUE(is_whole(event)) << event.start;
      ASSERT_GE(event.start, next);
      next = event.start + 1;
    }
    if (out.empty()) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(missed + fetched, kEvents);
  EXPECT_EQ(next, kEvents);
}

}  // namespace
}  // namespace mxnet::profiler

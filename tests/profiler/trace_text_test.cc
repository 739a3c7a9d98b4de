// SPDX-License-Identifier: Apache-2.0
// Lines that any JSON parser takes, whatever the names are, in an order that keeps nesting.
#include "profiler/trace_text.h"

#include <fmt/format.h>

#include <random>

#include "trace.h"

namespace mxnet::profiler_test {
namespace {

using namespace mxnet::profiler;
using profiler::Event;  // not that of devices

Json parse(const TraceText&, const std::string& lines) { return Json::parse("[0" + lines + "]"); }

TickScale settled() {
  TickScale scale;
  scale.settle();
  return scale;
}

TEST(Quoted, KeepsTextAndEscapesWhatJsonWants) {
  const auto round_trip = [](const std::string& text) {
    std::string out;
    append_quoted(out, text);
    return Json::parse(out).get<std::string>();
  };
  for (const std::string text :
       {"", "dot", "with \"quotes\" and \\", "tab\tline\n\x01", "caf\u00e9 \u4e2d \U0001F600"})
    EXPECT_EQ(round_trip(text), text);
  EXPECT_EQ(round_trip("a\xff\xc3"), "a??");
  EXPECT_EQ(round_trip("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(round_trip("\xc0\x80"), "??");            // an overlong zero
  EXPECT_EQ(round_trip("\xf4\x90\x80\x80"), "????");  // above the last code point
}

TEST(Quoted, AnyBytesGiveValidJson) {
  constexpr unsigned kSeed = 20261120;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 20, '\0');
    for (char& c : text) c = static_cast<char>(random());
    std::string out;
    append_quoted(out, text);
    ASSERT_TRUE(Json::accept(out)) << "seed " << kSeed << ", round " << round;
  }
}

TEST(TraceText, EveryKindOfEventHasItsPhase) {
  const TickScale scale = settled();
  const uint64_t now = Clock::now();
  const auto event = [&](EventKind kind, const char* domain = nullptr) {
    Event e{.start = now, .value = 1000, .name = "n", .domain = domain, .kind = kind, .thread = 7};
    if (kind == EventKind::kMarker) e.value = 'p';
    return e;
  };
  const auto phases = [&](const Event& e) {
    TraceText text;
    std::string lines, phases;
    text.append(lines, {e}, {}, scale);
    for (const Json& line : parse(text, lines))
      if (line.is_object() && line.at("ph") != "M" && line.at("name") != "MXNet C API Calls")
        phases += line.at("cat").get<std::string>() + " " + line.at("ph").get<std::string>() + " ";
    return phases;
  };
  EXPECT_EQ(phases(event(EventKind::kOperator)), "operator B operator E ");
  EXPECT_EQ(phases(event(EventKind::kSegment)), "segment B segment E ");
  EXPECT_EQ(phases(event(EventKind::kAsync)), "operator b operator e ");
  EXPECT_EQ(phases(event(EventKind::kCCall)), "MXNET_C_API b MXNET_C_API e ");
  EXPECT_EQ(phases(event(EventKind::kMemory)), "Device Storage C ");
  EXPECT_EQ(phases(event(EventKind::kTask, "d")), "d b d e ");
  EXPECT_EQ(phases(event(EventKind::kFrame, "d")), "d,frame b d,frame e ");
  EXPECT_EQ(phases(event(EventKind::kUserEvent)), "event b event e ");
  EXPECT_EQ(phases(event(EventKind::kCounter, "d")), "d C ");
  EXPECT_EQ(phases(event(EventKind::kMarker, "d")), "d,instant_marker i ");
}

TEST(TraceText, LinesAreInTheOrderOfTime) {
  const TickScale scale = settled();
  const uint64_t now = Clock::now();
  // As a ring gives them: by their ends.
  const std::vector<Event> events = {
      {.start = now + 2'000, .value = 1'000, .name = "inner", .thread = 1},
      {.start = now + 4'000, .value = 1'000, .name = "second", .thread = 1},
      {.start = now + 1'000, .value = 9'000, .name = "outer", .thread = 1},
      {.start = now, .value = 20'000, .name = "elsewhere", .thread = 2}};
  TraceText text;
  std::string lines, order;
  text.append(lines, events, {}, scale);
  for (const Json& line : parse(text, lines))
    if (line.is_object() && line.at("ph") != "M")
      order += line.at("ph").get<std::string>() + ":" + line.at("name").get<std::string>() + " ";
  EXPECT_EQ(order, "B:elsewhere B:outer B:inner E:inner B:second E:second E:outer E:elsewhere ");
}

TEST(TraceText, ProcessesAndThreadsAreNamedOnceInATrace) {
  const TickScale scale = settled();
  const std::vector<Event> events = {{.start = Clock::now(), .name = "a", .thread = 5}};
  TraceText text;
  std::string lines;
  text.append(lines, events, {{5, "worker"}}, scale);
  text.append(lines, events, {}, scale);
  int processes = 0, threads = 0;
  for (const Json& line : parse(text, lines)) {
    if (!line.is_object()) continue;
    if (line.at("name") == "process_name") {
      ++processes;
      EXPECT_EQ(line.at("args").at("name"), "cpu/0");
    } else if (line.at("name") == "thread_name") {
      ++threads;
      EXPECT_EQ(line.at("args").at("name"), "worker");
    }
  }
  EXPECT_EQ(processes, 1);
  EXPECT_EQ(threads, 1);
}

TEST(TraceText, TasksThatOverlapHaveIdsOfTheirOwn) {
  const TickScale scale = settled();
  const uint64_t now = Clock::now();
  std::vector<Event> events;
  for (uint64_t i = 0; i < 3; ++i) {
    events.push_back({.start = now + i,
                      .value = 100,
                      .name = "t",
                      .domain = "d",
                      .kind = EventKind::kTask,
                      .thread = 1});
  }
  TraceText text;
  std::string lines;
  text.append(lines, events, {}, scale);
  text.append(lines, events, {}, scale);
  std::map<int, int> uses;
  for (const Json& line : parse(text, lines))
    if (line.is_object() && line.contains("id")) ++uses[line.at("id").get<int>()];
  EXPECT_EQ(uses.size(), 6U);
  for (const auto& [id, count] : uses) EXPECT_EQ(count, 2) << id;
}

}  // namespace
}  // namespace mxnet::profiler_test

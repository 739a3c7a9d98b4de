// SPDX-License-Identifier: Apache-2.0
// A trace as a program that loads it sees it: its events, how often each occurs, and whether they
// nest.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace mxnet::profiler_test {

using Json = nlohmann::json;

struct Span {
  std::string name, category;
  double begin = 0, end = 0;
  int pid = 0;
  int64_t tid = 0;
  std::vector<std::string> outer;  // names of the spans around it, outermost first
};

class Trace {
 public:
  // Throws on anything that is not a whole JSON document.
  explicit Trace(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const Json document = Json::parse(text.str());
    other = document.at("otherData");
    for (const Json& event : document.at("traceEvents")) events.push_back(event);
    pair_spans();
  }

  // Events of a phase.
  int count(const std::string& phase, const std::string& name) const {
    return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const Json& e) {
      return e.at("ph") == phase && e.at("name") == name;
    }));
  }
  std::vector<Span> spans_of(const std::string& category, const std::string& name = "") const {
    std::vector<Span> found;
    for (const Span& span : spans)
      if (span.category == category && (name.empty() || span.name == name)) found.push_back(span);
    return found;
  }
  // What a process id stands for.
  std::string process(int pid) const {
    for (const Json& e : events)
      if (e.at("name") == "process_name" && e.at("pid") == pid) return e.at("args").at("name");
    return "";
  }

  std::vector<Json> events;
  Json other;
  std::vector<Span> spans;  // of B and E

 private:
  // Every end must be that of the innermost open begin of its thread.
  void pair_spans() {
    std::vector<Json> ordered;
    for (const Json& e : events)
      if (e.at("ph") == "B" || e.at("ph") == "E") ordered.push_back(e);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Json& a, const Json& b) {
      return a.at("ts").get<double>() < b.at("ts").get<double>();
    });
    std::map<std::pair<int, int64_t>, std::vector<Span>> open;
    for (const Json& e : ordered) {
      std::vector<Span>& stack = open[{e.at("pid"), e.at("tid")}];
      if (e.at("ph") == "B") {
        Span span{e.at("name"), e.at("cat"), e.at("ts"), 0, e.at("pid"), e.at("tid"), {}};
        for (const Span& outer : stack) span.outer.push_back(outer.name);
        stack.push_back(span);
        continue;
      }
      ASSERT_FALSE(stack.empty()) << "an end without a begin: " << e;
      ASSERT_EQ(stack.back().name, e.at("name")) << "not nested";
      stack.back().end = e.at("ts");
      spans.push_back(stack.back());
      stack.pop_back();
    }
    for (const auto& [thread, stack] : open) EXPECT_TRUE(stack.empty()) << "a begin without an end";
  }
};

// A path of this test's own, removed at its end.
class TemporaryFile {
 public:
  TemporaryFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = testing::TempDir() + "/" + test->test_suite_name() + "." + test->name() + "." +
           std::to_string(::getpid()) + ".json";
    std::replace(path.begin() + static_cast<int>(testing::TempDir().size()) + 1, path.end(), '/',
                 '_');
  }
  ~TemporaryFile() { ::unlink(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path;
};

}  // namespace mxnet::profiler_test

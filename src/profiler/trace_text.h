// SPDX-License-Identifier: Apache-2.0
// Events as lines of a Chrome trace (also what Perfetto loads).
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/clock.h"
#include "profiler/recorder.h"

namespace mxnet::profiler {

// Numbers that stand for something in one trace: a process id for each device and category, as
// trace viewers group by it. Used under the profiler's mutex.
//
// Each append adds whole lines that begin with ",\n", in the order of time, so that a file needs
// only a first element before them. Begins and ends of one thread's spans have distinct times.
class TraceText {
 public:
  void append(std::string& out, const std::vector<Event>& events,
              const std::vector<Recorder::ThreadName>& names, const TickScale& scale);

 private:
  struct Point {
    uint64_t ns;
    uint32_t event;
    bool end;
  };
  void append_point(std::string& out, const Event& event, const Point& point);
  // Makes the number at first use and tells viewers the name.
  int process(std::string& out, const std::string& name);
  void introduce_thread(std::string& out, int process, uint32_t thread);

  std::map<std::string, int> processes_;
  std::set<std::pair<int, uint32_t>> introduced_;
  std::map<uint32_t, std::string> thread_names_;
  uint64_t c_calls_ = 0;
  uint64_t async_ids_ = 0;          // given out
  std::vector<uint64_t> async_of_;  // by event of the current append
};

// "cpu/0", as in the traces of the 1.x line.
std::string device_label(Device device);
// The category of `event`: that of its kind, or what users named.
std::string category_of(EventKind kind, const char* domain);
// `text` between double quotes, with what JSON wants escaped; bytes that are not UTF-8 become '?'.
void append_quoted(std::string& out, std::string_view text);

}  // namespace mxnet::profiler

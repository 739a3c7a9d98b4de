// SPDX-License-Identifier: Apache-2.0
// The profiler's functions with a null or a number without meaning.
#include "mxnet/c_api.h"
#include "null_calls.h"

namespace {

const char* g_key = "filename";
const char* g_text = "x";
const char* g_no_text = nullptr;
const char* g_out = nullptr;
ProfileHandle g_handle = nullptr;

class Domain {
 public:
  Domain() { MXProfileCreateDomain("nulls", &handle_); }
  ~Domain() { MXProfileDestroyHandle(handle_); }
  ProfileHandle handle() const { return handle_; }

 private:
  ProfileHandle handle_ = nullptr;
};

ProfileHandle domain() {
  static const Domain made;
  return made.handle();
}

}  // namespace

std::multimap<std::string, NullCall> profiler_null_calls() {
  return {
      {"MXSetProfilerConfig", [] { return MXSetProfilerConfig(1, nullptr, &g_text); }},
      {"MXSetProfilerConfig", [] { return MXSetProfilerConfig(1, &g_key, nullptr); }},
      {"MXSetProfilerConfig", [] { return MXSetProfilerConfig(1, &g_no_text, &g_text); }},
      {"MXSetProfilerConfig", [] { return MXSetProfilerConfig(1, &g_key, &g_no_text); }},
      {"MXSetProfilerConfig", [] { return MXSetProfilerConfig(-1, &g_key, &g_text); }},
      {"MXSetProcessProfilerConfig",
       [] { return MXSetProcessProfilerConfig(1, nullptr, &g_text, nullptr); }},
      {"MXSetProfilerState", [] { return MXSetProfilerState(2); }},
      {"MXSetProcessProfilerState", [] { return MXSetProcessProfilerState(-1, 0, nullptr); }},
      {"MXSetProcessProfilerState", [] { return MXSetProcessProfilerState(1, 2, nullptr); }},
      {"MXSetProcessProfilerState", [] { return MXSetProcessProfilerState(1, 1, nullptr); }},
      {"MXDumpProcessProfile", [] { return MXDumpProcessProfile(1, 1, nullptr); }},
      {"MXProcessProfilePause", [] { return MXProcessProfilePause(1, 1, nullptr); }},
      {"MXAggregateProfileStatsPrint", [] { return MXAggregateProfileStatsPrint(nullptr, 0); }},
      {"MXAggregateProfileStatsPrintEx",
       [] { return MXAggregateProfileStatsPrintEx(nullptr, 0, 0, 0, 0); }},
      {"MXAggregateProfileStatsPrintEx",
       [] { return MXAggregateProfileStatsPrintEx(&g_out, 0, 2, 0, 0); }},
      {"MXAggregateProfileStatsPrintEx",
       [] { return MXAggregateProfileStatsPrintEx(&g_out, 0, 0, 5, 0); }},
      {"MXProfileCreateDomain", [] { return MXProfileCreateDomain(nullptr, &g_handle); }},
      {"MXProfileCreateDomain", [] { return MXProfileCreateDomain("d", nullptr); }},
      {"MXProfileCreateTask", [] { return MXProfileCreateTask(nullptr, "t", &g_handle); }},
      {"MXProfileCreateTask", [] { return MXProfileCreateTask(domain(), nullptr, &g_handle); }},
      {"MXProfileCreateTask", [] { return MXProfileCreateTask(domain(), "t", nullptr); }},
      {"MXProfileCreateFrame", [] { return MXProfileCreateFrame(nullptr, "f", &g_handle); }},
      {"MXProfileCreateEvent", [] { return MXProfileCreateEvent(nullptr, &g_handle); }},
      {"MXProfileCreateCounter", [] { return MXProfileCreateCounter(nullptr, "c", &g_handle); }},
      {"MXProfileCreateCounter",
       [] { return MXProfileCreateCounter(domain(), nullptr, &g_handle); }},
      {"MXProfileCreateCounter", [] { return MXProfileCreateCounter(domain(), "c", nullptr); }},
      {"MXProfileDestroyHandle", [] { return MXProfileDestroyHandle(nullptr); }},
      {"MXProfileDurationStart", [] { return MXProfileDurationStart(nullptr); }},
      {"MXProfileDurationStop", [] { return MXProfileDurationStop(nullptr); }},
      {"MXProfileSetCounter", [] { return MXProfileSetCounter(nullptr, 1); }},
      {"MXProfileAdjustCounter", [] { return MXProfileAdjustCounter(nullptr, 1); }},
      {"MXProfileSetMarker", [] { return MXProfileSetMarker(nullptr, "m", "process"); }},
      {"MXProfileSetMarker", [] { return MXProfileSetMarker(domain(), nullptr, "process"); }},
      {"MXProfileSetMarker", [] { return MXProfileSetMarker(domain(), "m", nullptr); }},
      {"MXProfileSetMarker", [] { return MXProfileSetMarker(domain(), "m", "zz"); }},
  };
}

// SPDX-License-Identifier: Apache-2.0
// The profiler for C programs: configuration, state, dumps and tables. Its own calls are not in its
// traces.
#include "profiler/profiler.h"

#include <fmt/format.h>

#include "c_api/guard.h"
#include "mxnet/c_api.h"
#include "op/inline_vector.h"
#include "storage/storage.h"

using namespace mxnet;
using c_api::for_each_text;
using c_api::require;
using c_api::unobserved;
using profiler::Profiler;

namespace {

constexpr int kWorker = 0, kServer = 1;

// A number of the ABI as an enumerator of `last` + 1 ones; `meaning` as in "expected ...".
template <class Enum>
Enum checked(const char* function, const char* parameter, int value, Enum last,
             const char* meaning) {
  if (value < 0 || value > static_cast<int>(last)) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given {} = {}, expected {}", parameter, value, meaning));
  }
  return static_cast<Enum>(value);
}

// Each process of a job writes a trace of its own; none is started from another.
[[noreturn]] void reject_servers(const char* function, KVStoreHandle store) {
  require(store, function, "the handle of a distributed kvstore, to profile its servers");
  throw Error(
      ErrorCode::kNotImplemented, function,
      "given the servers of a kvstore (1), expected the worker (0): another process of the job is "
      "profiled by MXNET_PROFILER_AUTOSTART=1 in its environment");
}

// The worker needs no store: front ends hand over that of a store which they have freed long ago.
void check_process(const char* function, int profile_process, KVStoreHandle store) {
  if (checked(function, "profile_process", profile_process, kServer, "0 (worker) or 1 (server)") !=
      kWorker)
    reject_servers(function, store);
}

void configure(const char* function, int count, const char* const* keys, const char* const* values,
               KVStoreHandle store) {
  InlineVector<profiler::KeyValue, 12> texts;
  for_each_text(function, count, keys, values,
                [&](const char* key, const char* value) { texts.emplace_back(key, value); });
  const profiler::Settings settings = profiler::parse_settings(function, texts.span());
  if (settings.server) reject_servers(function, store);
  Profiler::get().configure(settings);
}

// Events of memory are changes: what they are added to is asked for when they begin. GPUs count
// from there: asking would load their driver.
void begin_memory_counts() {
  for (const Device device : {Device::cpu(), Device::cpu_shared()}) {
    Profiler::get().recorder().set_memory_in_use(
        device, static_cast<int64_t>(Storage::get().stats(device).in_use));
  }
}

void set_state(const char* function, int state) {
  if (checked(function, "state", state, 1, "0 (stop) or 1 (run)") == 0)
    return Profiler::get().stop();
  begin_memory_counts();
  Profiler::get().run();
}

void pause(int paused) {
  if (paused == 0) begin_memory_counts();
  Profiler::get().pause(paused != 0);
}

void print(const char* function, const char** out, int reset,
           const profiler::ReportOptions& options) {
  require(out, function, "out_str");
  *out = c_api::keep_for_caller(Profiler::get().aggregate(options, reset != 0));
}

}  // namespace

int MXSetProfilerConfig(int num_params, const char* const* keys, const char* const* vals) {
  return unobserved([&] { configure("MXSetProfilerConfig", num_params, keys, vals, nullptr); });
}

int MXSetProcessProfilerConfig(int num_params, const char* const* keys, const char* const* vals,
                               KVStoreHandle kvstoreHandle) {
  return unobserved(
      [&] { configure("MXSetProcessProfilerConfig", num_params, keys, vals, kvstoreHandle); });
}

int MXSetProfilerState(int state) {
  return unobserved([&] { set_state("MXSetProfilerState", state); });
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreHandle) {
  return unobserved([&] {
    check_process("MXSetProcessProfilerState", profile_process, kvStoreHandle);
    set_state("MXSetProcessProfilerState", state);
  });
}

int MXDumpProfile(int finished) {
  return unobserved([&] { Profiler::get().dump(finished != 0); });
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle) {
  return unobserved([&] {
    check_process("MXDumpProcessProfile", profile_process, kvStoreHandle);
    Profiler::get().dump(finished != 0);
  });
}

int MXProfilePause(int paused) {
  return unobserved([&] { pause(paused); });
}

int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle) {
  return unobserved([&] {
    check_process("MXProcessProfilePause", profile_process, kvStoreHandle);
    pause(paused);
  });
}

int MXAggregateProfileStatsPrint(const char** out_str, int reset) {
  return unobserved([&] { print("MXAggregateProfileStatsPrint", out_str, reset, {}); });
}

int MXAggregateProfileStatsPrintEx(const char** out_str, int reset, int format, int sort_by,
                                   int ascending) {
  return unobserved([&] {
    const char* const function = "MXAggregateProfileStatsPrintEx";
    const profiler::ReportOptions options{
        .format = checked(function, "format", format, profiler::ReportFormat::kJson,
                          "0 (table) or 1 (json)"),
        .sort_by = checked(function, "sort_by", sort_by, profiler::SortBy::kCount,
                           "0 (total), 1 (avg), 2 (min), 3 (max) or 4 (count)"),
        .ascending = ascending != 0};
    print(function, out_str, reset, options);
  });
}

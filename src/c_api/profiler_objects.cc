// SPDX-License-Identifier: Apache-2.0
// Handles of what programs mark in their traces: domains, tasks, frames, events, counters, markers.
#include <fmt/format.h>

#include <memory>
#include <variant>

#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "mxnet/c_api.h"
#include "profiler/user_objects.h"

using namespace mxnet;
using namespace mxnet::profiler;
using c_api::require;
using c_api::unobserved;

namespace {

// One kind of handle, because MXProfileDestroyHandle takes all of them.
using Object =
    std::variant<std::unique_ptr<Domain>, std::unique_ptr<Duration>, std::unique_ptr<Counter>>;

c_api::HandlePool<Object>& pool() {
  static constinit c_api::HandlePool<Object> handles("profiler");
  return handles;
}

template <class T>
constexpr const char* kExpected = nullptr;
template <>
constexpr const char* kExpected<Domain> = "a domain";
template <>
constexpr const char* kExpected<Duration> = "a task, a frame or an event";
template <>
constexpr const char* kExpected<Counter> = "a counter";

template <class T>
T& object(ProfileHandle handle, const char* function) {
  auto* found = std::get_if<std::unique_ptr<T>>(&pool().get(handle, function));
  if (found == nullptr) {
    throw Error(ErrorCode::kValue, function,
                fmt::format("given another object of the profiler, expected {}", kExpected<T>));
  }
  return **found;
}

template <class T>
ProfileHandle new_handle(std::unique_ptr<T> object) {
  return pool().create(Object(std::move(object)));
}

void create_duration(const char* function, EventKind kind, ProfileHandle domain, const char* name,
                     ProfileHandle* out) {
  const Domain* const group =
      kind == EventKind::kUserEvent ? nullptr : &object<Domain>(domain, function);
  require(name, function, "a name");
  require(out, function, "out");
  *out = new_handle(std::make_unique<Duration>(Profiler::get(), kind, group, name));
}

// What a marker's scope is called, and its letter in a trace.
char scope_letter(const char* function, std::string_view scope) {
  static constexpr std::pair<std::string_view, char> kScopes[] = {
      {"global", 'g'}, {"process", 'p'}, {"thread", 't'}, {"task", 't'}, {"marker", 't'}};
  for (const auto& [name, letter] : kScopes)
    if (name == scope) return letter;
  throw Error(
      ErrorCode::kValue, function,
      fmt::format("given scope '{}', expected global, process, thread, task or marker", scope));
}

}  // namespace

int MXProfileCreateDomain(const char* domain, ProfileHandle* out) {
  return unobserved([&] {
    require(domain, "MXProfileCreateDomain", "domain");
    require(out, "MXProfileCreateDomain", "out");
    *out = new_handle(std::make_unique<Domain>(domain));
  });
}

int MXProfileCreateTask(ProfileHandle domain, const char* task_name, ProfileHandle* out) {
  return unobserved(
      [&] { create_duration("MXProfileCreateTask", EventKind::kTask, domain, task_name, out); });
}

int MXProfileCreateFrame(ProfileHandle domain, const char* frame_name, ProfileHandle* out) {
  return unobserved(
      [&] { create_duration("MXProfileCreateFrame", EventKind::kFrame, domain, frame_name, out); });
}

int MXProfileCreateEvent(const char* event_name, ProfileHandle* out) {
  return unobserved([&] {
    create_duration("MXProfileCreateEvent", EventKind::kUserEvent, nullptr, event_name, out);
  });
}

int MXProfileCreateCounter(ProfileHandle domain, const char* counter_name, ProfileHandle* out) {
  return unobserved([&] {
    const Domain& group = object<Domain>(domain, "MXProfileCreateCounter");
    require(counter_name, "MXProfileCreateCounter", "counter_name");
    require(out, "MXProfileCreateCounter", "out");
    *out = new_handle(std::make_unique<Counter>(Profiler::get(), group, counter_name));
  });
}

int MXProfileDestroyHandle(ProfileHandle frame_handle) {
  return unobserved([&] { pool().destroy(frame_handle, "MXProfileDestroyHandle"); });
}

int MXProfileDurationStart(ProfileHandle duration_handle) {
  return unobserved([&] { object<Duration>(duration_handle, "MXProfileDurationStart").start(); });
}

int MXProfileDurationStop(ProfileHandle duration_handle) {
  return unobserved([&] { object<Duration>(duration_handle, "MXProfileDurationStop").stop(); });
}

int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value) {
  return unobserved([&] {
    object<Counter>(counter_handle, "MXProfileSetCounter").set(static_cast<int64_t>(value));
  });
}

int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value) {
  return unobserved(
      [&] { object<Counter>(counter_handle, "MXProfileAdjustCounter").adjust(value); });
}

int MXProfileSetMarker(ProfileHandle domain, const char* instant_marker_name, const char* scope) {
  return unobserved([&] {
    const char* const function = "MXProfileSetMarker";
    const Domain& group = object<Domain>(domain, function);
    require(instant_marker_name, function, "instant_marker_name");
    require(scope, function, "scope");
    set_marker(Profiler::get(), group, instant_marker_name, scope_letter(function, scope));
  });
}

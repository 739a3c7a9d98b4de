// SPDX-License-Identifier: Apache-2.0
// Which phase of the trace format stands for which kind of event, and the text of each.
#include "profiler/trace_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace mxnet::profiler {
namespace {

constexpr const char* kCCallCategory = "MXNET_C_API";

// By way of a string: fmt::format_to would compile half of fmt here, and is slower.
template <class... Args>
void append_format(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  out += fmt::format(format, std::forward<Args>(args)...);
}

// Begin and end. Threads' own spans nest and are B and E; what may overlap is b and e with an id.
std::pair<char, char> phases(EventKind kind) {
  switch (kind) {
    case EventKind::kOperator:
    case EventKind::kSegment:
      return {'B', 'E'};
    case EventKind::kMemory:
    case EventKind::kCounter:
      return {'C', 0};
    case EventKind::kMarker:
      return {'i', 0};
    case EventKind::kAsync:
    case EventKind::kCCall:
    case EventKind::kTask:
    case EventKind::kFrame:
    case EventKind::kUserEvent:
      return {'b', 'e'};
  }
  return {'i', 0};
}

// May overlap others of its thread.
bool is_async(EventKind kind) { return phases(kind).first == 'b' && kind != EventKind::kCCall; }

// Length of the UTF-8 sequence at `at`, 0 if there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  if (length < 3) return length;
  // Overlong forms, surrogates, and what lies above the last code point.
  const unsigned char second = byte(at + 1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text, i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append_format(out, "\\u{:04x}", static_cast<unsigned>(c));
    } else if (length == 0) {
      out += '?';
    } else {
      out.append(text, i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  out += '"';
}

std::string device_label(Device device) {
  switch (device.type) {
    case DeviceType::kCPUPinned:
      return "cpu pinned/0";
    case DeviceType::kCPUShared:
      return "cpu shared/0";
    case DeviceType::kGPU:
      return fmt::format("gpu/{}", device.id);
    default:
      return "cpu/0";
  }
}

std::string category_of(EventKind kind, const char* domain) {
  switch (kind) {
    case EventKind::kOperator:
    case EventKind::kAsync:
      return "operator";
    case EventKind::kSegment:
      return "segment";
    case EventKind::kCCall:
      return kCCallCategory;
    case EventKind::kMemory:
      return "Device Storage";
    case EventKind::kUserEvent:
      return "event";
    case EventKind::kFrame:
      return fmt::format("{},frame", domain);
    case EventKind::kMarker:
      return fmt::format("{},instant_marker", domain);
    case EventKind::kTask:
    case EventKind::kCounter:
      return domain;
  }
  return "";
}

int TraceText::process(std::string& out, const std::string& name) {
  const auto [it, is_new] = processes_.emplace(name, static_cast<int>(processes_.size()));
  if (is_new) {
    append_format(
        out,
        ",\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":", it->second);
    append_quoted(out, name);
    out += "}}";
  }
  return it->second;
}

void TraceText::introduce_thread(std::string& out, int process, uint32_t thread) {
  if (!introduced_.emplace(process, thread).second) return;
  const auto name = thread_names_.find(thread);
  if (name == thread_names_.end() || name->second.empty()) return;
  append_format(
      out, ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":",
      process, thread);
  append_quoted(out, name->second);
  out += "}}";
}

void TraceText::append(std::string& out, const std::vector<Event>& events,
                       const std::vector<Recorder::ThreadName>& names, const TickScale& scale) {
  for (const Recorder::ThreadName& name : names) thread_names_[name.thread] = name.name;
  std::vector<Point> points;
  points.reserve(events.size() * 2);
  async_of_.assign(events.size(), 0);
  uint64_t last = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const auto at = static_cast<uint32_t>(i);
    points.push_back({scale.nanoseconds(event.start), at, false});
    if (has_duration(event.kind))
      points.push_back({scale.nanoseconds(event.start + event.value), at, true});
    if (is_async(event.kind)) async_of_[i] = ++async_ids_;
    if (event.kind == EventKind::kCCall) ++c_calls_;
    last = std::max(last, points.back().ns);
  }
  // Stable: a begin stays before its end where both have one time.
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.ns < b.ns; });
  out.reserve(out.size() + points.size() * 120);
  for (const Point& point : points) append_point(out, events[point.event], point);
  if (c_calls_ == 0 || events.empty()) return;
  const int calls = process(out, kCCallCategory);
  append_format(out,
                ",\n{{\"name\":\"MXNet C API Calls\",\"cat\":\"{}\",\"ph\":\"C\",\"ts\":{}.{:03},"
                "\"pid\":{},\"tid\":0,\"args\":{{\"MXNet C API Calls\":{}}}}}",
                kCCallCategory, last / 1000, last % 1000, calls, c_calls_);
}

void TraceText::append_point(std::string& out, const Event& event, const Point& point) {
  const std::string category = category_of(event.kind, event.domain);
  const bool on_device = event.kind == EventKind::kOperator || event.kind == EventKind::kSegment ||
                         event.kind == EventKind::kAsync;
  const int pid = process(out, on_device ? device_label(event.device) : category);
  introduce_thread(out, pid, event.thread);
  const std::string memory_name =
      event.kind == EventKind::kMemory ? "Memory: " + device_label(event.device) : "";
  const std::string_view name = memory_name.empty() ? std::string_view(event.name) : memory_name;
  const auto [begin, end] = phases(event.kind);

  out += ",\n{\"name\":";
  append_quoted(out, name);
  out += ",\"cat\":";
  append_quoted(out, category);
  append_format(out, ",\"ph\":\"{}\",\"ts\":{}.{:03},\"pid\":{},\"tid\":{}",
                point.end ? end : begin, point.ns / 1000, point.ns % 1000, pid, event.thread);
  if (begin == 'b') {
    // The calls of one thread nest; what else is asynchronous has an id of its own.
    const uint64_t id = event.kind == EventKind::kCCall ? event.thread : async_of_[point.event];
    append_format(out, ",\"id\":{}", id);
  } else if (begin == 'i') {
    append_format(out, ",\"s\":\"{}\"", static_cast<char>(event.value));
  } else if (begin == 'C') {
    out += ",\"args\":{";
    append_quoted(out, name);
    append_format(out, ":{}}}", static_cast<int64_t>(event.value));
  }
  out += '}';
}

}  // namespace mxnet::profiler
